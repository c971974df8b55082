package eventqueue

import (
	"context"
	"errors"
	"net/http"
	"time"

	"stepback/aws"
)

// errClosing is returned if an attempt failed while the queue was closing. The failure does not count, because the
// services that the function depends on may already have been closed.
var errClosing = errors.New("the attempt failed while the queue was closing")

// at schedules the next attempt of an event for the time e.Next.
func (q *Queue) at(e *Event) { q.lanes.At(e.lane(), time.UnixMilli(e.Next), e.key()) }

// run handles an event in its turn.
func (q *Queue) run(ctx context.Context, key string) {
	if err := q.carry(ctx, key); err != nil && ctx.Err() == nil && !errors.Is(err, errClosing) {
		q.o.Log.Error("an asynchronous invocation is kept and not carried out", "event", key, "error", err)
	}
}

// carry makes the next attempt to invoke the event's function, or to report the event's end, and stores the result.
func (q *Queue) carry(ctx context.Context, key string) error {
	e, err := q.read(key)
	if err != nil || e == nil {
		return err
	}
	if e.End == nil {
		gone, err := q.attempt(ctx, e)
		switch {
		case err != nil:
			return err // the next process tries again
		case gone:
			return q.drop(e)
		case e.End == nil:
			return q.later(e)
		}
		e.End.At = q.o.Clock.Now().UnixMilli()
	}
	told := q.o.Tell(ctx, e)
	if told == nil {
		return q.drop(e)
	}
	now := q.o.Clock.Now()
	if ctx.Err() == nil && now.Sub(time.UnixMilli(e.End.At)) > longestTelling {
		q.o.Log.Error("how an asynchronous invocation ended could not be told, and is not any more", "function", e.ARN,
			"request", e.ID, "error", told)
		return q.drop(e)
	}
	e.Next = now.Add(delayWait(e.End.Failed)).UnixMilli()
	e.End.Failed++
	return q.later(e)
}

// later stores an event and schedules its next attempt.
func (q *Queue) later(e *Event) error {
	if err := q.keep(e, false); err != nil {
		return err
	}
	q.at(e)
	return nil
}

// attempt invokes the function. There are three outcomes: the event has an end; gone is true, because the function
// was deleted; or e.Next is the time of the next attempt.
func (q *Queue) attempt(ctx context.Context, e *Event) (gone bool, err error) {
	answer, err := q.o.Invoke(ctx, e)
	if q.closing.Load() && (err != nil || answer.FunctionError != "") {
		return false, errClosing
	}
	var wait time.Duration
	var refused *aws.Error
	switch {
	case err == nil:
		e.Attempts++
		e.End = &End{Condition: Success, Answer: answer}
		if answer.FunctionError == "" {
			return false, nil
		}
		if e.Attempts > e.Retries {
			e.End.Condition = RetriesExhausted
			return false, nil
		}
		wait = retryWait(e.Attempts)
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, ErrPaused):
		e.End = &End{Condition: ZeroReservedConcurrency}
		return false, nil
	case errors.As(err, &refused) && !refused.ByServer() && refused.Status != http.StatusTooManyRequests:
		q.o.Log.Warn("an asynchronous invocation is dropped", "function", e.ARN, "request", e.ID, "error", err)
		return true, nil
	default:
		wait = delayWait(e.Delays)
		e.Delays++
	}
	next := q.o.Clock.Now().Add(wait).UnixMilli()
	if next > e.Accepted+e.MaxAge {
		if e.End == nil {
			e.End = &End{}
		}
		e.End.Condition = EventAgeExceeded
		return false, nil
	}
	e.Next, e.End = next, nil
	return false, nil
}
