package rangedbody_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stepback/aws/rangedbody"
)

// refused is a response with an error status.
type refused int

func (r refused) Error() string       { return fmt.Sprint("status ", int(r)) }
func (r refused) HTTPStatusCode() int { return int(r) }

// breaking is a body that ends with an error after some bytes.
type breaking struct {
	io.Reader
	err error
}

func (b *breaking) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = b.err
	}
	return n, err
}

func (b *breaking) Close() error { return nil }

// server serves ranges of one object.
type server struct {
	content []byte
	etag    string
	// after returns the number of bytes after which the body of a response breaks, and the error; a number of -1 sends
	// it whole.
	after  func(length int) (int, error)
	fails  []error // errors of the next requests
	ranges []string
}

func (s *server) open(_ context.Context, byteRange, etag string) (*rangedbody.Part, error) {
	s.ranges = append(s.ranges, byteRange)
	if len(s.fails) > 0 {
		err := s.fails[0]
		s.fails = s.fails[1:]
		return nil, err
	}
	if etag != "" && etag != s.etag {
		return nil, refused(http.StatusPreconditionFailed)
	}
	part := &rangedbody.Part{ETag: s.etag}
	from, to := 0, len(s.content)-1
	if byteRange != "" {
		if _, err := fmt.Sscanf(byteRange, "bytes=%d-%d", &from, &to); err != nil {
			return nil, err
		}
		part.ContentRange = fmt.Sprintf("bytes %d-%d/%d", from, to, len(s.content))
	}
	rest := s.content[from : to+1]
	part.Size = int64(len(rest))
	n, err := s.after(len(rest))
	if n < 0 {
		n, err = len(rest), io.EOF
	}
	part.Body = &breaking{bytes.NewReader(rest[:n]), err}
	return part, nil
}

func (s *server) read(t *testing.T, byteRange string) (string, error) {
	t.Helper()
	first, err := s.open(t.Context(), byteRange, "")
	if err != nil {
		t.Fatal(err)
	}
	body := rangedbody.New(t.Context(), first, s.open)
	defer body.Close()
	text, err := io.ReadAll(body)
	return string(text), err
}

func whole(int) (int, error) { return -1, nil }

// once breaks the first response after four bytes.
func once() func(int) (int, error) {
	n := 4
	return func(int) (int, error) {
		at := n
		n = -1
		return at, syscall.ECONNRESET
	}
}

// TestBreaksAtDrawnOffsets reads objects, and ranges of them, over connections that break at drawn offsets in all the
// ways in which they can: with a reset, in the middle without an error, and before the first byte.
func TestBreaksAtDrawnOffsets(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		synctest.Test(t, func(t *testing.T) {
			draw := rand.New(rand.NewPCG(seed, 28))
			s := &server{etag: `"e"`, content: make([]byte, 1+draw.IntN(3000))}
			for i := range s.content {
				s.content[i] = byte(draw.IntN(256))
			}
			breaks := draw.IntN(40)
			empty := 0
			s.after = func(length int) (int, error) {
				if breaks--; breaks < 0 || length == 1 {
					return -1, nil
				}
				n := 1 + draw.IntN(length-1)
				if draw.IntN(4) == 0 && empty < 3 {
					empty++
					n = 0
				}
				return n, []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET}[draw.IntN(3)]
			}
			byteRange, want := "", string(s.content)
			if draw.IntN(2) == 0 {
				from := draw.IntN(len(s.content))
				to := from + draw.IntN(len(s.content)-from)
				byteRange, want = fmt.Sprintf("bytes=%d-%d", from, to), string(s.content[from:to+1])
			}
			if got, err := s.read(t, byteRange); got != want || err != nil {
				t.Fatalf("seed %d: %d bytes, %v; want %d", seed, len(got), err, len(want))
			}
		})
	}
}

func TestRangesThatAreRequested(t *testing.T) {
	t.Parallel()
	for byteRange, want := range map[string]string{
		"":          "0123456789 |bytes=4-9",
		"bytes=2-8": "2345678 bytes=2-8|bytes=6-8",
	} {
		s := &server{etag: `"e"`, content: []byte("0123456789"), after: once()}
		got, err := s.read(t, byteRange)
		if got += " " + strings.Join(s.ranges, "|"); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", byteRange, got, err, want)
		}
	}
}

func TestAnObjectThatChanges(t *testing.T) {
	t.Parallel()
	for name, ignores := range map[string]bool{"refused": false, "a server that ignores If-Match": true} {
		s := &server{etag: `"e"`, content: []byte("0123456789"), after: once()}
		first, err := s.open(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		s.etag = `"f"`
		body := rangedbody.New(t.Context(), first, func(ctx context.Context, byteRange, etag string) (*rangedbody.Part,
			error) {
			if ignores {
				etag = ""
			}
			return s.open(ctx, byteRange, etag)
		})
		text, err := io.ReadAll(body)
		var changed *rangedbody.ChangedError
		if string(text) != "0123" || !errors.As(err, &changed) || changed.Offset != 4 || changed.ETag != `"e"` ||
			changed.ErrorCode() != "PreconditionFailed" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if _, err := body.Read(make([]byte, 1)); !errors.As(err, &changed) {
			t.Errorf("%s: the error was not kept: %v", name, err)
		}
	}
}

// TestOutages reads on after an outage of the server, for as long as the waits last.
func TestOutages(t *testing.T) {
	t.Parallel()
	const down, gone = refused(http.StatusServiceUnavailable), refused(http.StatusNotFound)
	for name, c := range map[string]struct {
		fails    []error
		requests int
		want     error
	}{
		"back in time":  {[]error{syscall.ECONNREFUSED, down, refused(429), down, down, down}, 8, nil},
		"too long":      {[]error{down, down, down, down, down, down, syscall.ECONNREFUSED}, 8, syscall.ECONNREFUSED},
		"deleted since": {[]error{down, gone}, 3, gone},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{etag: `"e"`, content: []byte("0123456789"), after: once()}
			first, err := s.open(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			s.fails = c.fails
			begun := time.Now()
			text, err := io.ReadAll(rangedbody.New(t.Context(), first, s.open))
			want := "0123456789"
			if c.want != nil {
				want = "0123"
			}
			if string(text) != want || !errors.Is(err, c.want) || len(s.ranges) != c.requests {
				t.Errorf("%s: %q, %v after %d requests", name, text, err, len(s.ranges))
			}
			if took := time.Since(begun); took > 16*time.Second {
				t.Errorf("%s: gave up after %v", name, took)
			}
		})
	}
}

func TestTheContextEndsAWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s := &server{etag: `"e"`, content: []byte("0123456789"), after: once()}
		first, err := s.open(ctx, "", "")
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			s.fails = append(s.fails, syscall.ECONNREFUSED)
		}
		if _, err := io.ReadAll(rangedbody.New(ctx, first, s.open)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// TestWhatIsNotResumed returns the errors that a further request would not remove.
func TestWhatIsNotResumed(t *testing.T) {
	t.Parallel()
	checksum := errors.New("checksum did not match")
	s := &server{etag: `"e"`, content: []byte("0123456789"), after: func(n int) (int, error) { return n, checksum }}
	if text, err := s.read(t, ""); text != "0123456789" || !errors.Is(err, checksum) || len(s.ranges) != 1 {
		t.Errorf("a wrong checksum: %q, %v, %d requests", text, err, len(s.ranges))
	}
	s = &server{content: []byte("0123456789"), after: once()}
	if text, err := s.read(t, ""); text != "0123" || !errors.Is(err, syscall.ECONNRESET) || len(s.ranges) != 1 {
		t.Errorf("without an ETag: %q, %v, %d requests", text, err, len(s.ranges))
	}
	s = &server{etag: `"e"`, content: []byte("0123456789"), after: once()}
	first, err := s.open(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(rangedbody.New(t.Context(), first, func(ctx context.Context, _,
		etag string) (*rangedbody.Part, error) {
		return s.open(ctx, "", etag)
	}))
	if string(text) != "0123" || !errors.Is(err, syscall.ECONNRESET) ||
		!strings.HasSuffix(err.Error(), "the server does not send parts of objects") {
		t.Errorf("a server that ignores Range: %q, %v", text, err)
	}
	s = &server{etag: `"e"`, content: nil, after: whole}
	if text, err := s.read(t, ""); text != "" || err != nil || len(s.ranges) != 1 {
		t.Errorf("an empty object: %q, %v, %d requests", text, err, len(s.ranges))
	}
}
