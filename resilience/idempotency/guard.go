package idempotency

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"stepback/internal/ctxerr"
	"stepback/resilience"
	"stepback/retry"
)

// Config configures a [Guard]; the zero value is usable.
type Config struct {
	// Lease is the time that a claim lasts without renewal; 0 means 30 s. It is renewed every third of that time while
	// the request runs. If the process of a request dies, the next request waits at most this long.
	Lease time.Duration
	// Keep is the time for which an answer is kept; 0 means 24 h.
	Keep time.Duration
	// Wait is the maximum time for which a request waits for another one under its key; 0 means that it does not
	// wait.
	Wait time.Duration
	// MaxAnswer is the maximum size of an answer that is kept, in bytes; 0 means 1 MiB. The store's own limit
	// applies as well.
	MaxAnswer int
	// Clock is the time source; nil means the system's clock.
	Clock resilience.Clock
	// OnError receives errors that did not fail a request, such as a store that did not accept an answer. It may be
	// nil.
	OnError func(key string, err error)
}

// Guard runs one request for each key.
type Guard struct {
	store    Store
	config   Config
	renewals *resilience.Executor // claims, renewals, answers and releases

	mu    sync.Mutex
	local map[string]*running // keys that run in this process
}

// running represents a key that runs in this process. done is closed when the run has ended.
type running struct{ done chan struct{} }

// polling determines how often a guard checks whether another process has finished.
var polling = retry.Policy{
	Interval: 20 * time.Millisecond, Rate: 1.5, MaxDelay: 500 * time.Millisecond, Jitter: retry.JitterPartial,
}

// The defaults of Settings, and further limits.
const (
	defaultLease     = 30 * time.Second
	defaultKeep      = 24 * time.Hour
	defaultMaxAnswer = 1 << 20
	maxKey           = 1024
	tooLong          = -1 // the status stored for an answer that was too long to keep
)

// New returns a guard. It returns an error if store is nil or a setting is negative.
func New(store Store, s Config) (*Guard, error) {
	if store == nil {
		return nil, &resilience.ConfigError{Setting: "store", Value: "nil", Want: "a store"}
	}
	for _, d := range []struct {
		name string
		is   time.Duration
	}{{"Lease", s.Lease}, {"Keep", s.Keep}, {"Wait", s.Wait}, {"MaxAnswer", time.Duration(s.MaxAnswer)}} {
		if d.is < 0 {
			return nil, &resilience.ConfigError{
				Setting: d.name,
				Value:   strconv.FormatInt(int64(d.is), 10),
				Want:    "0 or more",
			}
		}
	}
	s.Lease, s.Keep = cmp.Or(s.Lease, defaultLease), cmp.Or(s.Keep, defaultKeep)
	s.MaxAnswer = cmp.Or(s.MaxAnswer, defaultMaxAnswer)
	if limit := store.MaxAnswer(); limit > 0 {
		s.MaxAnswer = min(s.MaxAnswer, limit)
	}
	options := []resilience.Option{
		resilience.WithName("idempotency store"),
		resilience.WithIdempotent(),
		resilience.WithRepeatConflicts(),
	}
	if s.Clock != nil {
		options = append(options, resilience.WithClock(s.Clock))
	} else {
		s.Clock = resilience.MachineClock()
	}
	interactive, _ := retry.PresetNamed("interactive")
	renewals, err := resilience.New(interactive.Policy, options...)
	if err != nil {
		return nil, err
	}
	return &Guard{store: store, config: s, renewals: renewals, local: map[string]*running{}}, nil
}

// Result is the result of Once.
type Result struct {
	Answer Answer
	// Replayed is true if the answer is that of an earlier request.
	Replayed bool
	// Stored is true if the answer is kept and later requests will get it.
	Stored bool
}

// RunningError is returned if another request under the key is running. errors.Is finds [ErrRunning].
type RunningError struct {
	// After is the time until the other request's lease ends, unless it is renewed.
	After time.Duration
}

// Error states when to try again.
func (e *RunningError) Error() string {
	return fmt.Sprintf("%v; try again in %s at the latest", ErrRunning, e.After)
}

// Unwrap returns ErrRunning.
func (e *RunningError) Unwrap() error { return ErrRunning }

// RetryAfter returns After.
func (e *RunningError) RetryAfter() time.Duration { return e.After }

// Once runs a request under a key unless its answer is already known. The context passed to run ends when the lease
// is lost. If run returns keep false or an error, or panics, the key is released, and the next request under it runs.
// The guard's own errors are a [*RunningError], ErrMismatch, ErrAnswerTooLong, ErrLeaseLost, ErrKey, or the store's.
func (g *Guard) Once(ctx context.Context, key string, fingerprint []byte,
	run func(ctx context.Context) (a Answer, keep bool, err error)) (Result, error) {
	if key == "" || len(key) > maxKey {
		return Result{}, ErrKey
	}
	token := uuid.NewString()
	standing, err := g.claim(ctx, key, fingerprint, token)
	if err != nil {
		return Result{}, err
	}
	switch standing.State {
	case Claimed:
		return g.run(ctx, key, token, run)
	case Mismatched:
		return Result{}, ErrMismatch
	case Done:
		if standing.Answer.Status == tooLong {
			return Result{}, ErrAnswerTooLong
		}
		return Result{Answer: standing.Answer, Replayed: true, Stored: true}, nil
	default:
		return Result{}, &RunningError{max(standing.Until.Sub(g.config.Clock.Now()), 0)}
	}
}

// Purge deletes expired keys, in steps of 1,000. Call it from time to time.
func (g *Guard) Purge(ctx context.Context) (int, error) {
	const step = 1000
	for all := 0; ; {
		n, err := g.store.Purge(ctx, g.config.Clock.Now(), step)
		if all += n; err != nil || n < step {
			return all, err
		}
	}
}

// claim claims the key, and waits while another request holds it.
func (g *Guard) claim(ctx context.Context, key string, fingerprint []byte, token string) (Standing, error) {
	now := g.config.Clock.Now()
	patience := now.Add(g.config.Wait)
	previous := time.Duration(0)
	for look := 1; ; look++ {
		var standing Standing
		// If the response to a claim was lost, the repeated claim counts as the same one.
		err := g.renewals.Run(ctx, func(ctx context.Context) (err error) {
			standing, err = g.store.Begin(ctx, Claim{
				Key: key, Fingerprint: fingerprint, Token: token,
				Now: now, Until: now.Add(g.config.Lease), Expires: now.Add(g.config.Keep),
			})
			return err
		})
		if err != nil || standing.State != Running || !now.Before(patience) {
			return standing, err
		}
		previous = polling.DelayAfter(look, previous, nil)
		if err := g.await(ctx, key, min(previous, patience.Sub(now))); err != nil {
			return Standing{}, err
		}
		now = g.config.Clock.Now()
	}
}

// await waits for d, or until the request that runs under the key in this process has ended.
func (g *Guard) await(ctx context.Context, key string, d time.Duration) error {
	g.mu.Lock()
	here := g.local[key]
	g.mu.Unlock()
	if here == nil {
		return g.config.Clock.Sleep(ctx, d)
	}
	late := make(chan struct{})
	defer g.config.Clock.AfterFunc(d, func() { close(late) })()
	select {
	case <-here.done:
	case <-late:
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	}
	return nil
}

// run runs the request of a claimed key.
func (g *Guard) run(ctx context.Context, key, token string,
	run func(context.Context) (Answer, bool, error)) (result Result, err error) {
	here := &running{done: make(chan struct{})}
	g.mu.Lock()
	g.local[key] = here
	g.mu.Unlock()
	settled := false
	defer func() {
		if !settled { // an error or a panic: the next request may run
			if problem := g.release(ctx, key, token); problem != nil {
				g.report(key, fmt.Errorf("the key was not released and stays blocked until its lease ends: %w", problem))
			}
		}
		g.mu.Lock()
		if g.local[key] == here {
			delete(g.local, key)
		}
		g.mu.Unlock()
		close(here.done)
	}()
	answer, keep, err := g.underLease(ctx, key, token, run)
	if err != nil {
		return Result{}, err
	}
	if !keep {
		return Result{Answer: answer}, nil
	}
	stored := answer
	if answer.size() > g.config.MaxAnswer {
		stored = Answer{Status: tooLong}
	}
	settled = true // from here on it must not run again before the lease ends
	err = g.finish(ctx, key, token, stored)
	if errors.Is(err, ErrLeaseLost) {
		return Result{}, err
	}
	if err != nil {
		g.report(key, fmt.Errorf("the response was not stored; after the lease the request may run again: %w", err))
	}
	return Result{Answer: answer, Stored: err == nil && stored.Status != tooLong}, nil
}

// underLease calls run and renews the lease while it runs.
func (g *Guard) underLease(ctx context.Context, key, token string,
	run func(context.Context) (Answer, bool, error)) (Answer, bool, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &renewal{guard: g, key: key, token: token, ctx: context.WithoutCancel(ctx), lost: cancel}
	r.schedule()
	defer r.stop()
	answer, keep, err := run(ctx)
	if err != nil && errors.Is(context.Cause(ctx), ErrLeaseLost) {
		err = errors.Join(ErrLeaseLost, err)
	}
	return answer, keep, err
}

// finish stores an answer, and retries while that can help. It continues even if the caller's context ends.
func (g *Guard) finish(ctx context.Context, key, token string, a Answer) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.config.Lease)
	defer cancel()
	return g.renewals.Run(ctx, func(ctx context.Context) error {
		return g.store.Finish(ctx, key, token, a, g.config.Clock.Now().Add(g.config.Keep))
	})
}

func (g *Guard) release(ctx context.Context, key, token string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.config.Lease)
	defer cancel()
	return g.renewals.Run(ctx, func(ctx context.Context) error { return g.store.Release(ctx, key, token) })
}

func (g *Guard) report(key string, err error) {
	if g.config.OnError != nil {
		g.config.OnError(key, err)
	}
}
