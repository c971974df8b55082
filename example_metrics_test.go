package stepback_test

import (
	"context"
	"fmt"
	"time"

	"stepback"
	"stepback/retrymetrics"
)

// Retry metrics of all executions: how often each state failed, was retried and recovered, and how long it waited.
func Example_metrics() {
	ctx := context.Background()
	clock := stepback.VirtualTime(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC))
	defer clock.Close()
	var counter retrymetrics.Counter
	busy := 3
	app, err := stepback.New(ctx, stepback.Config{
		Clock:   clock,
		Observe: func(_ *stepback.Execution, events []stepback.Event) { counter.Add(events) },
		Functions: stepback.Functions{
			"charge": stepback.Func(func(context.Context, order) (receipt, error) {
				if busy--; busy >= 0 {
					return receipt{}, &stepback.Failure{Name: "CardServiceBusy"}
				}
				return receipt{}, nil
			}),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer app.Close()
	orders, err := app.Define("Orders", charge)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := orders.Start(ctx, "order-17", order{ID: "17"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := run.Wait(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range counter.Tallies() {
		fmt.Printf("%s %s: %d failures, %d retries, %d recovered, %s waited\n", t.State, t.Error, t.Failures, t.Retries,
			t.Recovered, t.Waited)
	}
	// Output: Charge CardServiceBusy: 3 failures, 3 retries, 1 recovered, 14s waited
}
