package shared_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/shared"
)

// Two processes share what they know of a database: when the calls of one fail, the other is refused, too.
func Example() {
	ctx := context.Background()
	store := &shared.Memory{} // between processes, package dynamostore
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	open := func() *shared.Gate {
		gate, err := shared.NewGate(store, "database", shared.Callee(), shared.Config{
			Now:  func() time.Time { return now },
			Draw: func() float64 { return 0 },
		})
		if err != nil {
			panic(err)
		}
		return gate
	}
	one, two := open(), open()
	for range 170 { // a call every 100 ms, and each fails
		if permit, err := one.Allow(ctx); err == nil {
			one.Record(ctx, permit, breaker.Failure)
		}
		now = now.Add(100 * time.Millisecond)
	}
	_, err := two.Allow(ctx)
	refused, ok := errors.AsType[*breaker.OpenError](err)
	fmt.Println(ok, refused)
	// Output: true CircuitOpen: the circuit is open and admits no calls; try again in 1.5s
}
