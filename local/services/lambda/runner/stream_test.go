package runner_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

// keptStream keeps what is written to it, and calls wrote after each write.
type keptStream struct {
	begun *invocation.Answer
	text  string
	wrote func(text string) error
}

func (k *keptStream) Begin(a *invocation.Answer) error {
	k.begun = a
	return nil
}

func (k *keptStream) Write(p []byte) (int, error) {
	k.text += string(p)
	if k.wrote != nil {
		return len(p), k.wrote(k.text)
	}
	return len(p), nil
}

func TestAResponseIsStreamedWhileItIsWritten(t *testing.T) {
	t.Parallel()
	s := serve(t, process("relay"), runner.Options{})
	proceed := make(chan bool, 1)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/none" {
			return
		}
		_, _ = io.WriteString(w, "one ")
		_ = http.NewResponseController(w).Flush()
		if !<-proceed || r.URL.Path == "/breaks" {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "two")
	}))
	defer source.Close()
	for path, want := range map[string]struct{ text, functionError, errorType string }{
		"/": {"one two", "", ""}, "/breaks": {"one ", "Unhandled", `"errorType":"errorString"`}, "/none": {"", "", ""},
	} {
		kept := &keptStream{wrote: func(text string) error {
			if text == "one " {
				proceed <- true
			}
			return nil
		}}
		out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", Stream: kept,
			Payload: fmt.Appendf(nil, "%q", source.URL+path)})
		if err != nil {
			t.Fatal(err)
		}
		if kept.text != want.text || out.FunctionError != want.functionError || !out.Streamed ||
			!strings.Contains(string(out.Payload), want.errorType) || kept.begun.ContentType != "application/octet-stream" ||
			kept.begun.RequestID != out.RequestID || kept.begun.ExecutedVersion != "$LATEST" {
			t.Errorf("%s: %q, %+v, %s", path, kept.text, kept.begun, out.Payload)
		}
	}
	gone := errors.New("gone")
	_, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", Payload: fmt.Appendf(nil, "%q", source.URL),
		Stream: &keptStream{wrote: func(string) error { proceed <- false; return gone }}})
	if !errors.Is(err, gone) {
		t.Errorf("a caller that does not take the response: %v", err)
	}
	if out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", Payload: fmt.Appendf(nil, "%q", source.URL+"/none"),
		Stream: &keptStream{}}); err != nil || out.FunctionError != "" {
		t.Errorf("after it: %+v, %v", out, err)
	}
}

// The timeout doubles until the function has begun its response within it, however slow the machine is.
func TestAStreamedResponseTimesOut(t *testing.T) {
	t.Parallel()
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "one")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer source.Close()
	f := process("relay")
	for f.Timeout = 100 * time.Millisecond; ; f.Timeout *= 2 {
		kept := &keptStream{}
		out, err := serve(t, f, runner.Options{}).Invoke(t.Context(), &invocation.Request{FunctionName: "F", Stream: kept,
			Payload: fmt.Appendf(nil, "%q", source.URL)})
		if err != nil || out.FunctionError != "Unhandled" || !strings.Contains(string(out.Payload), "Sandbox.Timedout") ||
			out.Streamed != (kept.begun != nil) {
			t.Fatalf("after %s: %q, %+v, %s, %v", f.Timeout, kept.text, out, out.Payload, err)
		}
		if kept.text == "one" {
			return
		}
	}
}
