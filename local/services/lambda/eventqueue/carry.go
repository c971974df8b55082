package eventqueue

import (
	"context"
	"errors"
	"net/http"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
)

// errClosing is returned if an attempt failed while the queue was closing. The failure does not count, because the
// services that the function depends on may already have been closed.
var errClosing = errors.New("the attempt failed while the queue was closing")

// at schedules the next attempt of an event for the time e.Next.
func (q *Queue) at(key string, e *Event) {
	when, of := time.UnixMilli(e.Next), laneOf(e)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.waiting[key] = q.o.Clock.Schedule(when, clock.AlarmFunc(func() { q.ready(key, of) }))
}

// ready puts an event into its function's line and starts a goroutine for it if fewer than atOnce are running.
func (q *Queue) ready(key string, of lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waiting, key)
	if q.closed {
		return
	}
	l := q.lanes[of]
	if l == nil {
		l = &line{}
		q.lanes[of] = l
	}
	l.ready = append(l.ready, key)
	if l.running >= atOnce {
		return
	}
	l.running++
	q.o.Clock.Hold()
	q.work.Go(func() { q.serve(of, l) })
}

// serve processes events of a function until none is ready.
func (q *Queue) serve(of lane, l *line) {
	ctx, work := q.o.Clock.Begin(q.ctx, patience)
	q.o.Clock.Release()
	defer func() { work.End() }()
	for first := true; ; first = false {
		q.mu.Lock()
		if q.closed || len(l.ready) == 0 {
			if l.running--; l.running == 0 {
				delete(q.lanes, of)
			}
			q.mu.Unlock()
			return
		}
		key := l.ready[0]
		l.ready = l.ready[1:]
		q.mu.Unlock()
		if !first { // a separate patience for each event
			was := work
			ctx, work = q.o.Clock.Begin(q.ctx, patience)
			was.End()
		}
		if err := q.carry(ctx, key); err != nil && ctx.Err() == nil && !errors.Is(err, errClosing) {
			q.o.Log.Error("an asynchronous invocation is kept and not carried out", "event", key, "error", err)
		}
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
			return q.later(e) //nolint:contextcheck // it outlives the attempt
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
	return q.later(e) //nolint:contextcheck // it outlives the attempt
}

// later stores an event and schedules its next attempt.
func (q *Queue) later(e *Event) error {
	if err := q.keep(e, false); err != nil {
		return err
	}
	q.at(e.key(), e)
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
