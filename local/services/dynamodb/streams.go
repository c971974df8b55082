package dynamodb

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/item"
)

// streamLife is the retention of stream records, and of streams that have ended.
const streamLife = 24 * time.Hour

// stream is the stream of a table's changes. Each stream has one shard.
type stream struct {
	number                 uint64
	Account, Region, Table string
	Label                  string
	View                   string
	Keys                   schema
	Created                int64 // milliseconds since 1970
	Ended                  int64 `json:",omitempty"` // 0 while it is enabled
	// if the stream has ended: the number of its last possible record
	Last uint64 `json:",omitempty"`
}

func (st *stream) scope() aws.Scope { return aws.Scope{Account: st.Account, Region: st.Region} }
func (st *stream) arn() string {
	return st.scope().ARN("dynamodb", "table/"+st.Table+"/stream/"+st.Label)
}

// shard returns the name of the stream's shard.
func (st *stream) shard() string {
	return fmt.Sprintf("shardId-%020d-%08x", st.Created, uint32(st.number))
}

// sequence returns the API's sequence number for the number of a record.
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

// startStream creates the stream of a table. The caller holds mu.
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

// endStream ends a stream, if there is one; its records stay readable for a while. The caller holds mu.
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

// changeStream starts or ends the stream of a table that is being changed. The caller holds mu.
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

// record adds a record of a mutation to its table's stream. A mutation that changes nothing is not recorded. The
// caller holds mu.
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

// streamRecord is a stream record in the API.
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

// decode decodes what record encoded.
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

// sweepStreams deletes records older than streamLife, and streams that ended more than streamLife ago.
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
