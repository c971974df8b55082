package runner_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

// named returns a process function with another name and memory size.
func named(name, handler string, memoryMB int) runner.Function {
	f := process(handler)
	f.Name, f.MemoryMB = name, memoryMB
	return f
}

func TestMemoryThatIsTooMuch(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the system does not tell how much memory a process has")
	}
	s := serve(t, named("F", "greedy", 128), runner.Options{})
	out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"})
	if err != nil || out.FunctionError != "Unhandled" ||
		!strings.Contains(string(out.Payload), `"Runtime.ExitError"`) ||
		!strings.Contains(string(out.Payload), "Runtime exited with error: signal: killed") {
		t.Errorf("%s, %v", out.Payload, err)
	}
}

// Two functions, and two services, share a Capacity for one process: each takes the place over when the other's process
// is idle, and waits while it is busy.
func TestRoomIsShared(t *testing.T) {
	t.Parallel()
	for name, capacity := range map[string]*runner.Capacity{
		"processes": runner.NewCapacity(1, 0), "memory": runner.NewCapacity(0, 300), "too little memory": runner.NewCapacity(0, 10),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, named("A", "pid", 200), runner.Options{Capacity: capacity})
			if err := s.Register(named("B", "pid", 200)); err != nil {
				t.Fatal(err)
			}
			other := serve(t, named("C", "waits", 200), runner.Options{Capacity: capacity})
			pid := func(f string) string {
				out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: f})
				if err != nil || out.FunctionError != "" {
					t.Fatalf("%s: %s, %v", f, out.Payload, err)
				}
				return string(out.Payload)
			}
			a := pid("A")
			if again := pid("A"); again != a {
				t.Errorf("A runs as %s and then as %s although nobody else needs the place", a, again)
			}
			pid("B")
			if again := pid("A"); again == a {
				t.Error("A and B had a process each")
			}
			busy, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := other.Invoke(busy, &invocation.Request{FunctionName: "C"})
				ended <- err
			}()
			stop()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			pid("B")
		})
	}
}
