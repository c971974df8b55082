package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"stepback/resilience"
	"stepback/resilience/idempotency"
	"stepback/resilience/idempotency/sqlitestore"
)

var print32 = []byte("fingerprint")

func open(t *testing.T) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), filepath.Join(t.TempDir(), "keys.db"), sqlitestore.Normal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func guard(t *testing.T, store idempotency.Store, s idempotency.Config) *idempotency.Guard {
	t.Helper()
	g, err := idempotency.New(store, s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// takes returns a request that lasts d and answers with its number.
func takes(d time.Duration, runs *atomic.Int32) func(context.Context) (idempotency.Answer, bool, error) {
	return func(ctx context.Context) (idempotency.Answer, bool, error) {
		n := runs.Add(1)
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return idempotency.Answer{Status: 200, Body: fmt.Append(nil, "run ", n)}, true, nil
		case <-ctx.Done():
			return idempotency.Answer{}, false, context.Cause(ctx)
		}
	}
}

func TestAConcurrentRequestWaitsForTheFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, open(t), idempotency.Config{Wait: time.Minute})
		var runs atomic.Int32
		var all sync.WaitGroup
		began := time.Now()
		for i := range 5 {
			all.Go(func() {
				result, err := g.Once(t.Context(), "k", print32, takes(10*time.Second, &runs))
				if err != nil || string(result.Answer.Body) != "run 1" || !result.Stored {
					t.Errorf("%d: %+v, %v", i, result, err)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); runs.Load() != 1 || took != 10*time.Second {
			t.Errorf("%d runs in %s", runs.Load(), took)
		}
	})
}

// TestItWaitsForAnotherProcess uses a second guard over the same keys; the first one gets no signal when its run
// ends.
func TestItWaitsForAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := open(t)
		here, there := guard(t, store, idempotency.Config{Wait: time.Minute}), guard(t, store, idempotency.Config{})
		var runs atomic.Int32
		var all sync.WaitGroup
		all.Go(func() { _, _ = there.Once(t.Context(), "k", print32, takes(10*time.Second, &runs)) })
		time.Sleep(time.Second) //nolint:forbidigo // virtual time
		result, err := here.Once(t.Context(), "k", print32, takes(0, &runs))
		if err != nil || !result.Replayed || string(result.Answer.Body) != "run 1" {
			t.Errorf("%+v, %v", result, err)
		}
		all.Wait()
	})
}

func TestAConcurrentRequestIsToldToComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, open(t), idempotency.Config{})
		var runs atomic.Int32
		var first sync.WaitGroup
		first.Go(func() { _, _ = g.Once(t.Context(), "k", print32, takes(time.Minute, &runs)) })
		time.Sleep(5 * time.Second) //nolint:forbidigo // virtual time
		_, err := g.Once(t.Context(), "k", print32, takes(0, &runs))
		var running *idempotency.RunningError
		if !errors.As(err, &running) || !errors.Is(err, idempotency.ErrRunning) || running.After != 25*time.Second {
			t.Errorf("error is %v", err)
		}
		if _, err := g.Once(t.Context(), "k", []byte("another"), takes(0, &runs)); !errors.Is(err,
			idempotency.ErrMismatch) {
			t.Errorf("error is %v", err)
		}
		first.Wait()
	})
}

// TestALongRunKeepsItsLease runs for twenty times the lease; no other request may take over in that time.
func TestALongRunKeepsItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := guard(t, open(t), idempotency.Config{Lease: 3 * time.Second})
		var runs atomic.Int32
		var first sync.WaitGroup
		first.Go(func() {
			if _, err := g.Once(t.Context(), "k", print32, takes(time.Minute, &runs)); err != nil {
				t.Error(err)
			}
		})
		for range 59 {
			time.Sleep(time.Second) //nolint:forbidigo // virtual time
			if _, err := g.Once(t.Context(), "k", print32, takes(0, &runs)); !errors.Is(err, idempotency.ErrRunning) {
				t.Errorf("while the first runs: %v", err)
			}
		}
		first.Wait()
		result, err := g.Once(t.Context(), "k", print32, takes(0, &runs))
		if err != nil || !result.Replayed || runs.Load() != 1 {
			t.Errorf("%+v, %v, %d runs", result, err, runs.Load())
		}
	})
}

func TestACrashedRunIsTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := open(t)
		g := guard(t, store, idempotency.Config{Wait: time.Hour})
		now := time.Now()
		_, err := store.Begin(t.Context(), idempotency.Claim{ // and then dies
			Key:         "k",
			Fingerprint: print32,
			Token:       "dead",
			Now:         now,
			Until:       now.Add(30 * time.Second),
			Expires:     now.Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
		var runs atomic.Int32
		result, err := g.Once(t.Context(), "k", print32, takes(0, &runs))
		if err != nil || result.Replayed || runs.Load() != 1 {
			t.Errorf("%+v, %v", result, err)
		}
		if waited := time.Since(now); waited < 30*time.Second || waited > 31*time.Second {
			t.Errorf("taken over after %s", waited)
		}
	})
}

func TestErrorsAndPanicsReleaseTheKey(t *testing.T) {
	t.Parallel()
	g := guard(t, open(t), idempotency.Config{})
	boom := errors.New("boom")
	_, err := g.Once(t.Context(), "k", print32, func(context.Context) (idempotency.Answer, bool, error) {
		return idempotency.Answer{}, true, boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("error is %v", err)
	}
	func() {
		defer func() {
			if r := recover(); r != "boom" {
				t.Errorf("recovered %v", r)
			}
		}()
		_, _ = g.Once(t.Context(), "k", print32,
			func(context.Context) (idempotency.Answer, bool, error) { panic("boom") })
	}()
	result, err := g.Once(t.Context(), "k", print32, func(context.Context) (idempotency.Answer, bool, error) {
		return idempotency.Answer{Status: 503}, false, nil // not to be kept
	})
	if err != nil || result.Stored || result.Answer.Status != 503 {
		t.Errorf("%+v, %v", result, err)
	}
	var runs atomic.Int32
	if result, err := g.Once(t.Context(), "k", print32, takes(0, &runs)); err != nil || result.Replayed ||
		runs.Load() != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

// broken is a store some of whose operations fail.
type broken struct {
	idempotency.Store
	extend, finish, release error
	finishes                atomic.Int32
}

func (b *broken) Extend(ctx context.Context, key, token string, until time.Time) error {
	if b.extend != nil {
		return b.extend
	}
	return b.Store.Extend(ctx, key, token, until)
}

func (b *broken) Finish(ctx context.Context, key, token string, a idempotency.Answer, expires time.Time) error {
	b.finishes.Add(1)
	if b.finish != nil {
		return b.finish
	}
	return b.Store.Finish(ctx, key, token, a, expires)
}

func (b *broken) Release(ctx context.Context, key, token string) error {
	if b.release != nil {
		return b.release
	}
	return b.Store.Release(ctx, key, token)
}

func TestALostLeaseEndsTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &broken{Store: open(t), extend: idempotency.ErrLeaseLost}
		g := guard(t, store, idempotency.Config{})
		var runs atomic.Int32
		began := time.Now()
		_, err := g.Once(t.Context(), "k", print32, takes(time.Hour, &runs))
		if !errors.Is(err, idempotency.ErrLeaseLost) || time.Since(began) != 10*time.Second ||
			store.finishes.Load() != 0 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestAStoreThatDoesNotTakeTheAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := resilience.Mark(errors.New("down"), "transient", "DatabaseConnectionError")
		store := &broken{Store: open(t), finish: down, release: down}
		var told []string
		g := guard(t, store,
			idempotency.Config{OnError: func(key string, err error) { told = append(told, key+": "+err.Error()) }})
		var runs atomic.Int32
		result, err := g.Once(t.Context(), "k", print32, takes(0, &runs))
		if err != nil || result.Stored || string(result.Answer.Body) != "run 1" || store.finishes.Load() != 4 {
			t.Errorf("%+v, %v, %d tries", result, err, store.finishes.Load())
		}
		_, err = g.Once(t.Context(), "k", print32, takes(0, &runs)) // the lease has not expired
		if !errors.Is(err, idempotency.ErrRunning) || len(told) != 1 || !strings.Contains(told[0], "not stored") {
			t.Errorf("%v, told %q", err, told)
		}
		_, _ = g.Once(t.Context(), "k2", print32, func(context.Context) (idempotency.Answer, bool, error) {
			return idempotency.Answer{}, false, errors.New("boom")
		})
		if len(told) != 2 || !strings.Contains(told[1], "not released") {
			t.Errorf("told %q", told)
		}
	})
}

func TestALongAnswerIsNotKept(t *testing.T) {
	t.Parallel()
	g := guard(t, open(t), idempotency.Config{MaxAnswer: 10})
	run := func(context.Context) (idempotency.Answer, bool, error) {
		return idempotency.Answer{Status: 200, Body: make([]byte, 11)}, true, nil
	}
	if result, err := g.Once(t.Context(), "k", print32, run); err != nil || result.Stored ||
		len(result.Answer.Body) != 11 {
		t.Errorf("%+v, %v", result, err)
	}
	if _, err := g.Once(t.Context(), "k", print32, run); !errors.Is(err, idempotency.ErrAnswerTooLong) {
		t.Errorf("error is %v", err)
	}
}

func TestWrongKeysAndSettings(t *testing.T) {
	t.Parallel()
	store := open(t)
	g := guard(t, store, idempotency.Config{})
	for _, key := range []string{"", strings.Repeat("k", 1025)} {
		if _, err := g.Once(t.Context(), key, nil, nil); !errors.Is(err, idempotency.ErrKey) {
			t.Errorf("key of %d bytes: %v", len(key), err)
		}
	}
	for _, s := range []idempotency.Config{{Lease: -1}, {Keep: -1}, {Wait: -1}, {MaxAnswer: -1}} {
		if _, err := idempotency.New(store, s); err == nil {
			t.Errorf("%+v was accepted", s)
		}
	}
	if _, err := idempotency.New(nil, idempotency.Config{}); err == nil {
		t.Error("a guard without a store")
	}
	if n, err := g.Purge(t.Context()); n != 0 || err != nil {
		t.Errorf("purged %d, %v", n, err)
	}
}

// TestOnceEach has many callers of few keys, with failures: each key takes effect once, and every caller gets its
// answer.
func TestOnceEach(t *testing.T) {
	t.Parallel()
	g := guard(t, open(t), idempotency.Config{Wait: 20 * time.Second})
	var mu sync.Mutex
	effects, answers := map[string]int{}, map[string][]string{}
	var all sync.WaitGroup
	for i := range 64 {
		key := fmt.Sprint("key", i%8)
		all.Go(func() {
			result, err := g.Once(t.Context(), key, print32, func(context.Context) (idempotency.Answer, bool, error) {
				mu.Lock()
				defer mu.Unlock()
				effects[key]++
				return idempotency.Answer{Status: 200, Body: fmt.Append(nil, key, effects[key])}, true, nil
			})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			answers[key] = append(answers[key], string(result.Answer.Body))
		})
	}
	all.Wait()
	for key, n := range effects {
		if want := slices.Repeat([]string{key + "1"}, 8); n != 1 || !slices.Equal(answers[key], want) {
			t.Errorf("%s took effect %d times, answers %v", key, n, answers[key])
		}
	}
}
