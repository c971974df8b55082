package sns

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/inventory"
)

// Queues delivers to subscribed SQS queues and dead-letter queues.
type Queues interface {
	// DeliverAll delivers messages to queues with a single wait for the disk. It returns one error per letter,
	// which is nil for a delivered letter.
	DeliverAll(letters []delivery.Letter) []error
}

// Targets delivers to all other targets that have an ARN.
type Targets interface {
	Deliver(ctx context.Context, arn string, m *delivery.Message) error
}

// Options are the settings of a Service. Dir, Store, Clock and Queues are required.
type Options struct {
	// Dir is the directory of FileName.
	Dir string
	// Store holds topics, subscriptions, pending deliveries and the inbox. It must outlive the service.
	Store *documents.Store
	// Files is the inventory that FileName is in; nil means none.
	Files *inventory.Files
	// Clock is the time source, also for delays. It must outlive the service.
	Clock *clock.Clock
	// Scope is the account and region of requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Endpoint is the start of the URLs in messages, such as http://127.0.0.1:4566. If it is empty, the URLs point
	// at an address that does not respond.
	Endpoint string
	// Queues delivers messages to SQS.
	Queues Queues
	// Targets delivers messages to Lambda; nil means that there are no functions.
	Targets Targets
	// Principal returns the ARN of the user or role that makes a request (SubscriptionPrincipal); nil means the
	// account's root user.
	Principal func(ctx context.Context, scope aws.Scope) (string, error)
	// Transport sends the requests to HTTP endpoints; nil means http.DefaultTransport. Redirects are not followed.
	Transport http.RoundTripper
	// Count receives the AWS/SNS metrics of topics: a value and how often it occurred. It must return quickly. If
	// it is nil, metrics are discarded.
	Count func(scope aws.Scope, topic, metric string, value, n float64)
	// Log receives refused requests and failed deliveries; nil discards them.
	Log *slog.Logger
}

var errReservedTag = invalid("Tags Reason: %s", aws.ReservedTagMessage)

// Service is the embedded SNS. It is safe for concurrent use.
type Service struct {
	opts   Options
	clock  *clock.Clock
	table  *documents.Table
	api    func() *server.Service // created with the first request
	signer signer
	file   file
	inbox  Inbox

	mu            sync.RWMutex
	last          int64 // the latest time used
	next          uint64
	reserved      uint64 // next stays below it; otherwise it must be raised first
	durable       uint64 // a part of reserved that is on disk
	topics        map[string]*topic
	subscriptions map[string]*subscription

	courier courier
}

// Open loads the topics in a store and resumes pending deliveries. Call Close to stop.
func Open(o Options) (*Service, error) {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	o.Endpoint = strings.TrimSuffix(cmp.Or(o.Endpoint, loopback.URL), "/")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{opts: o, clock: o.Clock, table: o.Store.Table(tableName), topics: map[string]*topic{},
		subscriptions: map[string]*subscription{}}
	s.signer.store, s.signer.table = o.Store, s.table
	s.inbox.arrived = make(chan struct{})
	s.openCourier()
	s.api = sync.OnceValue(s.newAPI)
	if err := s.load(); err != nil {
		s.courier.lanes.Close()
		return nil, errors.Join(fmt.Errorf("the topics in %s: %w", o.Dir, err), s.file.close())
	}
	return s, nil
}

// tableName is the name of the table.
const tableName = "sns"

// The key prefixes of the table. Each comment names the rest of the key, then the value.
const (
	keyTopic        = "topic/"        // ARN: a topic
	keySubscription = "subscription/" // ARN: a subscription
	keyDelivery     = "delivery/"     // number: a pending delivery
	keyDuplicate    = "duplicate/"    // ARN, zero byte, deduplication key: the message published with that key
	keyMail         = "mail/"         // number: a mail in the inbox
	keyNext         = "next"          // no rest: upper bound of the numbers assigned so far
	keySigning      = "signing-key"   // no rest: the key with which messages are signed
)

// load reads all stored data.
func (s *Service) load() error {
	s.file.files = s.opts.Files
	if err := s.file.open(s.opts.Dir); err != nil {
		return err
	}
	if s.file.damaged != nil {
		s.opts.Log.Warn("messages of topics without subscriptions are lost", "error", s.file.damaged)
	}
	text, found, err := s.table.Get(keyNext)
	if err != nil {
		return err
	}
	if found {
		if err := json.Unmarshal(text, &s.next); err != nil {
			return err
		}
	}
	s.next = max(s.next, 1) // 0 precedes all mails
	if err := s.table.Scan(keyTopic, func(_ string, text []byte) error {
		var r topicRecord
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
		s.addTopic(r)
		return nil
	}); err != nil {
		return err
	}
	s.reserved, s.durable = s.next, s.next
	if err := s.table.Scan(keySubscription, func(_ string, text []byte) error {
		var r subscriptionRecord
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
		return s.addSubscription(r)
	}); err != nil {
		return err
	}
	if err := s.loadDuplicates(); err != nil {
		return err
	}
	if err := s.migrate(); err != nil {
		return err
	}
	if err := s.inbox.load(s.table); err != nil {
		return err
	}
	return s.loadDeliveries()
}

// Close stops deliveries, which resume when the service is opened again.
func (s *Service) Close() error {
	s.StopPolls()
	s.courier.lanes.Close()
	return s.file.close()
}

// now returns the current time, which never goes backwards. mu is held.
func (s *Service) now() int64 {
	s.last = max(s.last, s.clock.Now().UnixMilli())
	return s.last
}

// numberBlock is the number of numbers that are reserved together.
const numberBlock = 4096

// number returns the next number. mu is held.
func (s *Service) number(b *documents.Batch) uint64 {
	n := s.next
	s.next++
	if s.next > s.reserved {
		s.reserved = max(s.durable, s.next+numberBlock)
		b.Put(s.table, keyNext, fmt.Append(nil, s.reserved))
	}
	return n
}

// sequenceNumbers returns the first of n numbers that are used before the store has what they are used for: their
// reservation is on disk. mu is not held.
func (s *Service) sequenceNumbers(n int) (first uint64, err error) {
	s.mu.Lock()
	first = s.next
	s.next += uint64(n)
	if s.next <= s.durable {
		s.mu.Unlock()
		return first, nil
	}
	b, err := s.opts.Store.Begin()
	if err != nil {
		s.mu.Unlock()
		return 0, err
	}
	s.reserved = max(s.reserved, s.next+numberBlock)
	bound := s.reserved
	b.Put(s.table, keyNext, fmt.Append(nil, bound))
	wait := b.Apply()
	s.mu.Unlock()
	if err := wait(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	s.durable = max(s.durable, bound)
	s.mu.Unlock()
	return first, nil
}

// dropped makes up for a batch that was not applied: it may have raised the reservation.
func (s *Service) dropped() {
	s.mu.Lock()
	s.reserved = min(s.reserved, s.next)
	s.mu.Unlock()
}

// change runs f, which changes topics and subscriptions, and waits until the changes are on disk. Changes that f made
// before it returned an error are stored, too, because they have taken effect.
func (s *Service) change(f func(now int64, b *documents.Batch) error) error {
	s.mu.Lock()
	b, err := s.opts.Store.Begin()
	if err != nil {
		s.mu.Unlock()
		return err
	}
	err = f(s.now(), b)
	wait := b.Apply()
	s.mu.Unlock()
	if e := wait(); e != nil {
		return e
	}
	return err
}

// put adds a value to a batch as JSON.
func (s *Service) put(b *documents.Batch, key string, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		b.Put(s.table, key, text)
	}
	return err
}

// numbered returns the key for a number. Keys sort in numeric order.
func numbered(prefix string, n uint64) string { return fmt.Sprintf("%s%020d", prefix, n) }

// Handler serves the API, the signing certificate, and the inbox at InboxPath.
func (s *Service) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, certificatePath):
			s.signer.serve(w, r, s.clock.Now())
		case isInbox(r):
			s.serveInbox(w, r)
		default:
			s.api().ServeHTTP(w, r)
		}
	})
}

// Claims reports whether an unsigned request is for SNS: a link in a message, or a request to the inbox.
func Claims(r *http.Request) bool {
	action := r.URL.Query().Get("Action")
	return strings.HasPrefix(r.URL.Path, certificatePath) || isInbox(r) ||
		r.URL.Path == "/" && (action == "ConfirmSubscription" || action == "Unsubscribe")
}

// Serves reports whether an operation is implemented.
func (s *Service) Serves(operation string) bool { return s.api().Serves(operation) }

// Coverage returns which operations are implemented.
func (s *Service) Coverage() server.Coverage { return s.api().Coverage() }

func (s *Service) newAPI() *server.Service {
	publish, batch := server.Handle(s.publish), server.Handle(s.publishBatch)
	const room = 4 << 20 // a message of 256 KiB, escaped
	publish.MaxBody, batch.MaxBody = room, room
	publish.TooLarge, batch.TooLarge = errTooLong, errBatchTooLong
	return server.Must(server.Config{
		Model: "sns", ReservedTag: errReservedTag, Partly: partly, Default: s.opts.Scope, Invalid: "ValidationError", Failure: failure, Log: s.opts.Log,
		Words: server.Words{Unchecked: []string{"TagKey", "TagValue"}},
		Operations: map[string]server.Operation{
			"AddPermission":             server.Handle(s.addPermission),
			"ConfirmSubscription":       server.Handle(s.confirmSubscription),
			"CreateTopic":               server.Handle(s.createTopic),
			"DeleteTopic":               server.Handle(s.deleteTopic),
			"GetDataProtectionPolicy":   server.Handle(s.getDataProtectionPolicy),
			"GetSubscriptionAttributes": server.Handle(s.getSubscriptionAttributes),
			"GetTopicAttributes":        server.Handle(s.getTopicAttributes),
			"ListSubscriptions":         server.Handle(s.listSubscriptions),
			"ListSubscriptionsByTopic":  server.Handle(s.listSubscriptionsByTopic),
			"ListTagsForResource":       server.Handle(s.listTagsForResource),
			"ListTopics":                server.Handle(s.listTopics),
			"Publish":                   publish,
			"PublishBatch":              batch,
			"PutDataProtectionPolicy":   server.Handle(s.putDataProtectionPolicy),
			"RemovePermission":          server.Handle(s.removePermission),
			"SetSubscriptionAttributes": server.Handle(s.setSubscriptionAttributes),
			"SetTopicAttributes":        server.Handle(s.setTopicAttributes),
			"Subscribe":                 server.Handle(s.subscribe),
			"TagResource":               server.Handle(s.tagResource),
			"Unsubscribe":               {Call: s.unsubscribe, Reads: subscriptionName{}, Answer: none{}},
			"UntagResource":             server.Handle(s.untagResource),
		},
	})
}

// none is the response of operations that return nothing.
type none struct{}

// pageSize is the number of elements per page of a list.
const pageSize = 100

// timeText formats a time in the format used in messages.
func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
