package logs

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/dispatch"
	"stepback/local/services/documents"
	"stepback/local/services/logs/logstore"
)

// Deliverer delivers messages to the targets that ARNs name.
type Deliverer interface {
	Deliver(ctx context.Context, arn string, m *delivery.Message) error
}

// SubscriptionOptions are the settings of Subscriptions. All but Log are required.
type SubscriptionOptions struct {
	// Documents holds the batches that have not been delivered, in the table logs.deliveries.
	Documents *documents.Store
	Targets   Deliverer
	// Clock is used to schedule sending and retrying batches. It must outlive the Subscriptions.
	Clock *clock.Clock
	// Log receives lost events and batches; nil discards the messages.
	Log *slog.Logger
}

// Subscriptions delivers the events that subscription filters match. Events of a stream are collected into batches
// for at most one second or 256 KB. A batch is stored on disk until its destination has accepted it, and retried
// for 24 hours. The position of a subscription in a stream is stored with the batch: if the process is killed, the next
// one reads the events that were not in a stored batch yet from the log. It is safe for concurrent use.
type Subscriptions struct {
	o          SubscriptionOptions
	positions  *documents.Table
	patterns   patterns
	dispatcher *dispatch.Dispatcher

	mu      sync.Mutex
	filling map[batchKey]*eventBatch
	full    []*eventBatch
	bytes   int  // of all batches
	dropped int  // events lost for lack of space since the last batch was sent
	sending bool // a goroutine is sending the full ones
	closed  bool
	work    sync.WaitGroup
}

const (
	fillTime    = time.Second
	batchBytes  = 256 << 10
	mostBatched = 16 << 20 // in bytes; more is lost
)

// batchKey identifies the events that are batched together.
type batchKey struct {
	scope                              aws.Scope
	group, stream, filter, destination string
}

// eventBatch is a batch of events.
type eventBatch struct {
	batchKey
	events []subscribedEvent
	last   int64 // Number of the last event
	bytes  int
	timer  *clock.Timer
}

type subscribedEvent struct {
	ID      string `json:"id"`
	Time    int64  `json:"timestamp"`
	Message string `json:"message"`
}

// dataMessage is the message that a destination receives.
type dataMessage struct {
	Type    string            `json:"messageType"`
	Owner   string            `json:"owner"`
	Group   string            `json:"logGroup"`
	Stream  string            `json:"logStream"`
	Filters []string          `json:"subscriptionFilters"`
	Events  []subscribedEvent `json:"logEvents"`
}

// OpenSubscriptions opens the stored batches. Their delivery continues once Resume is called. Pass the method
// Written to the store of the log groups.
func OpenSubscriptions(o SubscriptionOptions) *Subscriptions {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Subscriptions{o: o, filling: map[batchKey]*eventBatch{},
		positions: o.Documents.Table("logs.positions"), dispatcher: dispatch.Open(dispatch.Options{
			Store: o.Documents, Table: "logs.deliveries", Clock: o.Clock, Log: o.Log,
			Send: func(ctx context.Context, l *dispatch.Letter) error {
				return o.Targets.Deliver(ctx, l.To,
					&l.Message)
			},
		})}
}

// Resume continues with the batches that an earlier process left. Call it once, when the destinations are available.
func (s *Subscriptions) Resume() error { return s.dispatcher.Resume() }

// Stop stops deliveries, before their destinations are closed. From then on, batches are stored for the next process.
func (s *Subscriptions) Stop() error {
	s.dispatcher.Close()
	return nil
}

// Close stores the unfinished batches and stops deliveries. No more events may be passed afterwards.
func (s *Subscriptions) Close() error {
	s.mu.Lock()
	for _, b := range s.filling {
		s.fill(b)
	}
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
	s.dispatcher.Close()
	return nil
}

// Written adds the events of a stream that the group's subscriptions match to batches. It does not block: events
// beyond the limit are lost, which is logged.
func (s *Subscriptions) Written(scope aws.Scope, g logstore.Group, events []logstore.Event) {
	for _, f := range g.Subscriptions {
		matches, err := s.patterns.find(f.Pattern)
		if err != nil {
			continue // it was validated when it was put
		}
		for i := range events {
			if e := &events[i]; matches(e.Message) {
				s.add(batchKey{scope, g.Name, e.Stream, f.Name, f.Destination}, e)
			}
		}
	}
}

// add adds an event to the current batch of a key.
func (s *Subscriptions) add(key batchKey, e *logstore.Event) {
	size := len(e.Message) + overhead
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.bytes+size > mostBatched {
		s.dropped++
		return
	}
	b := s.filling[key]
	if b != nil && b.bytes+size > batchBytes {
		s.fill(b)
		b = nil
	}
	if b == nil {
		b = &eventBatch{batchKey: key}
		b.timer = s.o.Clock.Schedule(s.o.Clock.Now().Add(fillTime), clock.AlarmFunc(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.filling[key] == b {
				s.fill(b)
			}
		}))
		s.filling[key] = b
	}
	b.events = append(b.events, subscribedEvent{idOf(e), e.Time, e.Message})
	b.last = e.Number
	b.bytes += size
	s.bytes += size
}

// fill marks a batch as full, so that it is sent. The lock is held.
func (s *Subscriptions) fill(b *eventBatch) {
	b.timer.Stop()
	delete(s.filling, b.batchKey)
	s.full = append(s.full, b)
	if s.sending {
		return
	}
	s.sending = true
	s.o.Clock.Hold()
	s.work.Go(func() {
		defer s.o.Clock.Release()
		for s.sendFull() {
		}
	})
}

// sendFull sends the full batches. It reports whether there were any.
func (s *Subscriptions) sendFull() bool {
	s.mu.Lock()
	full, dropped := s.full, s.dropped
	s.full, s.dropped = nil, 0
	s.sending = len(full) > 0
	s.mu.Unlock()
	if dropped > 0 {
		s.o.Log.Warn("log events are not delivered to subscriptions: too many are waiting", "events", dropped)
	}
	for _, b := range full {
		if err := s.send(b); err != nil {
			s.o.Log.Warn("log events are not delivered to a subscription", "group", b.group, "filter", b.filter,
				"events", len(b.events), "error", err)
		}
		s.mu.Lock()
		s.bytes -= b.bytes
		s.mu.Unlock()
	}
	return len(full) > 0
}

// send stores a batch and passes it to the dispatcher.
func (s *Subscriptions) send(b *eventBatch) error {
	body, err := b.body()
	if err != nil {
		return err
	}
	return s.dispatcher.Accept(context.Background(), []*dispatch.Letter{{
		To: b.destination, Message: delivery.Message{Body: body}, Attempts: dispatch.DefaultAttempts,
		Age: int64(dispatch.DefaultAge / time.Second), From: delivery.Sender{Service: "logs.amazonaws.com",
			Source: b.scope.ARN("logs", "log-group:"+b.group+":*")},
	}}, func(batch *documents.Batch) {
		batch.Put(s.positions, positionKey(b.scope, b.group, b.filter, b.stream), strconv.AppendInt(nil, b.last, 10))
	})
}

// body returns the event that a function receives.
func (b *eventBatch) body() (string, error) {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	err := json.NewEncoder(w).Encode(dataMessage{"DATA_MESSAGE", b.scope.Account, b.group, b.stream, []string{b.filter},
		b.events})
	if err == nil {
		err = w.Close()
	}
	return `{"awslogs":{"data":"` + base64.StdEncoding.EncodeToString(compressed.Bytes()) + `"}}`, err
}
