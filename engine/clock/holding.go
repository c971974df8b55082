package clock

import "context"

type holding struct{}

// Holding marks the context of work that holds the clock, such as a task, so that what it calls can give the hold up while it waits.
func Holding(ctx context.Context) context.Context { return context.WithValue(ctx, holding{}, true) }

// IsHolding reports whether the context is that of work that holds the clock.
func IsHolding(ctx context.Context) bool { return ctx.Value(holding{}) != nil }
