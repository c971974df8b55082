package dynamodb

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"stepback/aws"
	"stepback/local/services/documents"
)

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
	if in.Sequence != "" && (in.Type == "LATEST" || in.Type == "TRIM_HORIZON") {
		return nil, invalid("SequenceNumber must not be given for ShardIteratorType " + in.Type)
	}
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
	}
	return &iterator{s.iterator(st, from)}, nil
}

// iteratorLife is the lifetime of an iterator.
const iteratorLife = 15 * time.Minute

// iterator encodes a position in a stream.
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
	if in.Limit > most {
		return nil, tooHigh(in.Limit, most)
	}
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
	return out, s.waitForVisible()
}
