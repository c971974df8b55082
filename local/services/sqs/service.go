package sqs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/sqs/queue"
	"stepback/local/services/sqs/store"
)

// Options are the settings of a Service. Dir and Clock are required.
type Options struct {
	// Dir is the directory of the queues. It is created together with the first queue.
	Dir string
	// Clock is the time source, also for waits. It must outlive the service.
	Clock *clock.Clock
	// Scope is the account and region of requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Endpoint is the start of queue URLs for callers within this process, such as http://127.0.0.1:4566. Other
	// callers get URLs with the host that they used.
	Endpoint string
	// Disk configures how the store uses the disk.
	Disk documents.Disk
	// Log receives refused requests and failed tasks; nil discards them.
	Log *slog.Logger
}

// Service is the embedded SQS. It is safe for concurrent use.
type Service struct {
	opts  Options
	clock *clock.Clock
	store *store.Store

	moving sync.WaitGroup // running message move tasks
	ctx    context.Context
	stop   context.CancelFunc

	mu       sync.Mutex
	last     int64 // the latest time used
	next     uint64
	reserved uint64 // next stays below it; otherwise it must be raised first
	queues   map[address]*live
	byID     map[uint64]*live
	moves    map[uint64]*move
	stopped  bool // polls no longer wait
}

// address identifies a queue.
type address struct {
	scope aws.Scope
	name  string
}

// record is a queue as it is stored, without its messages.
type record struct {
	Account, Region, Name string
	Attributes            map[string]string // verbatim
	Tags                  map[string]string `json:",omitempty"`
	Created, Modified     int64             // milliseconds since 1970
	Purged                int64             `json:",omitempty"`
}

// live is a queue with its state.
type live struct {
	record
	id       uint64
	arn      string
	limits   limits
	queue    *queue.Queue
	waiting  []*waiter
	messages func() uint64 // generates receipts
	counted  counted
}

func (q *live) scope() aws.Scope { return aws.Scope{Account: q.Account, Region: q.Region} }

// Open opens the queues in a directory and resumes unfinished tasks. Call Close to stop.
func Open(o Options) (*Service, error) {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	kept, err := store.OpenOn(o.Dir, o.Disk)
	if err != nil {
		return nil, err
	}
	s := &Service{opts: o, clock: o.Clock, store: kept, queues: map[address]*live{}, byID: map[uint64]*live{},
		moves: map[uint64]*move{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if err := s.load(); err != nil {
		s.stop()
		return nil, errors.Join(fmt.Errorf("the queues in %s: %w", o.Dir, err), kept.Close())
	}
	for _, m := range s.moves {
		if m.Status == moveRunning {
			s.run(m)
		}
	}
	return s, nil
}

// load reads all stored data.
func (s *Service) load() (err error) {
	if s.next, err = s.store.Next(); err != nil {
		return err
	}
	s.next = max(s.next, 1)
	s.reserved = s.next
	if err := s.store.Queues(func(id uint64, text []byte) error {
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			return err
		}
		s.add(id, r)
		return nil
	}); err != nil {
		return err
	}
	if err := s.store.Messages(func(id uint64, m *queue.Message) {
		if q := s.byID[id]; q != nil {
			q.queue.Put(m)
		}
	}); err != nil {
		return err
	}
	if err := s.loadDuplicates(); err != nil {
		return err
	}
	return s.store.Moves(func(id uint64, text []byte) error {
		m := &move{id: id}
		s.moves[id] = m
		return json.Unmarshal(text, m)
	})
}

// loadDuplicates loads the deduplication keys, which must be added to a queue in order of time.
func (s *Service) loadDuplicates() error {
	type known struct {
		queue *live
		name  string
		at    int64
		seq   uint64
	}
	var all []known
	if err := s.store.Duplicates(func(id uint64, name string, at int64, seq uint64) {
		if q := s.byID[id]; q != nil {
			all = append(all, known{q, name, at, seq})
		}
	}); err != nil {
		return err
	}
	sortBy(all, func(k known) int64 { return k.at })
	for _, k := range all {
		k.queue.queue.Remember(k.at, k.name, k.seq)
	}
	return nil
}

// add adds a stored queue in memory.
func (s *Service) add(id uint64, r record) *live {
	q := &live{record: r, id: id, messages: rand.Uint64}
	q.arn = q.scope().ARN("sqs", r.Name)
	q.limits = limitsOf(r.Attributes)
	q.queue = queue.New(q.limits.settings())
	s.queues[address{q.scope(), r.Name}] = q
	s.byID[id] = q
	return q
}

// keep adds the record of a queue to a batch.
func (s *Service) keep(b *store.Batch, q *live) error {
	text, err := json.Marshal(q.record)
	if err == nil {
		b.PutQueue(q.id, text)
	}
	return err
}

// Close stops polls and message move tasks, which resume when the directory is opened again, and closes the store.
func (s *Service) Close() error {
	s.StopPolls()
	s.stop()
	s.moving.Wait()
	return s.store.Close()
}

// now returns the current time, which never goes backwards. mu is held.
func (s *Service) now() int64 {
	s.last = max(s.last, s.clock.Now().UnixMilli())
	return s.last
}

// number returns the next number. mu is held.
func (s *Service) number(b *store.Batch) uint64 {
	const block = 4096
	n := s.next
	s.next++
	if s.next > s.reserved {
		s.reserved = s.next + block
		b.PutNext(s.reserved)
	}
	return n
}

// change runs f, which changes the queues, and waits until the changes are on disk. Changes that f made before it
// returned an error are stored, too, because they have taken effect.
func (s *Service) change(f func(now int64, b *store.Batch) error) error {
	s.mu.Lock()
	b, err := s.store.Begin()
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

// on runs f, which changes the queue with a URL, and waits until the changes are on disk.
func (s *Service) on(scope aws.Scope, url string, f func(now int64, b *store.Batch, q *live) error) error {
	s.mu.Lock()
	_, err := s.find(scope, url)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.change(func(now int64, b *store.Batch) error {
		q, err := s.find(scope, url)
		if err != nil {
			return err
		}
		s.tidy(now, b, q)
		return f(now, b, q)
	})
}

// tidy removes expired messages and deduplication keys.
func (s *Service) tidy(now int64, b *store.Batch, q *live) {
	for _, m := range q.queue.Expire(now) {
		b.DeleteMessage(q.id, m)
	}
	for _, name := range q.queue.Forget(now) {
		b.DeleteDuplicate(q.id, name)
	}
}

// Handler serves the API.
func (s *Service) Handler() *server.Service { return server.Must(s.config()) }

func (s *Service) config() server.Config {
	return server.Config{
		Model: "sqs", Invalid: codeValue, Operations: s.operations(), Partly: partly, Failure: failure, Default: s.opts.Scope,
		Log: s.opts.Log,
		Words: server.Words{QueryCodes: queryCodes, QueryDetail: true, Missing: missing, Unchecked: []string{"QueueAttributeName",
			"MessageSystemAttributeName", "MessageSystemAttributeNameForSends"}},
	}
}

func (s *Service) operations() map[string]server.Operation {
	const room = 8 << 20 // a message of 1 MiB with every character escaped
	send, sendBatch := server.Handle(s.sendMessage), server.Handle(s.sendMessageBatch)
	send.MaxBody, sendBatch.MaxBody = room, room
	send.TooLarge, sendBatch.TooLarge = tooLong(MaxMessageBytes), batchTooLong(room)
	return map[string]server.Operation{
		"CreateQueue":                  {Call: s.createQueue, Reads: createQueueRequest{}, Answer: queueURL{}},
		"DeleteQueue":                  server.Handle(s.deleteQueue),
		"GetQueueUrl":                  {Call: s.getQueueURL, Reads: queueURLRequest{}, Answer: queueURL{}},
		"ListQueues":                   {Call: s.listQueues, Reads: listQueuesRequest{}, Answer: queueURLs{}},
		"GetQueueAttributes":           server.Handle(s.getQueueAttributes),
		"SetQueueAttributes":           server.Handle(s.setQueueAttributes),
		"PurgeQueue":                   server.Handle(s.purgeQueue),
		"ListDeadLetterSourceQueues":   {Call: s.listDeadLetterSourceQueues, Reads: sourceQueuesRequest{}, Answer: sourceURLs{}},
		"SendMessage":                  send,
		"SendMessageBatch":             sendBatch,
		"ReceiveMessage":               server.Handle(s.receiveMessage),
		"DeleteMessage":                server.Handle(s.deleteMessage),
		"DeleteMessageBatch":           server.Handle(s.deleteMessageBatch),
		"ChangeMessageVisibility":      server.Handle(s.changeMessageVisibility),
		"ChangeMessageVisibilityBatch": server.Handle(s.changeMessageVisibilityBatch),
		"StartMessageMoveTask":         server.Handle(s.startMessageMoveTask),
		"CancelMessageMoveTask":        server.Handle(s.cancelMessageMoveTask),
		"ListMessageMoveTasks":         server.Handle(s.listMessageMoveTasks),
		"ListQueueTags":                server.Handle(s.listQueueTags),
		"TagQueue":                     server.Handle(s.tagQueue),
		"UntagQueue":                   server.Handle(s.untagQueue),
		"AddPermission":                server.Handle(s.addPermission),
		"RemovePermission":             server.Handle(s.removePermission),
	}
}

// none is the response of operations that return nothing.
type none struct{}

// queueRequest is a request that names a queue.
type queueRequest struct {
	URL string `json:"QueueUrl"`
}
