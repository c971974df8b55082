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

	"stepback/resilience"
	"stepback/retry"
)

// Config says what a [Guard] does; the zero value is usable.
type Config struct {
	// Lease is how long a claim lasts unless it is renewed, which is done every third of it while the request runs; 0
	// is 30 s. It is how long the next request has to wait when a process has died.
	Lease time.Duration
	// Keep is how long an answer is kept; 0 is 24 h.
	Keep time.Duration
	// Wait is how long a request waits for another one under its key; 0 is not at all.
	Wait time.Duration
	// MaxAnswer is how many bytes of an answer are kept; 0 is 1 MiB, and no more than the store holds.
	MaxAnswer int
	// Clock is the time; the machine's when nil.
	Clock resilience.Clock
	// OnError is told of what went wrong beside a request that was answered all the same, such as a store that did not
	// take an answer; nil is not called.
	OnError func(key string, err error)
}

// Guard runs each key once.
type Guard struct {
	store    Store
	config   Config
	renewals *resilience.Executor // of claims, answers and releases

	mu    sync.Mutex
	local map[string]*running // keys that this process runs
}

// running is a key that runs in this process. done is closed when it has ended.
type running struct{ done chan struct{} }

// polling is how a guard looks whether another process has finished.
var polling = retry.Policy{
	Interval: 20 * time.Millisecond, Rate: 1.5, MaxDelay: 500 * time.Millisecond, Jitter: retry.JitterPartial,
}

// What Settings are where they are 0.
const (
	defaultLease     = 30 * time.Second
	defaultKeep      = 24 * time.Hour
	defaultMaxAnswer = 1 << 20
	maxKey           = 1024
	tooLong          = -1 // the status that stands for an answer that was not kept
)

// New makes a guard. A negative setting is an error.
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

// Result is what Once answers.
type Result struct {
	Answer Answer
	// Replayed says that the answer is that of an earlier request.
	Replayed bool
	// Stored says that the answer is kept: later requests will get it.
	Stored bool
}

// RunningError says that another request under the key runs. errors.Is sees [ErrRunning].
type RunningError struct {
	// After is how long the other one's lease lasts, if it is not renewed.
	After time.Duration
}

// Error says when to come back.
func (e *RunningError) Error() string {
	return fmt.Sprintf("%v; try again in %s at the latest", ErrRunning, e.After)
}

// Unwrap is ErrRunning.
func (e *RunningError) Unwrap() error { return ErrRunning }

// RetryAfter is After.
func (e *RunningError) RetryAfter() time.Duration { return e.After }

// Once runs a request under a key unless its answer is known. run gets a context that ends when the lease is lost. An
// answer with keep false, an error and a panic of run's release the key: the next request under it runs. Errors of the
// guard are a [*RunningError], ErrMismatch, ErrAnswerTooLong, ErrLeaseLost, ErrKey, or the store's.
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

// Purge forgets keys that have expired, in steps of 1,000; call it now and then.
func (g *Guard) Purge(ctx context.Context) (int, error) {
	const step = 1000
	for all := 0; ; {
		n, err := g.store.Purge(ctx, g.config.Clock.Now(), step)
		if all += n; err != nil || n < step {
			return all, err
		}
	}
}

// claim claims the key, and waits while another request has it.
func (g *Guard) claim(ctx context.Context, key string, fingerprint []byte, token string) (Standing, error) {
	now := g.config.Clock.Now()
	patience := now.Add(g.config.Wait)
	previous := time.Duration(0)
	for look := 1; ; look++ {
		var standing Standing
		// A claim whose answer was lost is asked for again, and is the same claim.
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

// await waits for d, or until a request of this process under the key has ended.
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
		return ctx.Err()
	}
	return nil
}

// run runs what was claimed.
func (g *Guard) run(ctx context.Context, key, token string,
	run func(context.Context) (Answer, bool, error)) (result Result, err error) {
	here := &running{done: make(chan struct{})}
	g.mu.Lock()
	g.local[key] = here
	g.mu.Unlock()
	settled := false
	defer func() {
		if !settled { // an error or a panic: whoever comes next may run
			if problem := g.release(ctx, key, token); problem != nil {
				g.report(key, fmt.Errorf("the key was not released, and is blocked until its lease ends: %w", problem))
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
	settled = true // from here on nobody may run it again before the lease ends
	err = g.finish(ctx, key, token, stored)
	if errors.Is(err, ErrLeaseLost) {
		return Result{}, err
	}
	if err != nil {
		g.report(key, fmt.Errorf("the answer was not stored, and after the lease the request may run again: %w", err))
	}
	return Result{Answer: answer, Stored: err == nil && stored.Status != tooLong}, nil
}

// underLease runs, and renews the lease meanwhile.
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

// finish stores an answer, and tries again for as long as that can help. The caller's going away does not stop it.
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
