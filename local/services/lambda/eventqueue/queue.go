package eventqueue

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/lanes"
	"stepback/tasks/lambda/invocation"
)

// Options are the settings of a Queue. Store, Clock, Invoke and Tell are required.
type Options struct {
	Store *documents.Store
	Clock *clock.Clock
	// Invoke invokes an event's function. The error is an *aws.Error, ErrPaused, or ctx's.
	Invoke func(ctx context.Context, e *Event) (*invocation.Answer, error)
	// Tell reports the end of an event (e.End) to its destinations, and sets in e.End which of them have been
	// notified. If it fails, it is retried.
	Tell func(ctx context.Context, e *Event) error
	// Log receives dropped events; nil discards the messages.
	Log *slog.Logger
	// PerFunction and Total bound the events that have not ended, with their payloads; the defaults are those of
	// package lanes.
	PerFunction, Total lanes.Bound
}

// Queue stores and runs the asynchronous invocations of all functions. It is safe for concurrent use.
type Queue struct {
	o        Options
	states   *documents.Table
	payloads *documents.Table
	lanes    lanes.Lanes[string] // of keys, by function
	closing  atomic.Bool         // see Closing
	closed   atomic.Bool

	mu   sync.Mutex
	left []*Event // events of an earlier process, without payloads; Resume queues them
}

const (
	// patience is the time for which a running event holds virtual time.
	patience = 10 * time.Second
	// longestTelling is the maximum time for which reporting the end of an event is retried.
	longestTelling = time.Hour
)

// Open opens the queue in a store. Resume starts it again with the events that an earlier process left.
func Open(o Options) (*Queue, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	q := &Queue{o: o, states: o.Store.Table("lambda-events"), payloads: o.Store.Table("lambda-payloads")}
	q.lanes = lanes.New(lanes.Options[string]{Clock: o.Clock, Run: q.run, Patience: patience, PerLane: o.PerFunction,
		Total: o.Total})
	err := q.states.Scan("", func(key string, text []byte) error {
		e, err := decode(key, text)
		if err != nil {
			return err
		}
		q.lanes.Restore(e.lane(), int64(e.Size))
		e.ClientContext, e.End = nil, nil // read again when it is the event's turn
		q.left = append(q.left, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return q, nil
}

// Resume continues with the events that an earlier process left. Call it once the functions and destinations are
// available.
func (q *Queue) Resume() {
	q.mu.Lock()
	left := q.left
	q.left = nil
	q.mu.Unlock()
	for _, e := range left {
		q.at(e)
	}
}

func decode(key string, text []byte) (*Event, error) {
	e := new(Event)
	if err := json.Unmarshal(text, e); err != nil {
		return nil, fmt.Errorf("the asynchronous invocation %s: %w", key, err)
	}
	return e, nil
}

// Closing announces that the services that functions depend on, and then the queue, are about to be closed. An
// attempt that fails from now on may have failed for that reason. It is not counted, and the next process repeats
// it.
func (q *Queue) Closing() { q.closing.Store(true) }

// Close cancels the running invocations and waits for them. Events that have not ended are kept for the next process.
func (q *Queue) Close() {
	q.closed.Store(true)
	q.lanes.Close()
}

// Pending returns the number of events that have not ended.
func (q *Queue) Pending() int { return q.lanes.Reserved() }

// Accept stores an event. Once it has returned nil, the event is on disk and will be handled. The error is an
// *aws.Error if there are too many events, or an error of the disk.
func (q *Queue) Accept(e *Event) error {
	e.ID, e.Accepted, e.Size = aws.NewID(), q.o.Clock.Now().UnixMilli(), len(e.Payload)
	if err := q.lanes.Reserve(e.lane(), int64(e.Size)); err != nil {
		return tooMany(err)
	}
	if q.closed.Load() {
		q.forget(e)
		return &aws.Error{Code: "ServiceException", Message: "The Lambda service has been closed",
			Status: http.StatusInternalServerError}
	}
	if err := q.keep(e, true); err != nil {
		q.forget(e)
		return err
	}
	q.lanes.Ready(e.lane(), e.key())
	return nil
}

func tooMany(err error) error {
	return &aws.Error{
		Code: "TooManyRequestsException", Status: http.StatusTooManyRequests,
		Members: map[string]any{"Reason": "ConcurrentInvocationLimitExceeded"},
		Message: "Too many asynchronous invocations wait: " + err.Error() + ".",
	}
}

// lane identifies the event's function. The events of a function start in order and delay no others.
func (e *Event) lane() string {
	return e.Scope.Account + "/" + e.Scope.Region + "/" + e.Function
}

// forget removes an event from the counts.
func (q *Queue) forget(e *Event) { q.lanes.Forget(e.lane(), int64(e.Size)) }

// keep writes the state of an event, and its payload if it is new, and waits for the disk.
func (q *Queue) keep(e *Event, isNew bool) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	b, err := q.o.Store.Begin()
	if err != nil {
		return err
	}
	b.Put(q.states, e.key(), text)
	if isNew {
		b.Put(q.payloads, e.key(), e.Payload)
	}
	return b.Apply()()
}

// drop deletes an event.
func (q *Queue) drop(e *Event) error {
	b, err := q.o.Store.Begin()
	if err != nil {
		return err
	}
	b.Delete(q.states, e.key())
	b.Delete(q.payloads, e.key())
	if err := b.Apply()(); err != nil {
		return err
	}
	q.forget(e)
	return nil
}

// read returns a stored event, or nil if there is none.
func (q *Queue) read(key string) (*Event, error) {
	text, found, err := q.states.Get(key)
	if err != nil || !found {
		return nil, err
	}
	e, err := decode(key, text)
	if err != nil {
		return nil, err
	}
	e.Payload, _, err = q.payloads.Get(key)
	return e, err
}
