package resilience_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"stepback/resilience"
)

// inAttempt runs f with an attempt's context, whose timeout is an hour.
func inAttempt(outer context.Context, t *testing.T, f func(ctx context.Context)) context.Context {
	t.Helper()
	var kept context.Context
	e := must(t, seconds(0), resilience.WithAttemptTimeout(time.Hour))
	_ = e.Run(outer, func(ctx context.Context) error {
		kept = ctx
		f(ctx)
		return nil
	})
	return kept
}

func TestAttemptContextEndsAfterTheAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var child context.Context
		rang := false
		ctx := inAttempt(t.Context(), t, func(ctx context.Context) {
			var cancel context.CancelFunc
			child, cancel = context.WithCancel(ctx)
			t.Cleanup(cancel) // the child ends earlier, with its parent
			context.AfterFunc(ctx, func() { rang = true })
			if ctx.Err() != nil || child.Err() != nil {
				t.Errorf("ended early: %v, %v", ctx.Err(), child.Err())
			}
		})
		synctest.Wait()
		<-ctx.Done()
		<-child.Done()
		if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(child.Err(), context.Canceled) || !rang {
			t.Errorf("%v, %v, %v", ctx.Err(), child.Err(), rang)
		}
	})
}

func TestAttemptContextFollowsTheCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outer, cancel := context.WithCancel(context.WithValue(t.Context(), recorded{}, "v"))
		inAttempt(outer, t, func(ctx context.Context) {
			if ctx.Value(recorded{}) != "v" {
				t.Error("it lost the caller's values")
			}
			done := ctx.Done()
			cancel()
			if !errors.Is(ctx.Err(), context.Canceled) {
				t.Errorf("error is %v", ctx.Err())
			}
			<-done
		})
	})
}

func TestAttemptContextTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inAttempt(t.Context(), t, func(ctx context.Context) {
			deadline, ok := ctx.Deadline()
			if !ok || time.Until(deadline) != time.Hour {
				t.Errorf("deadline in %s", time.Until(deadline))
			}
			time.Sleep(time.Hour) //nolint:forbidigo // virtual time; nobody asked for Done
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Errorf("error is %v", ctx.Err())
			}
			<-ctx.Done()
		})
		inAttempt(t.Context(), t, func(ctx context.Context) {
			stopped := context.AfterFunc(ctx, func() { t.Error("rang although it was stopped") })
			if !stopped() || stopped() {
				t.Error("stop is true once")
			}
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
				t.Errorf("cause is %v", context.Cause(ctx))
			}
		})
		outer, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		inAttempt(outer, t, func(ctx context.Context) {
			if deadline, _ := ctx.Deadline(); time.Until(deadline) != time.Minute {
				t.Errorf("deadline in %s, want the caller's", time.Until(deadline))
			}
		})
	})
}
