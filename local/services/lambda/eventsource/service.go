package eventsource

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb"
	"stepback/local/services/lambda/functions"
	"stepback/local/services/sqs"
	"stepback/tasks/lambda/invocation"
)

// Queues gives access to the queues that mappings read, as package sqs does.
type Queues interface {
	Queue(queue aws.ARN) (sqs.Consumable, error)
	Consume(ctx context.Context, queue aws.ARN, most int, end time.Time) ([]sqs.Received, error)
	Remove(queue aws.ARN, handles []string) error
}

// Streams gives access to the streams of tables, as package dynamodb does.
type Streams interface {
	Position(stream string, latest bool) (place uint64, shard string, err error)
	Changes(stream string, from uint64, most, maxBytes int) ([]dynamodb.Change, uint64, error)
	Follow(stream string, ring func()) (end func(), err error)
}

// Functions gives access to the functions that mappings invoke, as package functions does.
type Functions interface {
	Get(scope aws.Scope, name, qualifier string) (*functions.Function, error)
	Invoke(ctx context.Context, scope aws.Scope, r *invocation.Request) (*invocation.Answer, error)
}

// Options are the settings of a Service. All but MayRead and Log are required.
type Options struct {
	Store     *documents.Store
	Clock     *clock.Clock
	Queues    Queues
	Streams   Streams
	Functions Functions
	// Deliver sends the notification of records that were given up to a queue or topic.
	Deliver func(ctx context.Context, arn string, m *delivery.Message) error
	// MayRead returns an error if the role of a function, given by the function's ARN, may not read a source. If it
	// is nil, every function may read.
	MayRead func(ctx context.Context, function, source string) error
	// Log receives the failures of mappings; nil discards them.
	Log *slog.Logger
}

// Service stores and runs the mappings. It is safe for concurrent use.
type Service struct {
	o           Options
	table       *documents.Table
	checkpoints *documents.Table
	ctx         context.Context
	stop        context.CancelFunc
	pollers     sync.WaitGroup

	changes sync.Mutex // one change at a time
	mu      sync.Mutex
	resumed bool
	of      map[string]*mapped // by UUID
}

// mapped is a mapping with its poller, which is nil while the mapping is disabled or not started.
type mapped struct {
	*Mapping
	poller *poller
}

// Open loads the mappings in a store. They start once Resume is called.
func Open(o Options) (*Service, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{o: o, table: o.Store.Table("lambda-mappings"), checkpoints: o.Store.Table("lambda-checkpoints"),
		of: map[string]*mapped{}}
	err := s.table.Scan("", func(id string, text []byte) error {
		m := new(Mapping)
		if err := json.Unmarshal(text, m); err != nil {
			return fmt.Errorf("the event source mapping %s: %w", id, err)
		}
		s.of[id] = &mapped{Mapping: m}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Resume starts the mappings. Call it once, when sources, functions and destinations are available.
func (s *Service) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumed = true
	for _, m := range s.of {
		s.begin(m, nil)
	}
}

// Close stops running batches and waits for them. Messages that functions were handling become visible again; stream
// records are handled again.
func (s *Service) Close() {
	s.stop()
	s.pollers.Wait()
}

// mayRead returns an error if the function of a mapping may not read its source.
func (s *Service) mayRead(ctx context.Context, m *Mapping) error {
	if s.o.MayRead == nil {
		return nil
	}
	return s.o.MayRead(ctx, m.FunctionArn, m.EventSourceArn)
}

// begin starts a poller for a mapping, after the previous poller (before) has ended. mu is held.
func (s *Service) begin(m *mapped, before *poller) {
	if !m.Enabled || !s.resumed || s.ctx.Err() != nil {
		return
	}
	p := newPoller(s, m.Mapping, before)
	m.poller = p
	s.o.Clock.Go(p.ctx, &s.pollers, patience, p.run)
}

// keep writes a mapping and, if place is not nil, its position in the stream. It waits for the disk.
func (s *Service) keep(m *Mapping, place *uint64) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	b, err := s.o.Store.Begin()
	if err != nil {
		return err
	}
	b.Put(s.table, m.UUID, text)
	if place != nil {
		b.Put(s.checkpoints, m.UUID, placeText(*place))
	}
	return b.Apply()()
}
