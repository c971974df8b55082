package runner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	awslambda "github.com/aws/aws-lambda-go/lambda"

	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

func TestAHandlerThatIgnoresItsContextIsAbandonedAndWaitedFor(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := runner.New(runner.Options{})
	if err := s.Register(runner.Function{Name: "F", Timeout: 5 * time.Millisecond,
		Handler: func() { <-release }}); err != nil {
		t.Fatal(err)
	}
	out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"})
	if err != nil || !strings.Contains(string(out.Payload), "Task timed out after 0.01 seconds") &&
		!strings.Contains(string(out.Payload), "Task timed out after 0.00 seconds") {
		t.Fatalf("%s, %v", out.Payload, err)
	}
	if n := s.Abandoned(); n != 1 {
		t.Errorf("%d abandoned", n)
	}
	bounded, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(bounded); err == nil || !strings.Contains(err.Error(),
		"1 handlers ignored the end of their context") {
		t.Errorf("close: %v", err)
	}
	close(release)
	if err := s.Close(t.Context()); err != nil || s.Abandoned() != 0 {
		t.Errorf("close: %v, %d abandoned", err, s.Abandoned())
	}
}

func TestRegisterSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := runner.New(runner.Options{})
	for _, c := range []struct {
		f    runner.Function
		want string
	}{
		{runner.Function{Name: "../x", Handler: func() {}}, "use 1 to 64 characters"},
		{runner.Function{Name: "F"}, "exactly one of Handler and Command"},
		{runner.Function{Name: "F", Handler: func() {}, Command: []string{"x"}}, "exactly one of Handler and Command"},
		{runner.Function{Name: "F", Handler: awslambda.NewHandler(func() {})}, "pass the function itself"},
		{runner.Function{Name: "F", Handler: func() {}, Timeout: -1}, "must not be negative"},
	} {
		if err := s.Register(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.f, err)
		}
	}
	f := runner.Function{Name: "F", Handler: func() {}}
	if err := s.Register(f); err != nil {
		t.Fatal(err)
	}
	if err := s.Register(f); err == nil || !strings.Contains(err.Error(), "registered already") {
		t.Errorf("%v", err)
	}
}

func BenchmarkInProcess(b *testing.B) {
	s := serve(b, runner.Function{Name: "F", Handler: func(_ context.Context, in map[string]string) (map[string]string,
		error) {
		return in, nil
	}}, runner.Options{})
	in := &invocation.Request{FunctionName: "F", Payload: []byte(`{"user_id":"1","login_count":"2","post_count":"3"}`)}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Invoke(context.Background(), in); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkProcess(b *testing.B) {
	s := serve(b, process("echo"), runner.Options{})
	in := &invocation.Request{FunctionName: "F", Payload: []byte(`{"user_id":"1","login_count":"2","post_count":"3"}`)}
	for b.Loop() {
		if _, err := s.Invoke(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleService() {
	s := runner.New(runner.Options{})
	defer s.Close(context.Background())
	err := s.Register(runner.Function{Name: "Greet", Handler: func(_ context.Context, name string) (string, error) {
		return "hello " + name, nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := s.Invoke(context.Background(), &invocation.Request{FunctionName: "Greet", Payload: []byte(`"you"`)})
	fmt.Println(string(out.Payload), out.FunctionError, err)
	// Output: "hello you"  <nil>
}
