package deadline

import (
	"context"
	"fmt"
	"time"
)

// Margin is the default time that an invocation reserves for reporting an error in an orderly way.
const Margin = 250 * time.Millisecond

// TooLateError is returned for a call that was not started because it could not end in time. Its error name is
// TimeoutError: the retry table retries it with a new, full deadline. Nothing has happened yet.
type TooLateError struct {
	// Left is the time until the deadline, less the margin. Needed is the time that the call takes.
	Left, Needed time.Duration
}

// Error states the error name and both times.
func (e *TooLateError) Error() string {
	return fmt.Sprintf("TimeoutError: a call that takes %s was not started, because only %s are left", e.Needed, max(e.Left, 0))
}

// Left returns the time until the deadline of ctx, less the margin; false if ctx has no deadline.
func Left(ctx context.Context, now time.Time, margin time.Duration) (time.Duration, bool) {
	end, ok := ctx.Deadline()
	if !ok {
		return 0, false
	}
	return end.Sub(now) - margin, true
}

// Check returns a *[TooLateError] if a call needs more than the time left in ctx less the margin. If ctx has no
// deadline, it returns nil. If needed is 0 (unknown), it returns an error only if no time is left.
func Check(ctx context.Context, now time.Time, needed, margin time.Duration) error {
	left, ok := Left(ctx, now, margin)
	if ok && (left <= 0 || left < needed) {
		return &TooLateError{Left: left, Needed: needed}
	}
	return nil
}

// Within returns ctx with a deadline that is earlier by the margin, to pass to the callee. If ctx has no deadline,
// the result has none.
func Within(ctx context.Context, margin time.Duration) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-margin))
}

// Retry reports whether a wait and another attempt fit into the time left in ctx.
func Retry(ctx context.Context, now time.Time, wait, attempt, margin time.Duration) bool {
	left, ok := Left(ctx, now, margin)
	return !ok || left >= attempt && left-attempt >= wait
}
