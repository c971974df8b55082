package server

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A body that does not arrive in time, or is declared longer than allowed, is refused and its connection closed.
func TestClientsThatStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		length, body string
		patience     time.Duration
		status       int
		want         string
	}{
		"slow body": {"20", `{"name"`, time.Millisecond, 408,
			`{"__type":"RequestTimeoutException","message":"The body of the request did not come in time."}`},
		"a length over limit": {"1048577", ``, time.Hour, 413,
			`{"__type":"RequestEntityTooLargeException","message":"Request size exceeded 1048576 bytes"}`},
		"the whole body": {"12", `{"name":"a"}`, time.Hour, 200,
			`{"text":"a<000000000000,us-east-1","at":1700000000.005}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(serve(t, Config{Operations: greetings, Patience: c.patience}))
			defer server.Close()
			d := net.Dialer{}
			client, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(server.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			if _, err := io.WriteString(client,
				"POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-amz-json-1.0\r\n"+
					"X-Amz-Target: Greeter.Greet\r\nContent-Length: "+c.length+"\r\n\r\n"+c.body); err != nil {
				t.Fatal(err)
			}
			a, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.Body.Close() }()
			body, err := io.ReadAll(a.Body)
			if err != nil || a.StatusCode != c.status || string(body) != c.want || a.Close != (c.status != 200) {
				t.Errorf("%d %s close=%v %v, want %d %s", a.StatusCode, body, a.Close, err, c.status, c.want)
			}
		})
	}
}

// Compressed bodies are read within the limits for the compressed and the uncompressed size.
func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	zipped := func(text string) string {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		_, err := z.Write([]byte(text))
		if err := errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"a body":  {zipped(`{"name":"a"}`), 200, `{"text":"a<000000000000,us-east-1","at":1700000000.005}`},
		"a bomb":  {zipped(strings.Repeat(" ", 4<<20)), 413, "Request size exceeded 1048576 bytes"},
		"cut off": {zipped(`{"name":"a"}`)[:20], 400, "not compressed as Content-Encoding says"},
	} {
		w := httptest.NewRecorder()
		serve(t, Config{Operations: greetings}).ServeHTTP(w, asked("POST", "/", c.body, "Content-Encoding", "gzip",
			"Content-Type", "application/x-amz-json-1.0", "X-Amz-Target", "Greeter.Greet"))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
