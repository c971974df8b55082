package dynamodb

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/item"
)

// Options are the settings of a Service. Dir and Clock are required.
type Options struct {
	// Dir is the directory of the tables. It is created with the first table.
	Dir string
	// Clock provides the time and drives the expiry of items. It must outlive the service.
	Clock *clock.Clock
	// Scope is the account and region for requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Disk configures how the store uses the disk.
	Disk documents.Disk
	// Key returns the ARN of the key with an alias; nil means that tables which name no key show the alias.
	Key func(scope aws.Scope, alias string) (arn string, err error)
	// Log receives rejected requests and failed deletions of expired data; nil discards them.
	Log *slog.Logger
}

// mostHeader is the size limit of a request's line and header section, as measured at AWS by others (scylladb's issue
// 23438).
const mostHeader = 16 << 10

// Service is a local DynamoDB. It is safe for concurrent use.
type Service struct {
	opts  Options
	clock *clock.Clock
	store *documents.Store

	onTheWay atomic.Int64 // changes that are visible but not on disk yet

	sweeping sync.WaitGroup // sweeps that are due or running
	underWay sync.WaitGroup // running sweeps
	oneSweep sync.Mutex
	ctx      context.Context
	stop     context.CancelFunc

	mu         sync.RWMutex
	last       int64 // the latest time used
	next       uint64
	reserved   uint64 // next must stay below it; otherwise it is increased first
	tables     map[address]*table
	streams    map[uint64]*stream
	recorded   []uint64                     // the streams to which the present change writes
	follows    map[uint64]map[uint64]func() // functions to call for new records, by stream and registration number
	lastFollow uint64
	sweepAt    int64 // time of the next sweep, in milliseconds; 0 for none
	timer      *clock.Timer
}

// address identifies a table.
type address struct {
	scope aws.Scope
	name  string
}

// Open opens the tables in a directory. Close ends the service.
func Open(o Options) (*Service, error) {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	kept, err := documents.OpenOn(o.Dir, o.Disk)
	if err != nil {
		return nil, err
	}
	s := &Service{opts: o, clock: o.Clock, store: kept, tables: map[address]*table{}, streams: map[uint64]*stream{},
		next: 1, reserved: 1}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if err := s.load(); err != nil {
		s.stop()
		return nil, errors.Join(fmt.Errorf("the tables in %s: %w", o.Dir, err), kept.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tables)+len(s.streams) > 0 {
		s.sweepBy(s.now())
	}
	return s, nil
}

// load loads the store.
func (s *Service) load() error {
	about, found, err := s.store.Get([]byte{aboutKey})
	switch {
	case err != nil:
		return err
	case !found:
		return nil
	case len(about) != 1 || about[0] != version:
		return errors.New("they are of a format that this version does not know")
	}
	next, _, err := s.store.Get([]byte{nextKey})
	if err != nil {
		return err
	}
	if len(next) == 8 {
		s.next = binary.BigEndian.Uint64(next)
		s.reserved = s.next
	}
	if err := s.store.Each([]byte{tableKey}, func(k, value []byte) error {
		var r record
		if err := json.Unmarshal(value, &r); err != nil {
			return err
		}
		number := binary.BigEndian.Uint64(k[1:])
		kept, _, err := s.store.Get(key(statsKey, number))
		if err != nil {
			return err
		}
		c, err := countsOf(kept)
		if err != nil {
			return err
		}
		t := newTable(number, r, c)
		s.tables[address{t.scope(), t.Name}] = t
		return nil
	}); err != nil {
		return err
	}
	return s.store.Each([]byte{streamKey}, func(k, value []byte) error {
		st := &stream{number: binary.BigEndian.Uint64(k[1:])}
		s.streams[st.number] = st
		return json.Unmarshal(value, st)
	})
}

// Close ends running work and closes the store.
func (s *Service) Close() error {
	s.stop()
	s.mu.Lock()
	s.stopTimer()
	s.mu.Unlock()
	s.sweeping.Wait()
	return s.store.Close()
}

// now returns the time in milliseconds, which never goes back. The caller holds mu.
func (s *Service) now() int64 {
	s.last = max(s.last, s.clock.Now().UnixMilli())
	return s.last
}

// number allocates the next number. The caller holds mu.
func (s *Service) number(b *documents.Batch) uint64 {
	const block = 4096
	n := s.next
	s.next++
	if s.next > s.reserved {
		s.reserved = s.next + block
		b.Set([]byte{nextKey}, binary.BigEndian.AppendUint64(nil, s.reserved))
		b.Set([]byte{aboutKey}, []byte{version})
	}
	return n
}

// change executes a change of the tables, and waits until it is on disk. If f returns an error, nothing has changed,
// so f must not modify anything but the batch.
func (s *Service) change(f func(now int64, b *documents.Batch) error) error {
	b, err := s.store.Begin()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.recorded = nil
	if err = f(s.now(), b); err != nil {
		s.mu.Unlock()
		return errors.Join(err, s.waitForVisible())
	}
	s.onTheWay.Add(1)
	wait := b.Apply()
	tell := s.followers(s.recorded)
	s.mu.Unlock()
	err = wait()
	s.onTheWay.Add(-1)
	for _, ring := range tell {
		ring()
	}
	return err
}

// waitForVisible waits until everything visible is on disk. Call it before answering a read.
func (s *Service) waitForVisible() error {
	if s.onTheWay.Load() == 0 {
		return nil
	}
	b, err := s.store.Begin()
	if err != nil {
		return err
	}
	b.Sync()
	return b.Apply()()
}

// read returns the item at a place of a table; nil if there is none.
func (s *Service) read(t *table, place []byte) (item.Item, error) {
	value, found, err := s.store.Get(t.itemKey(place))
	if err != nil || !found {
		return nil, err
	}
	return item.Decode(value)
}

// Handler serves the API of DynamoDB.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{Model: "dynamodb", ReservedTag: errReservedTag, MostHeader: mostHeader, Operations: s.operations(), Partly: partly, Accepted: accepted, Failure: failure,
		Default: s.opts.Scope, Log: s.opts.Log, Words: server.Words{Missing: missing}, CRC32: true, Compress: true, Header: "Server",
		ErrorNamespace: errorNamespace})
}

// StreamsHandler serves the API of DynamoDB Streams. Clients sign its requests like DynamoDB's; only the target
// header distinguishes them.
func (s *Service) StreamsHandler() *server.Service {
	return server.Must(server.Config{Model: "dynamodbstreams", Operations: s.streamOperations(), Failure: failure,
		Default: s.opts.Scope, Log: s.opts.Log, CRC32: true, Compress: true, Header: "Server", ErrorNamespace: errorNamespace})
}

// errorNamespace is the namespace of errors in responses.
const errorNamespace = "com.amazonaws.dynamodb.v20120810"

func (s *Service) operations() map[string]server.Operation {
	served := map[string]server.Operation{
		"CreateTable":               server.Handle(s.createTable),
		"DescribeTable":             server.Handle(s.describeTable),
		"UpdateTable":               server.Handle(s.updateTable),
		"DeleteTable":               server.Handle(s.deleteTable),
		"ListTables":                server.Handle(s.listTables),
		"TagResource":               server.Handle(s.tagResource),
		"UntagResource":             server.Handle(s.untagResource),
		"ListTagsOfResource":        server.Handle(s.listTagsOfResource),
		"UpdateTimeToLive":          server.Handle(s.updateTimeToLive),
		"DescribeTimeToLive":        server.Handle(s.describeTimeToLive),
		"DescribeContinuousBackups": server.Handle(s.describeContinuousBackups),
		"UpdateContinuousBackups":   server.Handle(s.updateContinuousBackups),
		"PutResourcePolicy":         server.Handle(s.putResourcePolicy),
		"GetResourcePolicy":         server.Handle(s.getResourcePolicy),
		"DeleteResourcePolicy":      server.Handle(s.deleteResourcePolicy),
		"DescribeLimits":            server.Handle(s.describeLimits),
		"DescribeEndpoints":         {Call: s.describeEndpoints},
		"PutItem":                   server.Handle(s.putItem),
		"GetItem":                   server.Handle(s.getItem),
		"UpdateItem":                server.Handle(s.updateItem),
		"DeleteItem":                server.Handle(s.deleteItem),
		"Query":                     server.Handle(s.query),
		"Scan":                      server.Handle(s.scan),
		"BatchGetItem":              server.Handle(s.batchGetItem),
		"BatchWriteItem":            server.Handle(s.batchWriteItem),
		"TransactGetItems":          server.Handle(s.transactGetItems),
		"TransactWriteItems":        {Call: s.transactWriteItems, Reads: transactWrite{}, Answer: transacted{}},
		"ExecuteStatement":          server.Handle(s.executeStatement),
		"BatchExecuteStatement":     server.Handle(s.batchExecuteStatement),
		"ExecuteTransaction":        {Call: s.executeTransaction, Reads: executeTransaction{}, Answer: transactGotten{}},
	}
	const room = 16 << 20 // AWS's limit
	for name, o := range served {
		o.MaxBody = room
		served[name] = o
	}
	return served
}

// none is the response of operations without output.
type none struct{}

// accepted lists the members of requests that have no effect, and why.
var accepted = map[string]map[string]string{
	"PutResourcePolicy": {
		"ConfirmRemoveSelfResourceAccess": "resource policies are not checked for a lockout",
	},
}
