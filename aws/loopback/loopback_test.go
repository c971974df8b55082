package loopback_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"stepback/aws/loopback"
)

func ExampleClient() {
	client := loopback.Client(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Path", r.URL.Path)
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "got %s", body)
	}))
	answer, err := client.Post(loopback.URL+"/things", "text/plain", strings.NewReader("it"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	fmt.Println(answer.Status, answer.Header.Get("X-Path"), string(body))
	// Output: 201 Created /things got it
}

func TestClientGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	client := loopback.Client(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel() }))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, loopback.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err == nil {
		answer.Body.Close()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
}

func TestSilentHandlerAnswers200(t *testing.T) {
	t.Parallel()
	answer, err := loopback.Client(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).Get(loopback.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.ContentLength != 0 {
		t.Errorf("status %d, length %d", answer.StatusCode, answer.ContentLength)
	}
}

// The Content-Length header equals that of a request over the network.
func TestLengthOfTheBody(t *testing.T) {
	t.Parallel()
	told := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w,
			r.Header.Get("Content-Length"))
	})
	server := httptest.NewServer(told)
	defer server.Close()
	for name, c := range map[string]struct {
		method string
		body   func() io.Reader // a new one for each client, because sending reads it to its end
		want   string
	}{
		"a body":        {http.MethodPut, func() io.Reader { return strings.NewReader("four") }, "4"},
		"an empty body": {http.MethodPut, func() io.Reader { return strings.NewReader("") }, "0"},
		"no body":       {http.MethodGet, func() io.Reader { return nil }, ""},
		"a body of unknown length": {http.MethodPut,
			func() io.Reader { return io.MultiReader(strings.NewReader("four")) }, ""},
	} {
		for kind, client := range map[string]*http.Client{loopback.URL: loopback.Client(told),
			server.URL: server.Client()} {
			r, err := http.NewRequestWithContext(t.Context(), c.method, kind, c.body())
			if err != nil {
				t.Fatal(err)
			}
			answer, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if string(got) != c.want {
				t.Errorf("%s at %s: Content-Length %q, want %q", name, kind, got, c.want)
			}
		}
	}
}

// TestInside tells requests of this package's clients from those over a network.
func TestInside(t *testing.T) {
	t.Parallel()
	var inside bool
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { inside = loopback.Inside(r) })
	server := httptest.NewServer(h)
	defer server.Close()
	for _, c := range []struct {
		client *http.Client
		want   bool
	}{{loopback.Client(h), true}, {server.Client(), false}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil || inside != c.want {
			t.Errorf("inside is %v, want %v; %v", inside, c.want, err)
		}
	}
}
