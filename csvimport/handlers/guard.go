package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"stepback/adaptive/breaker"
	"stepback/adaptive/configuration"
	"stepback/adaptive/deadline"
	"stepback/adaptive/limiter"
	"stepback/adaptive/shared"
	"stepback/adaptive/worth"
	"stepback/csvimport"
	"stepback/retry"
	"stepback/retrypatterns"
	"stepback/statemachine"
)

// Gate is a circuit breaker and a limiter for a callee. *shared.Gate implements it.
type Gate interface {
	Allow(context.Context) (shared.Permit, error)
	Record(context.Context, shared.Permit, breaker.Outcome)
	Circuit() breaker.Circuit
	Away() bool
	Blameless(shared.Permit) bool
	Futile(p shared.Permit, took time.Duration) bool
	Callee() (shared.Health, bool)
}

// Worth decides whether another attempt is worth its cost. The second result is false if it cannot tell; the attempt
// is then made.
type Worth interface {
	Decide(ctx context.Context, a configuration.Attempt) (worth.Decision, bool)
}

// Guard decides whether a function may call its callee. A refused call fails with an error name that determines
// what happens next: the state machine waits (CircuitOpen, RetryBudgetExhausted), waits briefly (LimitReached), retries
// with a whole deadline (TimeoutError), or gives the record up (RetryNotWorthwhile).
//
// A call that was made is reported like a refused one in three cases: if it failed because of load while the callee
// is known to be unavailable, if the callee refused it because of its load, or if the record has used up its own
// retries while the callee fails others as well. The record then waits until the callee has recovered. A record that
// fails while the callee serves others, as records did that never recovered, is given up. The zero Guard refuses
// nothing.
type Guard struct {
	// Gate is the callee's breaker and limiter; nil means none.
	Gate Gate
	// Margin is the part of the invocation's time that is reserved for reporting; 0 means deadline.Margin. A call is
	// refused if it would not end in time, judged by the 95th percentile of earlier calls.
	Margin time.Duration
	// Worth decides whether another attempt is worth its cost: a *configuration.Reader. It is consulted after
	// failures that are retried, if the event contains the number of the attempt. A guard with nil Worth gives
	// nothing up.
	Worth Worth
	// Now returns the current time; nil means time.Now.
	Now func() time.Time

	mu     sync.Mutex
	times  deadline.Times
	usual  time.Duration // the 95th percentile of times, as of its last computation
	counts int           // calls since that computation
	failed string        // name and message of the last failure that was the callee's fault
	at     time.Time     // when that call had failed

	retriers map[string][]retrypatterns.Retrier // by state, as far as they were needed
}

// enough is the number of calls needed before their percentile is meaningful. The percentile is recomputed after as
// many further calls.
const enough = 20

func (g *Guard) now() time.Time {
	if g.Now != nil {
		return g.Now()
	}
	return time.Now()
}

// check returns an error for a call that would not end in time.
func (g *Guard) check(ctx context.Context) error {
	margin := g.Margin
	if margin == 0 {
		margin = deadline.Margin
	}
	if _, ok := ctx.Deadline(); !ok {
		return nil
	}
	g.mu.Lock()
	needed := g.usual
	g.mu.Unlock()
	return deadline.Check(ctx, g.now(), needed, margin)
}

// took records the duration of a successful call.
func (g *Guard) took(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.times.Add(d)
	if g.counts++; g.counts >= enough {
		g.usual, g.counts = g.times.Quantile(0.95), 0
	}
}

// fault remembers a failure that was the callee's fault.
func (g *Guard) fault(name, message string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed, g.at = name+": "+message, g.now()
}

// recent is the time for which a failure is named as the possible cause of a refused call.
const recent = 15 * time.Minute

// lastFault returns the last failure that was the callee's fault, as a clause of a message; empty if none is known that
// is recent.
func (g *Guard) lastFault() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed == "" || g.now().Sub(g.at) > recent {
		return ""
	}
	return "; the last failed call: " + g.failed
}

// Guarded returns a function that asks the guard before each call and reports how the call ended. A nil guard changes
// nothing.
func Guarded[Output any](g *Guard, f Func[Output]) Func[Output] {
	if g == nil {
		return f
	}
	return func(ctx context.Context, event json.RawMessage) (out Output, err error) {
		if err := g.check(ctx); err != nil {
			return out, encode(g.refusal(err, attempt{}))
		}
		if g.Gate == nil {
			out, _, err = call(ctx, g, f, event)
			return out, g.giveUpUnlessWorthwhile(ctx, event, err)
		}
		permit, err := g.Gate.Allow(ctx)
		try, known := attemptOf(event)
		if err != nil {
			return out, encode(g.refusal(err, try))
		}
		if known {
			permit = permit.Of(try.record, try.Retries)
		}
		began := g.now()
		outcome := breaker.Ignored // also for a panic, which is a bug and not the callee's fault
		func() {
			// An invocation that is cut off still reports its outcome.
			defer func() { g.Gate.Record(context.WithoutCancel(ctx), permit, outcome) }()
			out, outcome, err = call(ctx, g, f, event)
		}()
		if outcome.Failed() {
			name, message := nameAndMessage(err)
			g.fault(name, message)
			switch {
			case known && g.Gate.Futile(permit, g.now().Sub(began)):
				return out, encode(csvimport.Fail(retry.RetryNotWorthwhile,
					"the callee serves other records, and records that failed like this one did not recover; after %s: %s",
					name, message))
			case g.Gate.Away(), refusedForLoad(err), known && g.usedUp(try, name) && g.Gate.Blameless(permit):
				return out, encode(awayFailure(g.Gate.Circuit(), err))
			}
		}
		return out, g.giveUpUnlessWorthwhile(ctx, event, err)
	}
}

// attempt is the member of the event that says which attempt of a state it is.
type attempt struct {
	State   string    `json:"state"`
	Retries int       `json:"retries"`
	Entered time.Time `json:"entered"`
	// Brief is the number of the state's retries after LimitReached; 0 if the definition has none.
	Brief int `json:"brief"`

	record uint64 // a hash of the rest of the event
}

// records is the seed of the hashes of events.
var records = maphash.MakeSeed()

// attemptOf returns the attempt that an event describes. It returns false if the event does not say which one it is.
func attemptOf(event json.RawMessage) (attempt, bool) {
	if try, ok := lastMember(event); ok {
		return try, true
	}
	var members map[string]json.RawMessage
	var try attempt
	if json.Unmarshal(event, &members) != nil || members["attempt"] == nil ||
		json.Unmarshal(members["attempt"], &try) != nil || try.State == "" || try.Retries < 0 {
		return attempt{}, false
	}
	delete(members, "attempt")
	var h maphash.Hash
	h.SetSeed(records)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		_, _ = h.WriteString(name) // never fails
		_, _ = h.Write(members[name])
	}
	try.record = h.Sum64()
	return try, true
}

// lastMember is attemptOf for an event whose last member is the attempt, as the generated state machines write it. It
// does not parse the rest, which may be a batch of rows. It returns false for any other event: a quotation mark within
// a string has a backslash, and what follows a member of an inner object is not only the end of the event.
func lastMember(event json.RawMessage) (try attempt, ok bool) {
	const name = `,"attempt":`
	at := bytes.LastIndex(event, []byte(name))
	if at < 0 {
		return attempt{}, false
	}
	text, ok := bytes.CutSuffix(event[at+len(name):], []byte("}"))
	if !ok || json.Unmarshal(text, &try) != nil || try.State == "" || try.Retries < 0 {
		return attempt{}, false
	}
	try.record = maphash.Bytes(records, event[:at])
	return try, true
}

// usedUp reports whether a record was retried at least as often as its state's retrier for an error allows, by the
// default retry table. Retries after refused calls count too.
func (g *Guard) usedUp(try attempt, name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	retriers, ok := g.retriers[try.State]
	if !ok {
		if c, err := statemachine.DefaultTable().Compile(try.State); err == nil {
			retriers = c.Retry
		}
		if g.retriers == nil {
			g.retriers = map[string][]retrypatterns.Retrier{}
		}
		g.retriers[try.State] = retriers
	}
	for _, r := range retriers {
		if slices.Contains(r.ErrorEquals, name) || slices.Contains(r.ErrorEquals, retry.StatesALL) {
			return try.Retries >= r.MaxAttempts
		}
	}
	return false
}

// refusedForLoad reports whether the callee itself refused a call because of its load. The limiter would have
// refused the call, had it known about the load.
func refusedForLoad(err error) bool {
	name, _ := nameAndMessage(err)
	return name == retry.TooManyRequestsError || name == retry.S3SlowDown
}

// awayFailure returns the failure of a call made while the callee is known to be unavailable.
func awayFailure(circuit breaker.Circuit, err error) error {
	name, message := nameAndMessage(err)
	if circuit == breaker.Closed {
		return csvimport.Fail(retry.RetryBudgetExhausted,
			"the callee is overloaded or fails many calls, and this call failed as well: %s: %s", name, message)
	}
	return csvimport.Fail(retry.CircuitOpen, "the callee's circuit is %s, and this call failed as well: %s: %s",
		circuit, name, message)
}

// call makes the call and records the duration of a successful one.
func call[Output any](ctx context.Context, g *Guard, f Func[Output], event json.RawMessage) (out Output,
	outcome breaker.Outcome, err error) {
	begin := g.now()
	out, err = f(ctx, event)
	if outcome = outcomeOf(err); outcome == breaker.Success {
		g.took(g.now().Sub(begin))
	}
	return out, outcome, err
}

// giveUpUnlessWorthwhile replaces an error by RetryNotWorthwhile if another attempt is not worth its cost.
func (g *Guard) giveUpUnlessWorthwhile(ctx context.Context, event json.RawMessage, err error) error {
	name, message := nameAndMessage(err)
	if g.Worth == nil || name == "" || statemachine.IsPermanent(name) {
		return err
	}
	try, ok := attemptOf(event)
	if !ok {
		return err // the state machine's event does not say which attempt it is
	}
	a := configuration.Attempt{State: try.State, Error: name, Retries: try.Retries,
		Began: try.Entered, Failed: g.now(), Bytes: len(event)}
	if h, known := g.callee(); known {
		a.FailureRate, a.Load = &h.FailureRate, &h.Load
		if seconds := h.FailingFor.Seconds(); h.Succeeded {
			a.FailingFor = &seconds
		}
	}
	d, known := g.Worth.Decide(context.WithoutCancel(ctx), a)
	if !known || d.Retry {
		return err
	}
	return encode(csvimport.Fail(retry.RetryNotWorthwhile, "%s; after %s: %s", d.Reason, name, message))
}

// callee returns the callee's health, if the gate knows it.
func (g *Guard) callee() (shared.Health, bool) {
	if g.Gate == nil {
		return shared.Health{}, false
	}
	return g.Gate.Callee()
}

// outcomeOf returns the outcome to record for the callee. Errors of the load type are failures of the callee. Any
// other error is ignored, because it came from the event, or from a callee that responds.
func outcomeOf(err error) breaker.Outcome {
	name, _ := nameAndMessage(err)
	switch {
	case err == nil:
		return breaker.Success
	case retry.IsLoadError(name):
		return breaker.FailureAs(name)
	}
	return breaker.Ignored
}

// nameAndMessage returns the name and message under which an error of a Func reaches Step Functions.
func nameAndMessage(err error) (name, message string) {
	var answer messages.InvokeResponse_Error
	if errors.As(err, &answer) {
		return answer.Type, answer.Message
	}
	return "", ""
}

// refusal converts a guard's refusal of an attempt to a failure whose name depends on the kind of refusal.
func (g *Guard) refusal(err error, try attempt) error {
	var open *breaker.OpenError
	var exhausted *limiter.ExhaustedError
	var late *deadline.TooLateError
	switch {
	case errors.As(err, &open):
		return csvimport.Fail(retry.CircuitOpen, "the callee's circuit is %s; try again in %s%s", open.Circuit,
			open.RetryAfter, g.lastFault())
	case errors.As(err, &exhausted) && exhausted.Momentary && try.Retries < try.Brief:
		return csvimport.Fail(retry.LimitReached,
			"the callee accepts %d concurrent calls, and all are in use at the moment; it keeps up with most calls%s",
			int64(exhausted.Limit), g.lastFault())
	case errors.As(err, &exhausted):
		return csvimport.Fail(retry.RetryBudgetExhausted,
			"the callee accepts %d concurrent calls, and all are in use%s",
			int64(exhausted.Limit), g.lastFault())
	case errors.As(err, &late):
		return csvimport.Fail(retry.TimeoutError, "a call that takes %s was not started, because only %s are left",
			late.Needed,
			max(late.Left, 0))
	}
	return err
}
