package dynamodb

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/services/documents"
	"stepback/services/dynamodb/item"
)

// streamLife is how long records of streams are kept, and streams that have ended.
const streamLife = 24 * time.Hour

// stream is the changes of a table while they are recorded. Each stream has one shard.
type stream struct {
	number                 uint64
	Account, Region, Table string
	Label                  string
	View                   string
	Keys                   schema
	Created                int64  // milliseconds since 1970
	Ended                  int64  `json:",omitempty"` // 0 while it goes on
	Last                   uint64 `json:",omitempty"` // of a stream that has ended: no record is behind this number
}

func (st *stream) scope() aws.Scope { return aws.Scope{Account: st.Account, Region: st.Region} }
func (st *stream) arn() string {
	return st.scope().ARN("dynamodb", "table/"+st.Table+"/stream/"+st.Label)
}

// shard is the name of the stream's shard.
func (st *stream) shard() string {
	return fmt.Sprintf("shardId-%020d-%08x", st.Created, uint32(st.number))
}

// sequence is the number of a record as the API writes it.
func sequence(n uint64) string { return fmt.Sprintf("1%020d", n) }

func sequenceOf(text string) (uint64, bool) {
	digits, ok := strings.CutPrefix(text, "1")
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil && len(digits) == 20
}

const (
	viewNew  = "NEW_IMAGE"
	viewOld  = "OLD_IMAGE"
	viewBoth = "NEW_AND_OLD_IMAGES"
	viewKeys = "KEYS_ONLY"
)

func (in *streamSpecification) check() error {
	switch {
	case in == nil:
	case in.Enabled && in.View == "":
		return invalid(invalidParameter + "StreamViewType is required when StreamEnabled is true")
	case !in.Enabled && in.View != "":
		return invalid(invalidParameter + "StreamViewType must not be specified when StreamEnabled is false")
	}
	return nil
}

// startStream makes the stream of a table. mu is held.
func (s *Service) startStream(now int64, b *documents.Batch, r *record, view string) (uint64, error) {
	st := &stream{number: s.number(b), Account: r.Account, Region: r.Region, Table: r.Name, View: view, Keys: r.Keys,
		Created: now, Label: time.UnixMilli(now).UTC().Format("2006-01-02T15:04:05.000")}
	return st.number, s.keepStream(b, st)
}

func (s *Service) keepStream(b *documents.Batch, st *stream) error {
	text, err := json.Marshal(st)
	if err == nil {
		b.Set(key(streamKey, st.number), text)
		s.streams[st.number] = st
	}
	return err
}

// endStream ends a stream, if there is one: its records can be read for a while. mu is held.
func (s *Service) endStream(now int64, b *documents.Batch, number uint64) error {
	st := s.streams[number]
	if st == nil || st.Ended != 0 {
		return nil
	}
	ended := *st
	ended.Ended, ended.Last = now, s.number(b)
	s.sweepBy(now + streamLife.Milliseconds())
	return s.keepStream(b, &ended)
}

// changeStream starts or ends the stream of a table that is being changed. mu is held.
func (s *Service) changeStream(now int64, b *documents.Batch, t *table, asked *streamSpecification) (err error) {
	if asked == nil {
		return nil
	}
	st := s.streams[t.Stream]
	on := st != nil && st.Ended == 0
	switch {
	case asked.Enabled && on:
		return invalid("Table already has an enabled stream: TableName: " + t.Name)
	case !asked.Enabled && !on:
		return invalid("Table has no stream to disable: TableName: " + t.Name)
	case asked.Enabled:
		t.Stream, err = s.startStream(now, b, &t.record, asked.View)
		return err
	}
	return s.endStream(now, b, t.Stream)
}

// record puts the record of a mutation into the stream of its table. What changes nothing is not recorded. mu is held.
func (s *Service) record(now int64, b *documents.Batch, m *mutation) error {
	st := s.streams[m.table.Stream]
	if st == nil || st.Ended != 0 || m.old != nil && m.new != nil && item.EqualItems(m.old, m.new) {
		return nil
	}
	k := m.key
	if len(k) == 0 {
		k = m.table.keyOf(m.old)
	}
	var old, new item.Item
	if st.View == viewOld || st.View == viewBoth {
		old = m.old
	}
	if st.View == viewNew || st.View == viewBoth {
		new = m.new
	}
	event := byte(eventModify)
	switch {
	case m.old == nil:
		event = eventInsert
	case m.new == nil:
		event = eventRemove
	}
	value := append(binary.BigEndian.AppendUint64(nil, uint64(now)), event, byte(min(len(m.principal), 1)))
	for _, part := range []item.Item{k, old, new} {
		var text []byte
		if part != nil {
			text = part.Append(nil)
		}
		value = append(binary.AppendUvarint(value, uint64(len(text))), text...)
	}
	b.Set(key(recordKey, st.number, s.number(b)), value)
	s.recorded = append(s.recorded, st.number)
	s.sweepBy(now + streamLife.Milliseconds())
	return nil
}

const (
	eventInsert = iota
	eventModify
	eventRemove
)

// streamRecord is a record of a stream in the API.
type streamRecord struct {
	ID       string    `json:"eventID"`
	Name     string    `json:"eventName"`
	Version  string    `json:"eventVersion"`
	Source   string    `json:"eventSource"`
	Region   string    `json:"awsRegion"`
	Change   change    `json:"dynamodb"`
	Identity *identity `json:"userIdentity,omitempty"`
}

type identity struct {
	Principal string `json:"PrincipalId"`
	Type      string
}

type change struct {
	At       server.Time `json:"ApproximateCreationDateTime"`
	Keys     item.Item
	New      item.Item `json:"NewImage,omitempty"`
	Old      item.Item `json:"OldImage,omitempty"`
	Sequence string    `json:"SequenceNumber"`
	Bytes    int       `json:"SizeBytes"`
	View     string    `json:"StreamViewType"`
}

// decode reads what record wrote.
func (st *stream) decode(n uint64, value []byte) (*streamRecord, error) {
	const head = 10
	if len(value) < head {
		return nil, item.ErrDamaged
	}
	at := int64(binary.BigEndian.Uint64(value))
	r := &streamRecord{ID: fmt.Sprintf("%016x%016x", st.number, n), Version: "1.1", Source: "aws:dynamodb",
		Region: st.Region, Change: change{At: server.Time(time.UnixMilli(at).Truncate(time.Second)),
			Sequence: sequence(n),
			View:     st.View}}
	switch value[8] {
	case eventInsert:
		r.Name = "INSERT"
	case eventModify:
		r.Name = "MODIFY"
	default:
		r.Name = "REMOVE"
	}
	if value[9] == 1 {
		r.Identity = &identity{service, "Service"}
	}
	value = value[head:]
	for _, to := range []*item.Item{&r.Change.Keys, &r.Change.Old, &r.Change.New} {
		n, size := binary.Uvarint(value)
		if size <= 0 || n > uint64(len(value)-size) {
			return nil, item.ErrDamaged
		}
		if n > 0 {
			var err error
			if *to, err = item.Decode(value[size : size+int(n)]); err != nil {
				return nil, err
			}
		}
		value = value[size+int(n):]
		r.Change.Bytes += to.Size()
	}
	return r, nil
}

// sweepStreams deletes records that are too old, and streams that ended so long ago.
func (s *Service) sweepStreams() (due int64, err error) {
	err = s.change(func(now int64, b *documents.Batch) error {
		before := now - streamLife.Milliseconds()
		soonest := func(at int64) {
			if at += streamLife.Milliseconds(); due == 0 || at < due {
				due = at
			}
		}
		for number, st := range s.streams {
			if st.Ended != 0 && st.Ended <= before {
				b.UnsetAll(key(recordKey, number))
				b.UnsetAll(key(streamKey, number))
				delete(s.streams, number)
				continue
			}
			if st.Ended != 0 {
				soonest(st.Ended)
			}
			err := s.store.Each(key(recordKey, number), func(k, value []byte) error {
				if at := int64(binary.BigEndian.Uint64(value)); at > before {
					soonest(at)
					return errEnough
				}
				b.Unset(k)
				return nil
			})
			if err != nil && !errors.Is(err, errEnough) {
				return err
			}
		}
		return nil
	})
	return due, err
}

func (s *Service) streamOperations() map[string]server.Operation {
	return map[string]server.Operation{
		"ListStreams":      server.Handle(s.listStreams),
		"DescribeStream":   server.Handle(s.describeStream),
		"GetShardIterator": server.Handle(s.getShardIterator),
		"GetRecords":       server.Handle(s.getRecords),
	}
}

type listStreams struct {
	Table string `json:"TableName"`
	Limit int
	After string `json:"ExclusiveStartStreamArn"`
}

type streams struct {
	Streams []listedStream
	Last    string `json:"LastEvaluatedStreamArn,omitempty"`
}

type listedStream struct {
	ARN   string `json:"StreamArn"`
	Table string `json:"TableName"`
	Label string `json:"StreamLabel"`
}

const mostListed = 100

func (s *Service) listStreams(_ context.Context, scope aws.Scope, in *listStreams) (*streams, error) {
	out := &streams{Streams: []listedStream{}}
	s.mu.RLock()
	for _, st := range s.streams {
		if st.scope() == scope && (in.Table == "" || in.Table == st.Table) && st.arn() > in.After {
			out.Streams = append(out.Streams, listedStream{st.arn(), st.Table, st.Label})
		}
	}
	s.mu.RUnlock()
	slices.SortFunc(out.Streams, func(a, b listedStream) int { return strings.Compare(a.ARN, b.ARN) })
	limit := mostListed
	if in.Limit > 0 {
		limit = min(in.Limit, limit)
	}
	if len(out.Streams) > limit {
		out.Streams = out.Streams[:limit]
		out.Last = out.Streams[limit-1].ARN
	}
	return out, nil
}

// stream is the stream of an ARN.
func (s *Service) stream(arn string) (*stream, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, st := range s.streams {
		if st.arn() == arn {
			return st, nil
		}
	}
	return nil, &aws.Error{Code: errNoTable.Code, Message: "Requested resource not found: Stream: " + arn + " not found"}
}

type describeStream struct {
	ARN    string `json:"StreamArn"`
	After  string `json:"ExclusiveStartShardId"`
	Filter *struct {
		Type  string
		Shard string `json:"ShardId"`
	} `json:"ShardFilter"`
}

type describedStream struct {
	Description streamDescription `json:"StreamDescription"`
}

type streamDescription struct {
	ARN     string             `json:"StreamArn"`
	Label   string             `json:"StreamLabel"`
	Status  string             `json:"StreamStatus"`
	View    string             `json:"StreamViewType"`
	Created server.Time        `json:"CreationRequestDateTime"`
	Table   string             `json:"TableName"`
	Keys    []keySchemaElement `json:"KeySchema"`
	Shards  []shard            `json:"Shards"`
	Last    string             `json:"LastEvaluatedShardId,omitempty"`
}

type shard struct {
	ID     string        `json:"ShardId"`
	Range  sequenceRange `json:"SequenceNumberRange"`
	Parent string        `json:"ParentShardId,omitempty"`
}

type sequenceRange struct {
	First string `json:"StartingSequenceNumber"`
	Last  string `json:"EndingSequenceNumber,omitempty"`
}

func (s *Service) describeStream(_ context.Context, _ aws.Scope, in *describeStream) (*describedStream, error) {
	st, err := s.stream(in.ARN)
	if err != nil {
		return nil, err
	}
	d := streamDescription{ARN: st.arn(), Label: st.Label, Status: "ENABLED", View: st.View,
		Created: server.Time(time.UnixMilli(st.Created)), Table: st.Table, Keys: st.Keys.elements(), Shards: []shard{}}
	one := shard{ID: st.shard(), Range: sequenceRange{First: sequence(st.number)}}
	if st.Ended != 0 {
		d.Status = "DISABLED"
		one.Range.Last = sequence(st.Last)
	}
	if in.After != one.ID && in.Filter == nil { // the shard has no children
		d.Shards = append(d.Shards, one)
	}
	return &describedStream{d}, nil
}

type getShardIterator struct {
	ARN      string `json:"StreamArn"`
	Shard    string `json:"ShardId"`
	Type     string `json:"ShardIteratorType"`
	Sequence string `json:"SequenceNumber"`
}

type iterator struct {
	Iterator string `json:"ShardIterator"`
}

func (s *Service) getShardIterator(_ context.Context, _ aws.Scope, in *getShardIterator) (*iterator, error) {
	st, err := s.stream(in.ARN)
	if err != nil {
		return nil, err
	}
	if in.Shard != st.shard() {
		return nil, &aws.Error{Code: errNoTable.Code,
			Message: "Requested resource not found: Shard does not exist: " + in.Shard}
	}
	s.mu.RLock()
	next := s.next
	s.mu.RUnlock()
	from := st.number
	switch in.Type {
	case "LATEST":
		from = next
	case "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER":
		n, ok := sequenceOf(in.Sequence)
		if !ok {
			return nil, invalidf("Invalid SequenceNumber: %q", in.Sequence)
		}
		if from = n; in.Type == "AFTER_SEQUENCE_NUMBER" {
			from++
		}
	default:
		if in.Sequence != "" {
			return nil, invalid("SequenceNumber must not be given for ShardIteratorType " + in.Type)
		}
	}
	return &iterator{s.iterator(st, from)}, nil
}

// iteratorLife is how long an iterator is good for.
const iteratorLife = 15 * time.Minute

// iterator is the text of a place in a stream.
func (s *Service) iterator(st *stream, from uint64) string {
	b := binary.BigEndian.AppendUint64(nil, st.number)
	b = binary.BigEndian.AppendUint64(b, from)
	b = binary.BigEndian.AppendUint64(b, uint64(s.clock.Now().UnixMilli()))
	return st.arn() + "|1|" + base64.StdEncoding.EncodeToString(b)
}

type getRecords struct {
	Iterator string `json:"ShardIterator"`
	Limit    int
}

type records struct {
	Records []*streamRecord
	Next    string `json:"NextShardIterator,omitempty"`
}

func (s *Service) getRecords(_ context.Context, _ aws.Scope, in *getRecords) (*records, error) {
	const most, size, numbers = 1000, 1 << 20, 24
	parts := strings.Split(in.Iterator, "|")
	b, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(b) != numbers {
		return nil, invalid("Invalid ShardIterator")
	}
	number, from := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	now := s.clock.Now()
	if now.Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(b[16:])))) > iteratorLife {
		return nil, &aws.Error{Code: "ExpiredIteratorException", Message: "The shard iterator has expired."}
	}
	s.mu.RLock()
	st := s.streams[number]
	s.mu.RUnlock()
	if st == nil {
		return nil, &aws.Error{Code: errNoTable.Code, Message: "Requested resource not found: Stream: " + parts[0] + " not found"}
	}
	limit := most
	if in.Limit > 0 {
		limit = min(limit, in.Limit)
	}
	out, bytes, full := &records{Records: []*streamRecord{}}, 0, false
	prefix := key(recordKey, number)
	before := now.Add(-streamLife).UnixMilli()
	err = s.store.Range(key(recordKey, number, from), documents.After(prefix), false, func(k, value []byte) error {
		if len(out.Records) == limit || bytes >= size {
			full = true
			return errEnough
		}
		n := binary.BigEndian.Uint64(k[len(prefix):])
		from = n + 1
		if len(value) >= 8 && int64(binary.BigEndian.Uint64(value)) <= before {
			return nil
		}
		r, err := st.decode(n, value)
		if err == nil {
			out.Records = append(out.Records, r)
			bytes += r.Change.Bytes
		}
		return err
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if st.Ended == 0 || full {
		out.Next = s.iterator(st, from)
	}
	return out, s.seen()
}
