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
	// MaxEvents and MaxBytes limit the events that have not ended; the defaults are 100,000 and 1 GiB.
	MaxEvents int
	MaxBytes  int64
}

// Queue stores and runs the asynchronous invocations of all functions. It is safe for concurrent use.
type Queue struct {
	o        Options
	states   *documents.Table
	payloads *documents.Table
	ctx      context.Context
	stop     context.CancelFunc
	work     sync.WaitGroup
	closing  atomic.Bool // see Closing

	mu      sync.Mutex
	events  int
	bytes   int64
	lanes   map[lane]*line
	waiting map[string]*clock.Timer // by key
	left    []*Event                // events of an earlier process, without payloads; Resume queues them
	closed  bool
}

// lane identifies a function whose events start in order.
type lane struct {
	scope    aws.Scope
	function string
}

// line holds the keys of a function's events that are ready to start, and the number of events that are running.
type line struct {
	ready   []string
	running int
}

const (
	// atOnce is the maximum number of concurrent events per function.
	atOnce = 64
	// patience is the time for which a running event holds virtual time.
	patience         = 10 * time.Second
	defaultMaxEvents = 100_000
	defaultMaxBytes  = 1 << 30
	// longestTelling is the maximum time for which reporting the end of an event is retried.
	longestTelling = time.Hour
)

// Open opens the queue in a store. Resume starts it again with the events that an earlier process left.
func Open(o Options) (*Queue, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxEvents <= 0 {
		o.MaxEvents = defaultMaxEvents
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	q := &Queue{o: o, states: o.Store.Table("lambda-events"), payloads: o.Store.Table("lambda-payloads"),
		lanes: map[lane]*line{}, waiting: map[string]*clock.Timer{}}
	err := q.states.Scan("", func(key string, text []byte) error {
		e, err := decode(key, text)
		if err != nil {
			return err
		}
		q.events++
		q.bytes += int64(e.Size)
		e.ClientContext, e.End = nil, nil // read again when it is the event's turn
		q.left = append(q.left, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	q.ctx, q.stop = context.WithCancel(context.Background())
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
		q.at(e.key(), e)
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
	q.mu.Lock()
	q.closed = true
	for _, t := range q.waiting {
		t.Stop()
	}
	q.mu.Unlock()
	q.stop()
	q.work.Wait()
}

// Pending returns the number of events that have not ended.
func (q *Queue) Pending() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.events
}

// Accept stores an event. Once it has returned nil, the event is on disk and will be handled. The error is an
// *aws.Error if there are too many events, or an error of the disk.
func (q *Queue) Accept(e *Event) error {
	e.ID, e.Accepted, e.Size = aws.NewID(), q.o.Clock.Now().UnixMilli(), len(e.Payload)
	q.mu.Lock()
	full := q.events >= q.o.MaxEvents || q.bytes+int64(e.Size) > q.o.MaxBytes
	if !full {
		q.events++
		q.bytes += int64(e.Size)
	}
	closed := q.closed
	q.mu.Unlock()
	if full {
		return tooMany(q.o)
	}
	if closed {
		q.forget(e)
		return &aws.Error{Code: "ServiceException", Message: "The Lambda service has been closed",
			Status: http.StatusInternalServerError}
	}
	if err := q.keep(e, true); err != nil {
		q.forget(e)
		return err
	}
	q.ready(e.key(), laneOf(e))
	return nil
}

func tooMany(o Options) error {
	return &aws.Error{
		Code: "TooManyRequestsException", Status: http.StatusTooManyRequests,
		Members: map[string]any{"Reason": "ConcurrentInvocationLimitExceeded"},
		Message: fmt.Sprintf("As many asynchronous invocations are waiting already as may: %d, or %d bytes",
			o.MaxEvents, o.MaxBytes),
	}
}

func laneOf(e *Event) lane { return lane{e.Scope, e.Function} }

// forget removes an event from the counts.
func (q *Queue) forget(e *Event) {
	q.mu.Lock()
	q.events--
	q.bytes -= int64(e.Size)
	q.mu.Unlock()
}

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
