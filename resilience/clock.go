package resilience

import (
	"context"
	"math/rand/v2"
	"time"

	"stepback/internal/ctxerr"
)

// Clock is the clock of an [Executor] or a [Bulkhead]; the default is the system's clock, and [WithClock] sets
// another. A clock that goes backwards lengthens waits but never makes one negative.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// Sleep waits until d has passed, or returns the context's error as soon as it ends.
	Sleep(ctx context.Context, d time.Duration) error
	// AfterFunc runs f after d, on a goroutine of the clock, unless stop is called first. stop reports whether it
	// prevented the call.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// machineClock is the system's clock. Its readings include Go's monotonic time, so setting the clock does not
// affect waits.
type machineClock struct{}

func (machineClock) Now() time.Time { return time.Now() }

func (machineClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctxerr.Of(ctx); err != nil {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	}
}

func (machineClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}

// sharedRand uses the self-seeded generator of math/rand/v2. It is safe for concurrent use.
type sharedRand struct{}

func (sharedRand) Uint64() uint64 { return rand.Uint64() }

// MachineClock returns the system's clock.
func MachineClock() Clock { return machineClock{} }
