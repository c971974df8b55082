package resilience_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"stepback/resilience"
)

func TestBulkheadQueuesInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, err := resilience.NewBulkhead(resilience.BulkheadConfig{Concurrent: 1, Queue: 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		var order []int
		var all sync.WaitGroup
		for i := range 2 {
			all.Go(func() {
				if err := b.Enter(t.Context()); err != nil {
					t.Error(err)
				}
				order = append(order, i)
				b.Leave()
			})
			synctest.Wait()
		}
		err = b.Enter(t.Context())
		if !errors.Is(err, resilience.ErrBulkheadFull) || err.Error() != "the bulkhead is full: 1 run, 2 wait" {
			t.Errorf("error is %v", err)
		}
		b.Leave()
		all.Wait()
		if len(order) != 2 || order[0] != 0 || order[1] != 1 {
			t.Errorf("order %v", order)
		}
		if got := b.Statistics(); got != (resilience.BulkheadStatistics{Admitted: 3, Full: 1}) {
			t.Errorf("counted %+v", got)
		}
	})
}

func TestBulkheadQueueTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, err := resilience.NewBulkhead(
			resilience.BulkheadConfig{Concurrent: 1, Queue: 5, QueueTimeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := b.Enter(t.Context()); !errors.Is(err, resilience.ErrQueueTimeout) ||
			time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := b.Enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
		if got := b.Statistics(); got != (resilience.BulkheadStatistics{Running: 1, Admitted: 1, TimedOut: 1}) {
			t.Errorf("counted %+v", got)
		}
	})
}

func TestBulkheadSettings(t *testing.T) {
	t.Parallel()
	for _, s := range []resilience.BulkheadConfig{
		{}, {Concurrent: -1}, {Concurrent: 1, Queue: -1}, {Concurrent: 1, QueueTimeout: -1},
	} {
		var wrong *resilience.ConfigError
		if _, err := resilience.NewBulkhead(s); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestBulkheadsKeepServicesApart(t *testing.T) {
	t.Parallel()
	r, err := resilience.NewBulkheads(resilience.BulkheadConfig{Concurrent: 1},
		map[string]resilience.BulkheadConfig{"b": {Concurrent: 2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range []string{"a", "b", "b"} {
		if err := r.For(service).Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.For("a").Enter(t.Context()); !errors.Is(err, resilience.ErrBulkheadFull) {
		t.Errorf("error is %v", err)
	}
	if got := r.Statistics(); got["a"].Running != 1 || got["a"].Full != 1 || got["b"].Running != 2 {
		t.Errorf("counted %+v", got)
	}
	if _, err := resilience.NewBulkheads(resilience.BulkheadConfig{Concurrent: 1},
		map[string]resilience.BulkheadConfig{"x": {}}); err == nil {
		t.Error("a size of 0 was accepted")
	}
}

// TestBulkheadNeverHoldsMore lets random callers arrive, wait, give up and leave.
func TestBulkheadNeverHoldsMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		size, queue := rapid.IntRange(1, 3).Draw(rt, "size"), rapid.IntRange(0, 3).Draw(rt, "queue")
		callers := rapid.SliceOfN(rapid.IntRange(1, 20), 1, 12).Draw(rt, "callers")
		patience := rapid.IntRange(1, 20).Draw(rt, "patience")
		synctest.Test(t, func(t *testing.T) {
			b, err := resilience.NewBulkhead(resilience.BulkheadConfig{
				Concurrent: size, Queue: queue, QueueTimeout: time.Duration(patience) * time.Millisecond,
			})
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			running := 0
			var all sync.WaitGroup
			for i, work := range callers {
				all.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(5+work)*time.Millisecond)
					defer cancel()
					time.Sleep(time.Duration(i) * time.Millisecond) //nolint:forbidigo // virtual time
					if b.Enter(ctx) != nil {
						return
					}
					defer b.Leave()
					mu.Lock()
					if running++; running > size {
						t.Errorf("%d run, %d may", running, size)
					}
					mu.Unlock()
					time.Sleep(time.Duration(work) * time.Millisecond) //nolint:forbidigo // virtual time
					mu.Lock()
					running--
					mu.Unlock()
				})
			}
			all.Wait()
			if got := b.Statistics(); got.Running != 0 || got.Queued != 0 {
				t.Errorf("left over: %+v", got)
			}
		})
	})
}
