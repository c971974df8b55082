package logs

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/dispatch"
	"stepback/local/services/documents"
	"stepback/local/services/logs/logstore"
)

// Deliverer hands messages to what ARNs name.
type Deliverer interface {
	Deliver(ctx context.Context, arn string, m *delivery.Message) error
}

// SubscriptionOptions are the settings of Subscriptions. All but Log are required.
type SubscriptionOptions struct {
	// Documents keeps the batches that have not been delivered, in the table logs.deliveries.
	Documents *documents.Store
	Targets   Deliverer
	// Clock has batches sent and tried again. It must outlive the subscriptions.
	Clock *clock.Clock
	// Log receives what is lost; nil drops them.
	Log *slog.Logger
}

// Subscriptions delivers the events that subscription filters match: in batches of a stream's events, each of a second
// at most or 256 KB. A batch is kept on the disk until its destination has it, and tried again for 24 hours. What is
// not in a batch yet is lost if the machine fails. It is safe for concurrent use.
type Subscriptions struct {
	o          SubscriptionOptions
	patterns   patterns
	dispatcher *dispatch.Dispatcher

	mu      sync.Mutex
	filling map[batchKey]*eventBatch
	full    []*eventBatch
	bytes   int  // of all batches
	dropped int  // events, for want of room, since the last batch was sent
	sending bool // somebody sends the full ones
	closed  bool
	work    sync.WaitGroup
}

const (
	fillTime    = time.Second
	batchBytes  = 256 << 10
	mostBatched = 16 << 20 // bytes; more is lost
)

// batchKey says which events go together.
type batchKey struct {
	scope                              aws.Scope
	group, stream, filter, destination string
}

// eventBatch is what is delivered together.
type eventBatch struct {
	batchKey
	events []subscribedEvent
	bytes  int
	timer  *clock.Timer
}

type subscribedEvent struct {
	ID      string `json:"id"`
	Time    int64  `json:"timestamp"`
	Message string `json:"message"`
}

// dataMessage is what a destination is told.
type dataMessage struct {
	Type    string            `json:"messageType"`
	Owner   string            `json:"owner"`
	Group   string            `json:"logGroup"`
	Stream  string            `json:"logStream"`
	Filters []string          `json:"subscriptionFilters"`
	Events  []subscribedEvent `json:"logEvents"`
}

// OpenSubscriptions opens the batches that are kept, and goes on with them once Resume is called. Its Written is for
// the store of the log groups.
func OpenSubscriptions(o SubscriptionOptions) *Subscriptions {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Subscriptions{o: o, filling: map[batchKey]*eventBatch{}, dispatcher: dispatch.Open(dispatch.Options{
		Store: o.Documents, Table: "logs.deliveries", Clock: o.Clock, Log: o.Log,
		Send: func(ctx context.Context, l *dispatch.Letter) error { return o.Targets.Deliver(ctx, l.To, &l.Message) },
	})}
}

// Resume goes on with the batches that an earlier process left. It is called once, when the destinations are there.
func (s *Subscriptions) Resume() error { return s.dispatcher.Resume() }

// Stop ends deliveries, before their destinations end. Batches are kept from then on, for the next process.
func (s *Subscriptions) Stop() error {
	s.dispatcher.Close()
	return nil
}

// Close keeps what is in batches, and ends deliveries. No events may come any more.
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

// Written takes the events of a stream of a group, and puts those that its subscriptions match into batches. It does
// not wait: what there is no room for is lost, and said so in the log.
func (s *Subscriptions) Written(scope aws.Scope, g logstore.Group, events []logstore.Event) {
	for _, f := range g.Subscriptions {
		matches, err := s.patterns.find(f.Pattern)
		if err != nil {
			continue // it was checked when it was put
		}
		for i := range events {
			if e := &events[i]; matches(e.Message) {
				s.add(batchKey{scope, g.Name, e.Stream, f.Name, f.Destination}, e)
			}
		}
	}
}

// add puts an event into the batch that is filling.
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
	b.bytes += size
	s.bytes += size
}

// fill has a batch sent. The lock is held.
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

// sendFull sends the batches that are full. It reports whether there were any.
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

// send keeps a batch and has it delivered.
func (s *Subscriptions) send(b *eventBatch) error {
	body, err := b.body()
	if err != nil {
		return err
	}
	return s.dispatcher.Accept(context.Background(), []*dispatch.Letter{{
		To: b.destination, Message: delivery.Message{Body: body}, Attempts: dispatch.DefaultAttempts,
		Age: int64(dispatch.DefaultAge / time.Second), From: delivery.Sender{Service: "logs.amazonaws.com",
			Source: b.scope.ARN("logs", "log-group:"+b.group+":*")},
	}}, nil)
}

// body is the event that a function gets.
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
