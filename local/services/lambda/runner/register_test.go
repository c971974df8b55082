package runner_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stepback/aws"
	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

// says returns a function that responds with word.
func says(version, word string) runner.Function {
	return runner.Function{Name: "F", Version: version, Handler: func() (string, error) { return word, nil }}
}

func TestVersionsAreFunctionsOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := serve(t, says("", "latest"), runner.Options{})
	for _, f := range []runner.Function{says("1", "one"), says("2", "two"), says("1", "again")} {
		if err := s.Replace(f); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"F": `"latest"`, "F:$LATEST": `"latest"`, "F:1": `"again"`,
		"F:2": `"two"`} {
		if out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: name}); err != nil ||
			string(out.Payload) != want {
			t.Errorf("%s: %s, %v", name, out.Payload, err)
		}
	}
	s.Remove("F", "2")
	s.Remove("F", "3")
	_, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", Qualifier: "2"})
	var api *aws.Error
	if !errors.As(err, &api) || api.Code != "ResourceNotFoundException" {
		t.Errorf("%v", err)
	}
}

func TestAnInvocationEndsWithWhatItBeganWith(t *testing.T) {
	t.Parallel()
	var released atomic.Bool
	begun, finish := make(chan struct{}), make(chan struct{})
	s := serve(t, runner.Function{
		Name: "F", Released: func() { released.Store(true) },
		Handler: func() (string, error) {
			close(begun)
			<-finish
			return "old", nil
		},
	}, runner.Options{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"}); err != nil ||
			string(out.Payload) != `"old"` {
			t.Errorf("%s, %v", out.Payload, err)
		}
	})
	<-begun
	if err := s.Replace(says("", "new")); err != nil {
		t.Fatal(err)
	}
	if out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"}); err != nil ||
		string(out.Payload) != `"new"` {
		t.Errorf("%s, %v", out.Payload, err)
	}
	if released.Load() {
		t.Error("released while an invocation is under way")
	}
	close(finish)
	wg.Wait()
	if !released.Load() {
		t.Error("not released at the end")
	}
}

func TestAnIdleProcessIsEnded(t *testing.T) {
	t.Parallel()
	f := process("pid")
	s := serve(t, f, runner.Options{IdleTimeout: 5 * time.Millisecond})
	pid := func() string {
		out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"})
		if err != nil || out.FunctionError != "" {
			t.Fatalf("%s, %v", out.Payload, err)
		}
		return string(out.Payload)
	}
	first := pid()
	for pid() == first { // ends eventually
		timer := time.NewTimer(10 * time.Millisecond)
		select {
		case <-timer.C:
		case <-t.Context().Done():
			t.Fatal("the process lives on")
		}
	}
}
