package resilience_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"stepback/resilience"
)

// slowFirst hangs until it is cancelled on the first call, and returns at once on later ones.
type slowFirst struct{ calls, cancelled atomic.Int64 }

func (s *slowFirst) call(ctx context.Context) (int64, error) {
	n := s.calls.Add(1)
	if n == 1 {
		<-ctx.Done()
		s.cancelled.Add(1)
		return 0, ctx.Err()
	}
	return n, nil
}

func TestHedge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := must(t, seconds(0), resilience.WithIdempotent(), resilience.WithHedge(100*time.Millisecond, 2))
		var s slowFirst
		began := time.Now()
		out, err := resilience.Execute(t.Context(), e, s.call)
		if out != 2 || err != nil || time.Since(began) != 100*time.Millisecond {
			t.Errorf("%d, %v after %s", out, err, time.Since(began))
		}
		if s.cancelled.Load() != 1 {
			t.Error("the slow one was not cancelled and waited for")
		}
		if got := e.Statistics(); got.Hedges != 1 || got.Attempts != 2 {
			t.Errorf("counted %+v", got)
		}
	})
}

func TestHedgeUnderAnAttemptTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := must(t, seconds(0), resilience.WithIdempotent(), resilience.WithHedge(100*time.Millisecond, 1),
			resilience.WithAttemptTimeout(time.Second))
		began := time.Now()
		_, err := resilience.Execute(t.Context(), e, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		var timeout *resilience.TimeoutError
		if !errors.As(err, &timeout) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestHedgeFailsAtOnceWithoutWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := must(t, seconds(0), resilience.WithIdempotent(), resilience.WithHedge(time.Hour, 1))
		s := failing(errUnavailable)
		_, err := resilience.Execute(t.Context(), e, s.call)
		wantStop(t, err, resilience.ErrExhausted, 1)
		s.wantCalls(t, 0)
	})
}

func TestAPanicOfAHedgeReachesTheCaller(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	e := must(t, seconds(0), resilience.WithIdempotent(), resilience.WithHedge(time.Hour, 1))
	defer func() {
		p, ok := recover().(*resilience.PanicError)
		if !ok || !errors.Is(p, boom) || len(p.Stack) == 0 {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = e.Run(t.Context(), func(context.Context) error { panic(boom) })
}

func TestDiscardAndKeep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := must(t, seconds(0), resilience.WithIdempotent(), resilience.WithHedge(time.Second, 1),
			resilience.WithAttemptTimeout(time.Minute))
		var calls atomic.Int64
		var discarded []int64
		var inner context.Context
		var release func()
		call := resilience.Call[int64]{
			Run: func(ctx context.Context) (int64, error) {
				n := calls.Add(1)
				if n == 1 {
					<-ctx.Done() // loses, but succeeds nevertheless
					return n, nil
				}
				inner = ctx
				return n, nil
			},
			Keep:    func(n int64, r func()) int64 { release = r; return n },
			Discard: func(n int64) { discarded = append(discarded, n) },
		}
		out, err := call.Do(t.Context(), e)
		if out != 2 || err != nil || len(discarded) != 1 || discarded[0] != 1 {
			t.Errorf("%d, %v, discarded %v", out, err, discarded)
		}
		time.Sleep(time.Hour) //nolint:forbidigo // virtual time: the attempt's timeout has passed long ago
		if err := inner.Err(); err != nil {
			t.Errorf("the kept context ended: %v", err)
		}
		release()
		if err := inner.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("after release: %v", err)
		}
	})
}
