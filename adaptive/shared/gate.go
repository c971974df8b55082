package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/limiter"
	"stepback/adaptive/poison"
)

// Config configures a [Gate]. The zero Config has the defaults.
type Config struct {
	// Cache is the time for which a reading is used; 0 means 1 s. A longer time costs less but reacts later.
	Cache time.Duration
	// Timeout limits every access to the store; 0 means 200 ms.
	Timeout time.Duration
	// Now is the clock; nil means the machine's.
	Now func() time.Time
	// Draw returns uniformly distributed numbers in [0, 1); nil means those of math/rand/v2.
	Draw func() float64
	// Unavailable is called if the store could not be reached and the gate fails open.
	Unavailable func(error)
	// Read is called with the circuit after every read of the store. Changed is called only after reads that found
	// a changed circuit, and after the first read.
	Changed, Read func(breaker.Circuit)
}

// Gate guards one callee in one process. Create one with [NewGate]; it is safe for concurrent use.
type Gate struct {
	store    Store
	callee   string
	policies Policies
	config   Config

	mu         sync.Mutex
	record     Record
	known      bool
	asked      time.Time // when the store was last accessed
	refreshing bool
	pending    limiter.Tally
	typical    time.Duration // smoothed, of this process's successes
	memory     poison.Memory
}

// NewGate returns a gate. It returns an error if store is nil, a policy is out of range, a duration is negative, or the
// callee's name is empty or longer than 256 bytes.
func NewGate(store Store, callee string, p Policies, c Config) (*Gate, error) {
	if callee == "" || len(callee) > 256 {
		return nil, fmt.Errorf("shared: the callee's name has %d characters; it must have 1 to 256", len(callee))
	}
	if store == nil {
		return nil, errors.New("shared: the store is nil")
	}
	if err := errors.Join(p.Breaker.Validate(), p.Limiter.Validate()); err != nil {
		return nil, err
	}
	if c.Cache < 0 || c.Timeout < 0 {
		return nil, fmt.Errorf("shared: Cache is %s and Timeout is %s; they must be 0 (default) or more", c.Cache, c.Timeout)
	}
	c.Cache, c.Timeout = cmp.Or(c.Cache, time.Second), cmp.Or(c.Timeout, 200*time.Millisecond)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Draw == nil {
		c.Draw = rand.Float64
	}
	return &Gate{store: store, callee: callee, policies: p, config: c}, nil
}

// Permit is the right to make one call. Pass it to [Gate.Record] when the call has ended.
type Permit struct {
	permit breaker.Permit
	began  time.Time
	open   bool // given while the store was out of reach
	known  bool // record and retries are known
	record uint64
	tried  int
}

// Of returns the permit for a call of a record, given by a hash. retries is the state's number of retries so far
// ($$.State.RetryCount), which includes those after refused calls; 0 is the first attempt. Without it, the call does
// not help to tell poison apart.
func (p Permit) Of(record uint64, retries int) Permit {
	p.known, p.record, p.tried = retries >= 0, record, retries
	return p
}

// Allow requests permission to make a call. If the call is refused, the error is a *[breaker.OpenError] or a
// *[limiter.ExhaustedError]. If the store cannot be reached, nothing is refused.
func (g *Gate) Allow(ctx context.Context) (Permit, error) {
	now := g.config.Now()
	g.mu.Lock()
	g.pending.Asked++
	stale := !g.refreshing && g.stale(now)
	if stale {
		g.refreshing, g.asked = true, now
	}
	g.mu.Unlock()
	if stale {
		g.refresh(ctx, now)
	}
	g.mu.Lock()
	record, known := g.record, g.known
	g.mu.Unlock()
	switch {
	case !known:
		return g.admitted(Permit{began: now, open: true}), nil
	case record.Breaker.Circuit() == breaker.Closed:
		if share := record.Share(&g.policies); share < 1 && g.config.Draw() >= share {
			limit := record.Limiter.Limit(&g.policies.Limiter)
			return Permit{}, &limiter.ExhaustedError{Limit: limit, InFlight: int64(limit / share),
				Momentary: record.Limiter.Momentary()}
		}
		permit, _ := record.Breaker.Allow(&g.policies.Breaker, now)
		return g.admitted(Permit{permit: permit, began: now}), nil
	}
	return g.probe(ctx, record, now)
}

func (g *Gate) admitted(p Permit) Permit {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pending.Admitted++
	return p
}

// tries limits how often a write is attempted when other processes keep writing first.
const tries = 4

// probe takes a probe of a circuit that is half-open or about to be, with a separate write.
func (g *Gate) probe(ctx context.Context, record Record, now time.Time) (Permit, error) {
	for range tries {
		next := record
		permit, ok := next.Breaker.Allow(&g.policies.Breaker, now)
		if !ok || permit.Probe == 0 {
			return g.refused(permit, ok, record, now)
		}
		next.Version++
		won, err := g.replace(ctx, next, limiter.Tally{})
		if err != nil {
			g.unavailable(err)
			return g.admitted(Permit{began: now, open: true}), nil
		}
		if won {
			g.learn(next)
			return g.admitted(Permit{permit: permit, began: now}), nil
		}
		if record, _, err = g.add(ctx, limiter.Tally{}); err != nil {
			g.unavailable(err)
			return g.admitted(Permit{began: now, open: true}), nil
		}
		g.learn(record)
	}
	return Permit{}, &breaker.OpenError{Circuit: breaker.HalfOpen, RetryAfter: g.config.Cache}
}

// refused returns the result for a call that got no probe. If another process has closed the circuit in the
// meantime, the call is admitted.
func (g *Gate) refused(permit breaker.Permit, closed bool, record Record, now time.Time) (Permit, error) {
	if closed {
		return g.admitted(Permit{permit: permit, began: now}), nil
	}
	return Permit{}, &breaker.OpenError{
		Circuit: record.Breaker.Circuit(), RetryAfter: record.Breaker.RetryAfter(&g.policies.Breaker, now),
	}
}

// stale reports whether the last reading is too old, or was made before the clock was set back.
func (g *Gate) stale(now time.Time) bool {
	return g.asked.IsZero() || now.Sub(g.asked) >= g.config.Cache || now.Before(g.asked)
}

// Record records the outcome of the call that permit allowed.
func (g *Gate) Record(ctx context.Context, permit Permit, outcome breaker.Outcome) {
	now := g.config.Now()
	g.mu.Lock()
	g.remember(permit, outcome, now.Sub(permit.began))
	g.mu.Unlock()
	if permit.permit.Probe != 0 {
		g.probed(ctx, permit, outcome, now)
		return
	}
	g.mu.Lock()
	if permit.open || permit.permit.Generation == g.record.Breaker.Generation() {
		took := max(now.Sub(permit.began), 0)
		switch outcome {
		case breaker.Success:
			g.pending.Successes++
			g.pending.Busy += took
			if g.typical == 0 {
				g.typical = took
			}
			g.typical += (took - g.typical) / 16
		case breaker.Failure, breaker.Throttled, breaker.TimedOut:
			if outcome == breaker.Throttled {
				took = max(took, g.typical)
			}
			g.pending.Failures++
			g.pending.Busy += took
			g.pending.Lost += took
			g.pending.Spared += took - limiter.Lost(outcome, took, g.typical)
		case breaker.Ignored:
		}
	}
	stale := !g.refreshing && g.stale(now)
	if stale {
		g.refreshing, g.asked = true, now
	}
	g.mu.Unlock()
	if stale {
		g.refresh(ctx, now)
	}
}

// remember counts an ended call as a first attempt, or as a retry of a record that this process saw fail.
func (g *Gate) remember(p Permit, outcome breaker.Outcome, took time.Duration) {
	if outcome == breaker.Ignored {
		return
	}
	failed := outcome.Failed()
	if !p.known {
		g.pending.Attempts.Add(poison.Attempt{Retry: -1, Failed: failed})
		return
	}
	retry := g.memory.Failures(p.record)
	if retry == 0 && p.tried > 0 {
		retry = -1 // it was refused, or failed in another process
	}
	g.pending.Attempts.Add(poison.Attempt{
		Retry: retry, After: g.memory.Last(p.record), Failed: failed, Cheap: g.cheap(took),
	})
	g.memory.Ended(p.record, failed, poison.KindOf(outcome))
}

// probed records the outcome of a probe with a separate write. If the write fails, the probe expires.
func (g *Gate) probed(ctx context.Context, permit Permit, outcome breaker.Outcome, now time.Time) {
	for range 2 * tries {
		record, _, err := g.add(ctx, limiter.Tally{})
		if err != nil {
			g.unavailable(err)
			return
		}
		next := record
		next.Breaker.Record(&g.policies.Breaker, permit.permit, now, outcome)
		next.Version++
		won, err := g.replace(ctx, next, limiter.Tally{})
		if err != nil {
			g.unavailable(err)
			return
		}
		if won {
			g.learn(next)
			return
		}
	}
}

// refresh adds the pending counts, reads the shared state, and advances the record if a second has passed and no
// other process has done so.
func (g *Gate) refresh(ctx context.Context, now time.Time) {
	g.mu.Lock()
	pending := g.pending
	g.pending = limiter.Tally{}
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.refreshing = false
		g.mu.Unlock()
	}()
	record, tally, err := g.add(ctx, pending)
	if err != nil {
		g.mu.Lock()
		g.pending = g.pending.Plus(pending)
		g.known = false
		g.mu.Unlock()
		g.unavailable(err)
		return
	}
	if since := now.Sub(record.At); since >= tick || since < -skew {
		next := record.Advance(&g.policies, tally, now)
		won, err := g.replace(ctx, next, tally)
		switch {
		case err != nil:
			g.unavailable(err) // the reading is valid all the same
		case won:
			record = next
		}
	}
	g.learn(record)
}

// tick is the minimum time between two records made from counters.
const tick = time.Second

// skew is the largest difference between the clocks of processes. A record that is further in the future was written
// before the clock was set back.
const skew = time.Minute

func (g *Gate) add(ctx context.Context, t limiter.Tally) (Record, limiter.Tally, error) {
	ctx, cancel := context.WithTimeout(ctx, g.config.Timeout)
	defer cancel()
	return g.store.Add(ctx, g.callee, t)
}

func (g *Gate) replace(ctx context.Context, next Record, taken limiter.Tally) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, g.config.Timeout)
	defer cancel()
	return g.store.Replace(ctx, g.callee, next, taken)
}

// learn keeps the newer of two records.
func (g *Gate) learn(r Record) {
	g.mu.Lock()
	before, known := g.record.Breaker.Circuit(), g.known
	if !known || r.Version >= g.record.Version {
		g.record, g.known = r, true
	}
	after := g.record.Breaker.Circuit()
	g.mu.Unlock()
	if g.config.Changed != nil && (before != after || !known) {
		g.config.Changed(after)
	}
	if g.config.Read != nil {
		g.config.Read(after)
	}
}

func (g *Gate) unavailable(err error) {
	if g.config.Unavailable != nil {
		g.config.Unavailable(err)
	}
}

// Away reports whether the callee was down or overloaded when the store was last read. This is so if its circuit is
// not closed, if failures have brought the limit down to its minimum, or if calls are refused because of the limit.
// A failing call then carries no new information, because more calls are admitted than the callee can serve yet.
func (g *Gate) Away() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known && (g.record.Breaker.Circuit() != breaker.Closed ||
		g.record.Limiter.Limit(&g.policies.Limiter) <= g.policies.Limiter.Min || g.record.Share(&g.policies) < 1)
}

// Blameless reports whether the failures of a record, as far as this gate recorded them, are plausible for one that is
// not poison, because the callee failed others as well. A record whose own retries are used up should wait then.
func (g *Gate) Blameless(p Permit) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known && p.known && g.record.Poison.Blameless(g.memory.Failures(p.record), g.memory.Last(p.record))
}

// Futile reports whether the next retry of a record whose call failed, as recorded by this gate, is known to be futile:
// the callee serves most first attempts, and records that failed as often do not recover. took is the duration of the
// call; if it was shorter than that of a success, Futile reports false. It also reports false for one in fifty, so that
// a change is noticed.
func (g *Gate) Futile(p Permit, took time.Duration) bool {
	g.mu.Lock()
	failures, last := g.memory.Failures(p.record), g.memory.Last(p.record)
	futile := g.known && p.known && !g.cheap(took) && g.record.Poison.Futile(failures, last)
	g.mu.Unlock()
	return futile && g.config.Draw() >= poison.Explored
}

// cheap reports whether a failure that took so long took less time than the successes of the last span, or nothing is
// known of those.
func (g *Gate) cheap(took time.Duration) bool {
	last := &g.record.Last
	return last.Successes <= 0 || took < (last.Busy-last.Lost)/time.Duration(last.Successes)
}

// Circuit returns the circuit as of the last reading of the store; Closed if nothing is known.
func (g *Gate) Circuit() breaker.Circuit {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.known {
		return breaker.Closed
	}
	return g.record.Breaker.Circuit()
}

// Health describes a callee as of the last reading of the store.
type Health struct {
	// FailureRate is the share of the recent calls that failed. Load is the share of calls that are refused. Both are 0
	// to 1.
	FailureRate, Load float64
	// FailingFor is the time since a call succeeded, if one has (Succeeded).
	FailingFor time.Duration
	Succeeded  bool
}

// Callee returns the callee's health; false if no recent call ended, or nothing is known.
func (g *Gate) Callee() (Health, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	done := g.record.Last.Successes + g.record.Last.Failures
	if !g.known || done <= 0 {
		return Health{}, false
	}
	h := Health{
		FailureRate: float64(g.record.Last.Failures) / float64(done),
		Load:        1 - min(max(g.record.Share(&g.policies), 0), 1),
	}
	if h.Succeeded = !g.record.Succeeded.IsZero(); h.Succeeded {
		h.FailingFor = max(g.config.Now().Sub(g.record.Succeeded), 0)
	}
	return h, true
}
