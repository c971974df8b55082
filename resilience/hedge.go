package resilience

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"stepback/adaptive/breaker"
	"stepback/retry"
)

// ended is the outcome of one of several operations that run at once.
type ended[T any] struct {
	answer[T]
	panicked *PanicError
	ctx      *attempt
}

var errGoexit = errors.New("the operation ended its goroutine")

// hedged runs the operation and starts another one in parallel whenever the hedge's delay passes without a result. It
// returns when all of them have ended.
func (c *Call[T]) hedged(outer *attempt, e *Executor, number int) answer[T] {
	h := hedge[T]{
		call: c, executor: e, outer: outer,
		answers: make(chan ended[T], 1+e.hedges), late: make(chan struct{}, 1+e.hedges),
	}
	h.start(func() {}) // the session holds the permit of the first one
	stop := e.clock.AfterFunc(e.hedgeDelay, h.ring)
	defer func() { stop() }()
	for started := 0; ; {
		select {
		case a := <-h.answers:
			h.running--
			if a.err == nil || a.panicked != nil || h.running == 0 {
				return h.settle(a)
			}
			c.discard(a.answer)
		case <-h.late:
			if started == e.hedges || outer.Err() != nil {
				continue
			}
			release, ok := e.admitHedge()
			if !ok {
				continue
			}
			started++
			e.counts.hedges.Add(1)
			e.counts.attempts.Add(1)
			e.tell(outer.Context, Event{Kind: HedgeStarted, Attempt: number, Delay: e.hedgeDelay})
			h.start(release)
			stop = e.clock.AfterFunc(e.hedgeDelay, h.ring)
		}
	}
}

type hedge[T any] struct {
	call     *Call[T]
	executor *Executor
	outer    *attempt
	answers  chan ended[T]
	late     chan struct{}
	contexts []*attempt
	running  int
}

func (h *hedge[T]) ring() { h.late <- struct{}{} }

// admitHedge asks the limiter and the budget for a hedge. release returns the limiter's permit; the limit does not
// change, because the outcome of the attempt is recorded by the session.
func (e *Executor) admitHedge() (release func(), ok bool) {
	release = func() {}
	if e.limiter != nil {
		slot, err := e.limiter.Allow()
		if err != nil {
			return nil, false
		}
		release = func() { e.limiter.Record(slot, breaker.Ignored) }
	}
	if e.budget != nil && !e.budget.Retry(retry.CauseOther) {
		release()
		return nil, false
	}
	return release, true
}

// start runs the operation on a goroutine that always sends an answer. release is called when the operation has ended.
func (h *hedge[T]) start(release func()) {
	a := newAttempt(h.outer, h.executor.clock, time.Time{}, 0)
	h.contexts = append(h.contexts, a)
	h.running++
	go func() {
		got := ended[T]{ctx: a, answer: answer[T]{err: errGoexit}}
		defer func() {
			if r := recover(); r != nil {
				got.panicked = &PanicError{r, debug.Stack()}
			}
			release()
			h.answers <- got
		}()
		got.answer = h.call.run(a)
	}()
}

// settle cancels the other operations, waits for them, and re-raises a panic.
func (h *hedge[T]) settle(first ended[T]) answer[T] {
	for _, a := range h.contexts {
		if a != first.ctx || !first.hasResult {
			a.cancel()
		}
	}
	panicked := first.panicked
	for ; h.running > 0; h.running-- {
		a := <-h.answers
		if a.panicked != nil {
			panicked = a.panicked
		}
		h.call.discard(a.answer)
	}
	if panicked != nil {
		panic(panicked)
	}
	if first.hasResult && h.call.Keep == nil {
		first.ctx.cancel()
	}
	return first.answer
}

var _ context.Context = (*attempt)(nil)
