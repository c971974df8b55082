package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/budget"
	"stepback/resilience"
	"stepback/retry"
	"stepback/statemachine"
)

// quick is a policy with waits short enough for an example.
var quick = retry.Policy{Interval: time.Millisecond, Rate: 2, MaxAttempts: 3}

// unreliable returns an operation that fails the given number of times and then succeeds.
func unreliable(failures int) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		if failures--; failures >= 0 {
			return "", resilience.Mark(errors.New("try later"), retry.Transient,
				retry.ServiceUnavailableError)
		}
		return "hello", nil
	}
}

func ExampleDo() {
	out, err := resilience.Do(context.Background(), unreliable(2), quick)
	fmt.Println(out, err)

	_, err = resilience.Do(context.Background(), unreliable(9), quick, resilience.WithName("greeter"))
	fmt.Println(err)
	fmt.Println(errors.Is(err, resilience.ErrExhausted))
	// Output:
	// hello <nil>
	// greeter: 4 attempts: try later (no retry is left)
	// true
}

// One executor holds everything that protects the calls to one service, and all calls share it.
func ExampleNew() {
	bulkhead, err := resilience.NewBulkhead(resilience.BulkheadConfig{
		Concurrent: 10, Queue: 20, QueueTimeout: time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	circuit, err := breaker.New(breaker.Config{Policy: breaker.Callee()})
	if err != nil {
		fmt.Println(err)
		return
	}
	retries, err := budget.New(budget.Config{Policy: budget.Finagle()})
	if err != nil {
		fmt.Println(err)
		return
	}
	payments, err := resilience.New(quick,
		resilience.WithName("payments"),
		resilience.WithIdempotent(),
		resilience.WithAttemptTimeout(2*time.Second),
		resilience.WithBulkhead(bulkhead),
		resilience.WithBreaker(circuit),
		resilience.WithBudget(retries),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := resilience.Execute(context.Background(), payments, unreliable(1))
	s := payments.Statistics()
	fmt.Println(out, err)
	fmt.Println(s.Attempts, "attempts,", s.Retries, "retry, success rate", s.SuccessRate())
	// Output:
	// hello <nil>
	// 2 attempts, 1 retry, success rate 1
}

// With the rows of a state of the retry table, each error is repeated by its own policy.
func ExampleNewWithRules() {
	state, _ := statemachine.DefaultTable().State("ProcessSingleUserRecord")
	e, err := resilience.NewWithRules(state.Rules(), resilience.WithRepeatConflicts())
	if err != nil {
		fmt.Println(err)
		return
	}
	err = e.Run(context.Background(), func(context.Context) error {
		return resilience.Mark(errors.New("no such user"), retry.Permanent, retry.ValidationError)
	})
	fmt.Println(err)
	// Output:
	// no such user (permanent errors are not retried)
}

func ExampleExecutor_WorstWait() {
	preset, _ := retry.PresetNamed("external_api")
	e, err := resilience.New(preset.Policy)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(preset.Name, "waits", e.WorstWait(), "at the longest")
	// Output: external_api waits 7s at the longest
}

func ExampleCall_fallback() {
	circuit, _ := breaker.New(breaker.Config{Policy: breaker.Conservative()})
	circuit.Trip() // as an operator would
	e, err := resilience.New(quick, resilience.WithBreaker(circuit))
	if err != nil {
		fmt.Println(err)
		return
	}
	price, err := resilience.Call[int]{
		Run:      func(context.Context) (int, error) { return 42, nil },
		Fallback: func(context.Context, error) (int, error) { return 40, nil }, // yesterday's price
	}.Do(context.Background(), e)
	fmt.Println(price, err)
	// Output: 40 <nil>
}

func ExampleLogRetries() {
	shown := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == "error_message" || a.Key == "event" ||
			a.Key == "max_retries" {
			return slog.Attr{}
		}
		return a
	}
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: shown}))
	fixed := retry.Policy{Interval: 5 * time.Millisecond, Rate: 1, MaxAttempts: 1}
	_, _ = resilience.Do(context.Background(), unreliable(1), fixed,
		resilience.WithName("greeter"), resilience.WithObserver(resilience.LogRetries(log)))
	// Output:
	// msg=retry service=greeter attempt=1 delay_ms=5 error_type=ServiceUnavailableError error_class=transient
}

func ExampleParseRetryAfter() {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, value := range []string{"120", "Sun, 22 Nov 2026 12:00:30 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "soon"} {
		fmt.Println(resilience.ParseRetryAfter(value, "", now))
	}
	// Output:
	// 2m0s true
	// 30s true
	// 0s true
	// 0s false
}

func ExampleBulkheads() {
	services, err := resilience.NewBulkheads(resilience.BulkheadConfig{Concurrent: 10},
		map[string]resilience.BulkheadConfig{"reports": {Concurrent: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	fmt.Println(services.For("reports").Enter(ctx))
	fmt.Println(services.For("reports").Enter(ctx))
	fmt.Println(services.For("payments").Enter(ctx)) // does not affect the other services
	// Output:
	// <nil>
	// the bulkhead is full: 1 run, 0 wait
	// <nil>
}
