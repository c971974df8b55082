package faults_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"stepback/aws"
	"stepback/local/services/lambda/runner"
	"stepback/tasks/faults"
	"stepback/tasks/lambda/invocation"
)

// working is an Invoker that succeeds and counts its calls.
type working struct{ times atomic.Int64 }

func (w *working) Invoke(context.Context, *invocation.Request) (*invocation.Answer, error) {
	w.times.Add(1)
	return &invocation.Answer{StatusCode: 200, Payload: []byte(`"done"`)}, nil
}

func payload(i int) []byte { return fmt.Appendf(nil, `{"row":%d}`, i) }

// outcome describes the outcome of an invocation in a short text.
func outcome(out *invocation.Answer, err error) string {
	var refused *aws.Error
	if errors.As(err, &refused) {
		return fmt.Sprintf("%v (status %d)", refused, refused.Status)
	}
	if err != nil {
		return err.Error()
	}
	return out.FunctionError + string(out.Payload)
}

func TestWhatEachFaultLooksLike(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{
		"throttle":                        "TooManyRequestsException: Rate Exceeded. (status 429)",
		"Lambda.TooManyRequestsException": "TooManyRequestsException: Rate Exceeded. (status 429)",
		"Lambda.ServiceException":         "ServiceException: Service encountered an internal error. (status 500)",
		"Lambda.SdkClientException":       "SdkClientException: Unable to execute HTTP request: Connection reset by peer (status 0)",
		"Lambda.OddException":             "OddException: Injected fault Lambda.OddException (status 500)",
		"Lambda.Unknown":                  `Unhandled{"errorMessage":"The cause could not be determined because Lambda did not return an error type.","errorType":"Lambda.Unknown"}`,
		"DeadlockException":               `Unhandled{"errorMessage":"ERROR: deadlock detected (SQLSTATE 40P01)","errorType":"DeadlockException"}`,
		"States.TaskFailed":               `Unhandled{"errorMessage":"The task failed.","errorType":"States.TaskFailed"}`,
		"MyError":                         `Unhandled{"errorMessage":"Injected fault MyError","errorType":"MyError"}`,
	} {
		w := &working{}
		i := faults.New(1, []faults.Spec{{State: "A", Error: fault, Rate: 1}}, nil).Functions(w)
		out, err := i.Invoke(t.Context(), &invocation.Request{State: "A", Payload: payload(1)})
		if got := outcome(out, err); got != want {
			t.Errorf("%s: %s\nwant %s", fault, got, want)
		}
		if w.times.Load() != 0 {
			t.Errorf("%s: the function ran", fault)
		}
	}
}

func TestOtherStatesAreLeftAlone(t *testing.T) {
	t.Parallel()
	i := faults.New(1, []faults.Spec{{State: "A", Error: "throttle", Rate: 1},
		{State: "B", Error: "throttle", Rate: 0}}, nil).Functions(&working{})
	for _, state := range []string{"B", "C"} {
		if got := outcome(i.Invoke(t.Context(), &invocation.Request{State: state})); got != `"done"` {
			t.Errorf("%s: %s", state, got)
		}
	}
}

// parking is a Parker that counts its calls.
type parking struct{ parked atomic.Int64 }

func (p *parking) Park(ctx context.Context) error {
	p.parked.Add(1)
	<-ctx.Done()
	return ctx.Err()
}

func TestAHangingInvocationIsParkedUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"hang", "States.Timeout"} {
		for _, p := range []*parking{nil, {}} {
			var parker faults.Parker
			if p != nil {
				parker = p
			}
			i := faults.New(1, []faults.Spec{{State: "A", Error: fault, Rate: 1}}, parker).Functions(&working{})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() {
				_, err := i.Invoke(ctx, &invocation.Request{State: "A"})
				done <- err
			}()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", fault, err)
			}
			if p != nil && p.parked.Load() != 1 {
				t.Errorf("%s: parked %d times", fault, p.parked.Load())
			}
		}
	}
}

func TestACrashComesBeforeTheWorkOrAfterIt(t *testing.T) {
	t.Parallel()
	w := &working{}
	i := faults.New(1, []faults.Spec{{State: "A", Error: "crash", Rate: 1}}, nil).Functions(w)
	const n = 2000
	for k := range n {
		out, err := i.Invoke(t.Context(), &invocation.Request{State: "A", Payload: payload(k)})
		if err != nil || !strings.Contains(string(out.Payload),
			`Error: Runtime exited with error: signal: killed","errorType":"Runtime.ExitError"}`) {
			t.Fatalf("%s, %v", out.Payload, err)
		}
		if !strings.Contains(string(out.Payload), "RequestId: "+out.RequestID+" ") {
			t.Fatalf("%s %s", out.RequestID, out.Payload)
		}
	}
	if ran := w.times.Load(); ran < 900 || ran > 1100 {
		t.Errorf("%d of %d ran", ran, n)
	}
}

func TestTheSameSeedGivesTheSameFaultsInAnyOrder(t *testing.T) {
	t.Parallel()
	specs := []faults.Spec{{State: "A", Error: "throttle", Rate: 0.2}, {State: "A", Error: "crash", Rate: 0.2},
		{State: "A", Error: "MyError", Rate: 0.2}}
	run := func(seed uint64, order func(int) int) ([]string, []faults.Count) {
		i := faults.New(seed, specs, nil)
		f := i.Functions(&working{})
		got := make([]string, 500)
		var wg sync.WaitGroup
		for worker := range 4 {
			wg.Go(func() {
				for k := worker; k < len(got); k += 4 {
					at := order(k)
					got[at] = outcome(f.Invoke(t.Context(), &invocation.Request{State: "A", Attempt: int64(at % 3),
						Payload: payload(at)}))
				}
			})
		}
		wg.Wait()
		return got, i.Counts()
	}
	forward, counts := run(7, func(k int) int { return k })
	backward, countsAgain := run(7, func(k int) int { return 499 - k })
	if !reflect.DeepEqual(forward, backward) || !reflect.DeepEqual(counts, countsAgain) {
		t.Error("the order of invocations changed the faults")
	}
	if other, _ := run(8, func(k int) int { return k }); reflect.DeepEqual(forward, other) {
		t.Error("another seed gave the same faults")
	}
}

func TestRatesAndIndependence(t *testing.T) {
	t.Parallel()
	i := faults.New(42, []faults.Spec{
		{State: "A", Error: "E1", Rate: 0.1}, {State: "A", Error: "E1", Rate: 0.1}, {State: "A", Error: "E2",
			Rate: 0.5},
	}, nil)
	f := i.Functions(&working{})
	const n = 20_000
	for k := range n {
		if _, err := f.Invoke(t.Context(), &invocation.Request{State: "A", Attempt: int64(k % 2),
			Payload: payload(k / 2)}); err != nil {
			t.Fatal(err)
		}
	}
	counts := i.Counts()
	near := func(got int, want float64) bool { return math.Abs(float64(got)/n-want) < 0.02 }
	if len(counts) != 2 || counts[0].Error != "E1" || !near(counts[0].Injected, 1-0.9*0.9) || !near(counts[1].Injected,
		0.81*0.5) {
		t.Errorf("%+v", counts)
	}
}

func TestAHigherRateKeepsTheFaultsOfALowerOne(t *testing.T) {
	t.Parallel()
	at := func(rate float64) invocation.Invoker {
		return faults.New(3, []faults.Spec{{State: "A", Error: "E", Rate: rate}}, nil).Functions(&working{})
	}
	low, high := at(0.1), at(0.4)
	for k := range 1000 {
		call := &invocation.Request{State: "A", Payload: payload(k)}
		if a, _ := low.Invoke(t.Context(), call); a.FunctionError != "" {
			if b, _ := high.Invoke(t.Context(), call); b.FunctionError == "" {
				t.Fatalf("row %d suffers at 10%% but not at 40%%", k)
			}
		}
	}
}

func BenchmarkInvoke(b *testing.B) {
	i := faults.New(1, []faults.Spec{{State: "A", Error: "E", Rate: 0.1}}, nil).Functions(&working{})
	call := &invocation.Request{State: "A", Payload: payload(1)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := i.Invoke(context.Background(), call); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleInjector() {
	functions := runner.New(runner.Options{})
	defer functions.Close(context.Background())
	if err := functions.Register(runner.Function{Name: "Process", Handler: func() (string, error) {
		return "done",
			nil
	}}); err != nil {
		fmt.Println(err)
		return
	}
	spec, err := faults.ParseSpec("ProcessSingleUserRecord:DeadlockException:30%")
	if err != nil {
		fmt.Println(err)
		return
	}
	injector := faults.New(7, []faults.Spec{spec}, nil)
	faulty := injector.Functions(functions)
	for attempt := range 10 {
		_, err := faulty.Invoke(context.Background(), &invocation.Request{
			State: "ProcessSingleUserRecord", Attempt: int64(attempt), FunctionName: "Process",
			Payload: []byte(`{"row":1}`),
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(injector.Counts())
	// Output: [{ProcessSingleUserRecord DeadlockException 3}]
}
