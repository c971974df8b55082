package deadline

import (
	"context"
	"fmt"
	"time"
)

// Margin is what an invocation keeps to report an orderly error in, when nothing else is said.
const Margin = 250 * time.Millisecond

// TooLateError is a call that was not begun. Its name is TimeoutError, the error name by which the table tries again
// with a whole deadline; nothing has happened.
type TooLateError struct {
	// Left is the time until the deadline less the margin; Needed is what the call takes.
	Left, Needed time.Duration
}

// Error names the error and both times.
func (e *TooLateError) Error() string {
	return fmt.Sprintf("TimeoutError: a call that takes %s was not begun, for %s are left", e.Needed, max(e.Left, 0))
}

// Left is the time until the deadline of ctx less the margin; false when it has no deadline.
func Left(ctx context.Context, now time.Time, margin time.Duration) (time.Duration, bool) {
	end, ok := ctx.Deadline()
	if !ok {
		return 0, false
	}
	return end.Sub(now) - margin, true
}

// Check refuses, with a *[TooLateError], a call that needs longer than what is left of ctx less the margin. A context
// without a deadline leaves any time. Of an unknown time, 0, only what is already too late is refused.
func Check(ctx context.Context, now time.Time, needed, margin time.Duration) error {
	left, ok := Left(ctx, now, margin)
	if ok && (left <= 0 || left < needed) {
		return &TooLateError{Left: left, Needed: needed}
	}
	return nil
}

// Within is ctx with a deadline that is earlier by the margin, to be handed to the callee. Without a deadline it is
// ctx.
func Within(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-margin))
}

// Retry reports whether a wait and an attempt after it fit into what is left of ctx.
func Retry(ctx context.Context, now time.Time, wait, attempt, margin time.Duration) bool {
	left, ok := Left(ctx, now, margin)
	return !ok || left >= attempt && left-attempt >= wait
}
