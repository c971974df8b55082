package handlers

import (
	"context"
	"encoding/json"
	"errors"
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
	"stepback/statemachine"
)

// Gate is a breaker and a limiter in front of a callee: *shared.Gate.
type Gate interface {
	Allow(context.Context) (shared.Permit, error)
	Record(context.Context, shared.Permit, breaker.Outcome)
	Circuit() breaker.Circuit
	Away() bool
	Callee() (failureRate, load float64, known bool)
}

// Worth decides whether another attempt is worth its cost; false when it does not know, and then there is another one.
type Worth interface {
	Decide(ctx context.Context, a configuration.Attempt) (worth.Decision, bool)
}

// Guard stands between a function and its callee. What it refuses has the error name by which the state machine waits
// (CircuitOpen, RetryBudgetExhausted), tries again with a whole deadline (TimeoutError), or gives the record up
// (RetryNotWorthwhile). A call that was made and failed by load while the callee is known to be away, or that the
// callee refused for its load, is answered like one that was refused: the record keeps its own retries for when the
// callee is back. The zero Guard refuses nothing.
type Guard struct {
	// Gate is the callee's breaker and limiter; nil for none.
	Gate Gate
	// Margin is what is kept of the invocation's time to report in; deadline.Margin when 0. A call is not begun that
	// would not end in time, judged by the 95th percentile of those before it.
	Margin time.Duration
	// Worth says whether another attempt is worth its cost: a *configuration.Reader. It is asked after failures
	// that are retried, when the event tells which attempt it was; nil for a guard that gives nothing up.
	Worth Worth
	// Now is the clock; the machine's when nil.
	Now func() time.Time

	mu     sync.Mutex
	times  deadline.Times
	usual  time.Duration // the 95th percentile of times, when it was last looked at
	counts int           // calls since then
}

// enough is how many calls must have been seen before their percentile says anything, and how many more before it is
// looked at again.
const enough = 20

func (g *Guard) now() time.Time {
	if g.Now != nil {
		return g.Now()
	}
	return time.Now()
}

// check refuses a call that would not end in time.
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

// took counts a call that ended well.
func (g *Guard) took(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.times.Add(d)
	if g.counts++; g.counts >= enough {
		g.usual, g.counts = g.times.Quantile(0.95), 0
	}
}

// Guarded has a function ask a guard before each call and tell it how the call ended. A nil guard changes nothing.
func Guarded[Output any](g *Guard, f Func[Output]) Func[Output] {
	if g == nil {
		return f
	}
	return func(ctx context.Context, event json.RawMessage) (out Output, err error) {
		if err := g.check(ctx); err != nil {
			return out, encode(refusal(err))
		}
		if g.Gate == nil {
			out, _, err = call(ctx, g, f, event)
			return out, g.judged(ctx, event, err)
		}
		permit, err := g.Gate.Allow(ctx)
		if err != nil {
			return out, encode(refusal(err))
		}
		outcome := breaker.Ignored // of a panic, which is a bug and not the callee's
		func() {
			// An invocation that was cut off still tells what it saw.
			defer func() { g.Gate.Record(context.WithoutCancel(ctx), permit, outcome) }()
			out, outcome, err = call(ctx, g, f, event)
		}()
		if outcome == breaker.Failure && (g.Gate.Away() || hasNoRoom(err)) {
			return out, encode(away(g.Gate.Circuit(), err))
		}
		return out, g.judged(ctx, event, err)
	}
}

// hasNoRoom reports whether the callee itself has refused a call for its load: it says what the limiter would have
// said, had it known.
func hasNoRoom(err error) bool {
	name, _ := named(err)
	return name == retry.TooManyRequestsError || name == retry.S3SlowDown
}

// away is the failure of a call while the callee is known to be away.
func away(circuit breaker.Circuit, err error) error {
	name, message := named(err)
	if circuit == breaker.Closed {
		return csvimport.Fail(retry.RetryBudgetExhausted,
			"the callee has no room for more calls, and this one failed, too: %s: %s", name, message)
	}
	return csvimport.Fail(retry.CircuitOpen, "the callee's circuit is %s, and the call failed, too: %s: %s",
		circuit, name, message)
}

// call makes the call and learns how long one takes that ends well.
func call[Output any](ctx context.Context, g *Guard, f Func[Output], event json.RawMessage) (out Output,
	outcome breaker.Outcome, err error) {
	begin := g.now()
	out, err = f(ctx, event)
	if outcome = outcomeOf(err); outcome == breaker.Success {
		g.took(g.now().Sub(begin))
	}
	return out, outcome, err
}

// judged has an error that another attempt would not be worth become RetryNotWorthwhile.
func (g *Guard) judged(ctx context.Context, event json.RawMessage, err error) error {
	name, message := named(err)
	if g.Worth == nil || name == "" || statemachine.IsPermanent(name) {
		return err
	}
	var in struct {
		Attempt *struct {
			State   string    `json:"state"`
			Retries int       `json:"retries"`
			Entered time.Time `json:"entered"`
		} `json:"attempt"`
	}
	if json.Unmarshal(event, &in) != nil || in.Attempt == nil {
		return err // an event of a state machine that does not tell
	}
	a := configuration.Attempt{State: in.Attempt.State, Error: name, Retries: in.Attempt.Retries,
		Began: in.Attempt.Entered, Failed: g.now(), Bytes: len(event)}
	if rate, load, known := g.callee(); known {
		a.FailureRate, a.Load = &rate, &load
	}
	d, known := g.Worth.Decide(context.WithoutCancel(ctx), a)
	if !known || d.Retry {
		return err
	}
	return encode(csvimport.Fail(retry.RetryNotWorthwhile, "%s; after %s: %s", d.Reason, name, message))
}

// callee is how the callee fares, where the gate knows.
func (g *Guard) callee() (failureRate, load float64, known bool) {
	if g.Gate == nil {
		return 0, 0, false
	}
	return g.Gate.Callee()
}

// outcomeOf is what an answer says of the callee: errors of the load type are its failures; every other error came
// from a callee that answers, or from the event, and says nothing.
func outcomeOf(err error) breaker.Outcome {
	name, _ := named(err)
	switch {
	case err == nil:
		return breaker.Success
	case retry.IsLoadError(name):
		return breaker.Failure
	}
	return breaker.Ignored
}

// named is the name and the message under which an error of a Func reaches Step Functions.
func named(err error) (name, message string) {
	var answer messages.InvokeResponse_Error
	if errors.As(err, &answer) {
		return answer.Type, answer.Message
	}
	return "", ""
}

// refusal gives what a guard refuses the name of its kind.
func refusal(err error) error {
	var open *breaker.OpenError
	var exhausted *limiter.ExhaustedError
	var late *deadline.TooLateError
	switch {
	case errors.As(err, &open):
		return csvimport.Fail(retry.CircuitOpen, "the callee's circuit is %s; try again in %s", open.Circuit,
			open.RetryAfter)
	case errors.As(err, &exhausted):
		return csvimport.Fail(retry.RetryBudgetExhausted,
			"the callee is called %d at a time, and now is not the turn of this call",
			int64(exhausted.Limit))
	case errors.As(err, &late):
		return csvimport.Fail(retry.TimeoutError, "a call that takes %s was not begun, for %s are left",
			late.Needed,
			max(late.Left, 0))
	}
	return err
}
