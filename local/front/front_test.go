package front

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// listen serves f on a TCP port until the test ends, and returns the address.
func listen(t *testing.T, f *Front) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	start(t, f, l)
	return l.Addr().String()
}

func start(t *testing.T, f *Front, l net.Listener) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestServersThatStop stops servers during a long poll: it returns that nothing has arrived, or is given up.
func TestServersThatStop(t *testing.T) {
	t.Parallel()
	for want, grace := range map[string]time.Duration{"nothing came": time.Hour, "given up": time.Millisecond} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			nothing := make(chan struct{})
			f := Front{
				Grace: grace,
				Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					stop()
					select {
					case <-nothing:
						_, _ = io.WriteString(w, "nothing came")
					case <-r.Context().Done():
						_, _ = io.WriteString(w, "given up")
					}
				}),
				StopWaiting: func() {
					if want == "nothing came" {
						close(nothing)
					}
				},
			}
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- f.Serve(ctx, l) }()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String(), nil)
			if err != nil {
				t.Fatal(err)
			}
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.Body.Close() }()
			if got, err := io.ReadAll(a.Body); err != nil || string(got) != want {
				t.Errorf("%s %v", got, err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAnUnreadResponseIsNotIdle leaves a response unread for several times the idle time, and then reads all of it.
func TestAnUnreadResponseIsNotIdle(t *testing.T) {
	t.Parallel()
	if unsentIsUnknown {
		t.Skip("this system does not report how much of a response is unread")
	}
	const size = 150_000
	kept := make(chan struct{}, 5)
	address := listen(t, &Front{
		idle: time.Millisecond, kept: func() {
			select {
			case kept <- struct{}{}:
			default:
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(size))
			_, _ = w.Write(make([]byte, size)) // the client reads it
		}),
	})
	c := dial(t, address)
	if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		<-kept
	}
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if n, err := io.Copy(io.Discard, a.Body); n != size || err != nil {
		t.Errorf("read %d bytes of %d, %v", n, size, err)
	}
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the idle connection was not closed: %d bytes, %v", n, err)
	}
}

// TestAnUnreadResponseIsGivenUp closes a connection whose client reads nothing for the time allowed.
func TestAnUnreadResponseIsGivenUp(t *testing.T) {
	t.Parallel()
	c := &conn{listener: &listener{unread: time.Hour}, last: 10, since: time.Now().Add(-time.Hour)}
	if c.keep(10) {
		t.Error("kept although nothing was read for an hour")
	}
	for i, want := range []bool{true, true, true, false} {
		if unread := []int{9, 9, 0, 0}[i]; c.keep(unread) != want {
			t.Errorf("%d, with %d bytes unread: kept %t", i, unread, !want)
		}
	}
}

// TestAClientThatReadsNothing ends a response of 64 MiB that the client does not read, however it is written.
func TestAClientThatReadsNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, make([]byte, 64<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	address := listen(t, &Front{unread: 50 * time.Millisecond, Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		f, err := os.Open(file)
		if err == nil {
			defer f.Close()
			var to io.Writer = w
			if r.URL.Path == "/copied" {
				to = struct{ io.Writer }{w} // without ReadFrom
			}
			_, err = io.Copy(to, f)
		}
		ended <- err
	})})
	for _, path := range []string{"/copied", "/sent"} {
		if _, err := io.WriteString(dial(t, address), "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestFilesAreSentWhole sends files of several parts, and ranges of them.
func TestFilesAreSentWhole(t *testing.T) {
	t.Parallel()
	content := make([]byte, 3*part+17)
	for i := range content {
		content[i] = byte(i * 7 >> 3)
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	address := listen(t, &Front{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			_, _ = io.Copy(w, bytes.NewReader(content)) // the client compares
			return
		}
		http.ServeFile(w, r, file)
	})})
	for byteRange, want := range map[string][]byte{"": content, "bytes=5-2097160": content[5:2097161], "bytes=-3": content[len(content)-3:]} {
		for _, path := range []string{"/file", "/stream"} {
			if path == "/stream" && byteRange != "" {
				continue
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Range", byteRange)
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(a.Body)
			_ = a.Body.Close()
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s %s: %d bytes, %v, want %d", path, byteRange, len(got), err, len(want))
			}
		}
	}
}

// exchange sends requests over one connection and returns the responses as they are on the wire, without Date.
func exchange(t *testing.T, address, requests string) string {
	t.Helper()
	c := dial(t, address)
	if _, err := io.WriteString(c, requests); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.SplitSeq(string(text), "\r\n") {
		if !strings.HasPrefix(line, "Date: ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "|")
}

// TestRequestsOnOneConnection sends every form of request that SDKs send, followed by a second request on the same
// connection: the responses are in order, or the first says that the connection ends.
func TestRequestsOnOneConnection(t *testing.T) {
	t.Parallel()
	address := listen(t, &Front{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = fmt.Fprintf(w, "%s %d %s", r.URL.Path, len(body), r.Trailer.Get("X-Amz-Checksum-Crc32"))
	})})
	const (
		second   = "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"
		answered = "HTTP/1.1 200 OK|Content-Length: 10|Content-Type: text/plain; charset=utf-8||/second 0 "
		go100    = "HTTP/1.1 100 Continue||"
		refused  = "HTTP/1.1 403 Forbidden|Content-Length: 0||"
		ended    = "HTTP/1.1 403 Forbidden|Content-Length: 0|Connection: close||"
		first    = "HTTP/1.1 200 OK|Content-Length: %d|Content-Type: text/plain; charset=utf-8||/k %s"
	)
	large := strings.Repeat("x", 300_000)
	for name, c := range map[string]struct{ request, want string }{
		"empty, expecting": {"PUT /k HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n",
			go100 + fmt.Sprintf(first, 5, "0 ") + answered},
		"without a body, expecting": {"PUT /k HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\n\r\n",
			go100 + fmt.Sprintf(first, 5, "0 ") + answered},
		"empty, not expecting": {"PUT /k HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
			fmt.Sprintf(first, 5, "0 ") + answered},
		"expecting": {"PUT /k HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
			go100 + fmt.Sprintf(first, 5, "3 ") + answered},
		"expecting, in chunks": {"PUT /k HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
			go100 + fmt.Sprintf(first, 5, "3 ") + answered},
		"chunks with a trailer": {"PUT /k HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: x-amz-checksum-crc32\r\n\r\n" +
			"3\r\nabc\r\n0\r\nx-amz-checksum-crc32: NSRBwg==\r\n\r\n", fmt.Sprintf(first, 13, "3 NSRBwg==") + answered},
		"refused, empty and expecting": {"PUT /refused HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n",
			go100 + refused + answered},
		"refused, expecting":          {"PUT /refused HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", ended},
		"refused, expecting chunks":   {"PUT /refused HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n", ended},
		"refused, with a small body":  {"PUT /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", refused + answered},
		"refused, with a large body":  {"PUT /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n" + large, ended},
		"refused, with small chunks":  {"PUT /refused HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", refused + answered},
		"refused, with a large chunk": {"PUT /refused HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n493e0\r\n" + large + "\r\n0\r\n\r\n", ended},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := exchange(t, address, c.request+second); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// pipes is a listener of connections within the process, which follow the clock of a synctest bubble.
type pipes struct {
	made chan net.Conn
	once sync.Once
	over chan struct{}
}

func newPipes() *pipes { return &pipes{made: make(chan net.Conn), over: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.over) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.made <- server
	return client
}

// upload sends a body of size bytes, n bytes every pause, and returns the response and how long it took to come.
func upload(t *testing.T, p *pipes, path string, size, n int, pause time.Duration) (string, time.Duration) {
	t.Helper()
	c, over, begun := p.dial(), make(chan struct{}), time.Now()
	var sender sync.WaitGroup
	defer func() {
		close(over)
		_ = c.Close()
		sender.Wait()
	}()
	sender.Go(func() {
		_, err := fmt.Fprintf(c, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", path, size)
		for sent := 0; err == nil && sent < size; sent += n {
			select {
			case <-time.After(pause): //nolint:forbidigo // virtual time
				_, err = c.Write(make([]byte, min(n, size-sent)))
			case <-over:
				return
			}
		}
	})
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err.Error(), time.Since(begun)
	}
	defer a.Body.Close()
	if a.Close {
		a.Status += ", close"
	}
	return a.Status, time.Since(begun)
}

// receiving reads bodies. The handler of /paused waits for ten minutes in the middle of each; /refused reads nothing.
func receiving(open *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open.Add(1)
		defer open.Add(-1)
		switch r.URL.Path {
		case "/refused":
			w.WriteHeader(http.StatusForbidden)
			return
		case "/paused":
			if _, err := io.ReadFull(r.Body, make([]byte, 10)); err != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
			time.Sleep(10 * time.Minute) //nolint:forbidigo // virtual time
		}
		_, err := io.Copy(io.Discard, r.Body)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			w.WriteHeader(http.StatusRequestTimeout)
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		}
	})
}

func TestSlowBodies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path    string
		size, n int
		pause   time.Duration
		want    string
		took    time.Duration
	}{
		"a byte every five seconds":     {"/", 1000, 1, 5 * time.Second, "408 Request Timeout, close", 20 * time.Second},
		"nothing":                       {"/", 1000, 1000, time.Hour, "408 Request Timeout, close", 20 * time.Second},
		"a fast beginning and no end":   {"/", 1 << 30, 1 << 20, time.Hour, "408 Request Timeout, close", 20 * time.Second},
		"an hour at 2 KiB a second":     {"/", 7200 << 10, 2 << 10, time.Second, "200 OK", time.Hour},
		"pauses of 19 s":                {"/", 10 << 20, 1 << 20, 19 * time.Second, "200 OK", 190 * time.Second},
		"a handler that pauses":         {"/paused", 1 << 10, 1 << 10, time.Second, "200 OK", time.Second + 10*time.Minute},
		"a slow body that is refused":   {"/refused", 1000, 1, 5 * time.Second, "403 Forbidden, close", 5 * time.Second},
		"a refused body, arriving soon": {"/refused", 1000, 1000, time.Second, "403 Forbidden", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, open := newPipes(), new(atomic.Int64)
				start(t, &Front{Handler: receiving(open)}, p)
				got, took := upload(t, p, c.path, c.size, c.n, c.pause)
				if got != c.want || took != c.took {
					t.Errorf("%s after %v, want %s after %v", got, took, c.want, c.took)
				}
			})
		})
	}
}

// TestManySlowBodies uploads at 2 KiB per second over 100 connections: 64 of them may, and a fast upload is not
// affected.
func TestManySlowBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, open := newPipes(), new(atomic.Int64)
		start(t, &Front{Handler: receiving(open)}, p)
		var mu sync.Mutex
		counts := map[string]int{}
		var clients sync.WaitGroup
		for range 100 {
			clients.Go(func() {
				got, took := upload(t, p, "/", 100<<10, 2<<10, time.Second)
				mu.Lock()
				counts[fmt.Sprint(got, " ", took)]++
				mu.Unlock()
			})
		}
		time.Sleep(21 * time.Second) //nolint:forbidigo // virtual time
		if n := open.Load(); n != 64 {
			t.Errorf("%d slow bodies after 21 s, want 64", n)
		}
		if got, took := upload(t, p, "/", 10<<20, 1<<20, time.Second); got != "200 OK" || took != 10*time.Second {
			t.Errorf("a fast upload: %s after %v", got, took)
		}
		clients.Wait()
		if counts["200 OK 50s"] != 64 || counts["408 Request Timeout, close 20s"] != 36 {
			t.Errorf("%v", counts)
		}
		for range 64 { // their places are free again
			clients.Go(func() {
				if got, _ := upload(t, p, "/", 100<<10, 2<<10, time.Second); got != "200 OK" {
					t.Error(got)
				}
			})
		}
		clients.Wait()
	})
}

// TestADeadlineEndsWithItsBody sends two bodies on one connection, far apart.
func TestADeadlineEndsWithItsBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, open := newPipes(), new(atomic.Int64)
		start(t, &Front{Handler: receiving(open)}, p)
		c := p.dial()
		defer c.Close()
		r := bufio.NewReader(c)
		for range 3 {
			if _, err := io.WriteString(c, "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nwhole"); err != nil {
				t.Fatal(err)
			}
			a, err := http.ReadResponse(r, nil)
			if err != nil || a.StatusCode != http.StatusOK {
				t.Fatalf("%v, %v", a, err)
			}
			_ = a.Body.Close()
			time.Sleep(time.Minute) //nolint:forbidigo // virtual time
		}
	})
}
