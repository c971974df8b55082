package breaker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/adaptive/breaker"
)

var errDown = errors.New("down")

func TestDo(t *testing.T) {
	t.Parallel()
	now := at(0)
	var events []string
	b, err := breaker.New(breaker.Config{
		Policy: breaker.Conservative(),
		Now:    func() time.Time { return now },
		Listen: func(e breaker.Event) { events = append(events, fmt.Sprint(e.Kind, e.Outcome, e.From, e.To)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	down := breaker.Call[string]{Run: func(context.Context) (string, error) { return "", errDown }}
	for range 5 {
		if _, err := breaker.Do(t.Context(), b, down); !errors.Is(err, errDown) {
			t.Fatalf("error is %v, want the call's own", err)
		}
	}
	_, err = breaker.Do(t.Context(), b, down)
	var refused *breaker.OpenError
	if !errors.As(err, &refused) || refused.RetryAfter != time.Minute {
		t.Fatalf("error is %v, want *OpenError with a minute to wait", err)
	}
	if want := "CircuitOpen: the circuit is open and admits no calls; try again in 1m0s"; err.Error() != want {
		t.Errorf("message is %q, want %q", err, want)
	}
	stored, err := breaker.New(breaker.Config{
		Policy: breaker.Conservative(), State: b.State(), Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := breaker.Do(t.Context(), stored, down); !errors.As(err, &refused) {
		t.Errorf("error of a breaker that goes on from a stored state is %v, want *OpenError", err)
	}
	cached := down
	cached.Fallback = func(_ context.Context, err error) (string, error) {
		return "from the cache: " + err.Error()[:11], nil
	}
	if got, err := breaker.Do(t.Context(), b, cached); got != "from the cache: CircuitOpen" || err != nil {
		t.Errorf("fallback answers %q, %v", got, err)
	}
	now = at(60)
	up := breaker.Call[string]{Run: func(context.Context) (string, error) { return "up", nil }}
	for range 3 {
		if got, err := breaker.Do(t.Context(), b, up); got != "up" || err != nil {
			t.Errorf("probe answers %q, %v", got, err)
		}
	}
	want := strings.Repeat("1 failure closed closed,", 4) + "1 failure closed open,0 success closed open," +
		"2 success open open,2 success open open,0 success open half-open,1 success half-open half-open," +
		"1 success half-open half-open,1 success half-open closed,0 success half-open closed"
	if got := strings.Join(events, ","); got != want {
		t.Errorf("events are\n%s\nwant\n%s", got, want)
	}
}

func TestDoCountsAPanicAsAFailureAndACancellationAsNothing(t *testing.T) {
	t.Parallel()
	b, err := breaker.New(breaker.Config{Policy: breaker.Conservative()})
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = breaker.Do(t.Context(), b, breaker.Call[int]{Run: func(context.Context) (int, error) { panic("bug") }})
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = breaker.Do(ctx, b, breaker.Call[int]{Run: func(ctx context.Context) (int, error) { return 0, ctx.Err() }})
	if got := b.Statistics().Totals; got.Failures != 1 || got.Ignored != 1 {
		t.Errorf("totals are %+v, want one failure and one ignored", got)
	}
}

func TestFailuresOfAThrottlingCallee(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]breaker.Outcome{
		"TooManyRequestsError": breaker.Throttled, "S3.SlowDown": breaker.Throttled,
		"Lambda.TooManyRequestsException": breaker.Throttled, "ProvisionedThroughputExceededException": breaker.Throttled,
		"ServiceUnavailableError": breaker.Failure, "TimeoutError": breaker.TimedOut, "States.Timeout": breaker.TimedOut, "": breaker.Failure,
	} {
		if got := breaker.FailureAs(name); got != want || !got.Failed() {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
	if breaker.Success.Failed() || breaker.Ignored.Failed() {
		t.Error("a success or an ignored call counts as failed")
	}
	// A circuit counts throttled calls as failures.
	p := breaker.Conservative()
	var s breaker.State
	for range p.ConsecutiveFailures {
		permit, _ := s.Allow(&p, time.Unix(1, 0))
		s.Record(&p, permit, time.Unix(1, 0), breaker.Throttled)
	}
	if s.Circuit() != breaker.Open {
		t.Errorf("the circuit is %s", s.Circuit())
	}
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	b, err := breaker.New(breaker.Config{Policy: breaker.Policy{
		FailureRate: 0.5, MinimumRequests: 10, Window: time.Minute, OpenFor: time.Nanosecond,
		HalfOpenConcurrency: 4, SuccessThreshold: 7, ProbeTimeout: time.Minute,
	}})
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	for g := range 8 {
		callers.Go(func() {
			for i := range 500 {
				_, _ = breaker.Do(t.Context(), b, breaker.Call[int]{Run: func(context.Context) (int, error) {
					if (i+g)%3 != 0 {
						return 0, errDown
					}
					return 1, nil
				}})
			}
		})
	}
	callers.Wait()
	st := b.Statistics()
	if got := st.Totals; got.Successes+got.Failures+got.Rejected+got.Late != 4000 || st.Probes != 0 {
		t.Errorf("statistics are %+v; want 4000 calls accounted for and no probe out", st)
	}
}

func TestValidateNamesEveryWrongField(t *testing.T) {
	t.Parallel()
	if err := breaker.Conservative().Validate(); err != nil {
		t.Error(err)
	}
	if err := breaker.Callee().Validate(); err != nil {
		t.Error(err)
	}
	for want, p := range map[string]breaker.Policy{
		"nothing opens the circuit":   {OpenFor: 1, HalfOpenConcurrency: 1, SuccessThreshold: 1, ProbeTimeout: 1},
		"HalfOpenConcurrency is 17":   {HalfOpenConcurrency: 17},
		"FailureRate is NaN":          {FailureRate: nan()},
		"are both set":                {Window: time.Second, WindowRequests: 5},
		"without Window":              {FailureRate: 0.5},
		"more than a window of":       {WindowRequests: 5, MinimumRequests: 6},
		"OpenFor is 0s":               {},
		"ProbeTimeout is -1ns":        {ProbeTimeout: -1},
		"ConsecutiveFailures is -1":   {ConsecutiveFailures: -1},
		"WindowRequests is 257":       {WindowRequests: 257},
		"Window is 9ns":               {Window: 9},
		"SuccessThreshold is 0":       {},
		"HalfOpenFailures is -1":      {HalfOpenFailures: -1},
		"MinimumFailures is -1; it m": {MinimumFailures: -1},
	} {
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q in it", p, err, want)
		}
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

func BenchmarkAllowRecord(b *testing.B) {
	for name, p := range map[string]breaker.Policy{"consecutive": breaker.Conservative(), "rate": breaker.Callee()} {
		b.Run("state/"+name, func(b *testing.B) {
			var s breaker.State
			now := noon
			b.ReportAllocs()
			for b.Loop() {
				permit, _ := s.Allow(&p, now)
				s.Record(&p, permit, now, breaker.Success)
			}
		})
		b.Run("breaker/"+name, func(b *testing.B) {
			br, err := breaker.New(breaker.Config{Policy: p})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				permit, _ := br.Allow()
				br.Record(permit, breaker.Success)
			}
		})
	}
}

func ExampleDo() {
	b, err := breaker.New(breaker.Config{Policy: breaker.Conservative()})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := breaker.Do(context.Background(), b, breaker.Call[string]{
		Run: func(context.Context) (string, error) { return "hello", nil },
	})
	fmt.Println(answer, err, b.Statistics().Circuit)
	// Output: hello <nil> closed
}
