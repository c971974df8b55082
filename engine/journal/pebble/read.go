package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/klauspost/compress/s2"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// view reads the store as it is, or a snapshot of it.
type view struct{ from pebble.Reader }

// snapshot implements journal.Snapshot.
type snapshot struct {
	view

	of *pebble.Snapshot
}

// Snapshot implements journal.Snapshots.
func (j *Journal) Snapshot() journal.Snapshot {
	s := j.db.NewSnapshot()
	return &snapshot{view{s}, s}
}

// Close implements journal.Snapshot.
func (s *snapshot) Close() error { return s.of.Close() }

// Execution implements journal.Executions.
func (v view) Execution(_ context.Context, arn string) (*journal.Execution, error) {
	return read(v, executionPrefix, arn, v.executionOf(arn))
}

// History implements journal.Executions.
func (v view) History(_ context.Context, arn string) ([]history.Event, error) {
	short, err := read(v, executionPrefix, arn, func(raw []byte) ([]byte, error) {
		_, short, err := split(raw)
		return short, err
	})
	if err != nil {
		return nil, err
	}
	decode := func(raw []byte) ([]history.Event, error) {
		events, _, err := history.Decode(raw, v.apart(arn))
		return events, err
	}
	if short == nil {
		return read(v, historyPrefix, arn, decode)
	}
	events, err := decode(short)
	return events, wrap(arn, err)
}

// withHistory is the first byte of a description that is followed by the history and by the length of the description,
// in four bytes. Other descriptions begin with the length of the ARN, which is never 0.
const withHistory = 0

// split returns the parts of an execution's value. short is nil if the history is not part of it.
func split(raw []byte) (description, short []byte, err error) {
	if len(raw) == 0 || raw[0] != withHistory {
		return raw, nil, nil
	}
	raw = raw[1:]
	at := len(raw) - binary.Size(uint32(0))
	if at < 0 {
		return nil, nil, errTruncated
	}
	n := int64(binary.BigEndian.Uint32(raw[at:]))
	if n > int64(at) {
		return nil, nil, errTruncated
	}
	return raw[:n], raw[n:at], nil
}

var errTruncated = errors.New("a stored execution is truncated or damaged")

// executionOf returns a function that decodes the value of an execution without its history.
func (v view) executionOf(arn string) func(raw []byte) (*journal.Execution, error) {
	return new(decoder).executionOf(v, arn)
}

// decodeListed decodes like executionOf, without the payloads; see journal.DecodeListed.
func decodeListed(raw []byte) (*journal.Execution, error) { return new(decoder).listed(raw) }

// decoder decodes the values of executions one after the other. They share the memory of texts that they have in
// common.
type decoder struct{ last journal.Execution }

// executionOf returns a function that decodes like that of view.executionOf.
func (d *decoder) executionOf(v view, arn string) func(raw []byte) (*journal.Execution, error) {
	return func(raw []byte) (*journal.Execution, error) {
		return d.decode(raw, func(description []byte, like *journal.Execution) (*journal.Execution, error) {
			return journal.DecodeLike(description, v.apart(arn), like)
		})
	}
}

// listed decodes like decodeListed.
func (d *decoder) listed(raw []byte) (*journal.Execution, error) {
	return d.decode(raw, journal.DecodeListed)
}

// decode decodes the value of an execution with a function that gets its description and the execution before it.
func (d *decoder) decode(raw []byte, as func([]byte, *journal.Execution) (*journal.Execution, error)) (
	*journal.Execution, error,
) {
	description, _, err := split(raw)
	if err != nil {
		return nil, err
	}
	x, err := as(description, &d.last)
	if err == nil {
		d.last = *x
	}
	return x, err
}

// read reads and decodes the value of a key.
func read[T any](v view, prefix, arn string, decode func([]byte) (T, error)) (T, error) {
	var none T
	packed, closer, err := v.from.Get([]byte(prefix + arn))
	if errors.Is(err, pebble.ErrNotFound) {
		return none, fmt.Errorf("%w: %s", journal.ErrNotFound, arn)
	}
	if err != nil {
		return none, damaged(err)
	}
	defer closer.Close()
	return unpack(packed, arn, decode)
}

// inOrder reads the values of many ARNs that ascend. It looks at its own key and at the next one first, and otherwise
// seeks from there. All of this takes a fraction of the time of a read of its own.
type inOrder struct {
	*pebble.Iterator
	prefix string
	key    []byte
	raw    []byte // reused for each value
}

// inOrder returns a reader of the values with a prefix. Close it.
func (j *Journal) inOrder(prefix string) (*inOrder, error) {
	it, err := j.db.NewIter(&pebble.IterOptions{LowerBound: []byte(prefix), UpperBound: prefixEnd([]byte(prefix))})
	if err != nil {
		return nil, err
	}
	return &inOrder{Iterator: it, prefix: prefix}, nil
}

// readNext reads and decodes like read. decode must not retain any of the memory that it gets.
func readNext[T any](o *inOrder, arn string, decode func([]byte) (T, error)) (T, error) {
	var none T
	o.key = append(append(o.key[:0], o.prefix...), arn...)
	if !o.advance() || !bytes.Equal(o.Key(), o.key) {
		if err := o.Error(); err != nil {
			return none, damaged(err)
		}
		return none, fmt.Errorf("%w: %s", journal.ErrNotFound, arn)
	}
	return unpackInto(&o.raw, o.Iterator, decode)
}

// advance moves to the first key that is not less than o.key. It reports whether there is one.
func (o *inOrder) advance() bool {
	reached := func() bool { return o.Valid() && bytes.Compare(o.Key(), o.key) >= 0 }
	return reached() || o.Valid() && o.Next() && reached() || o.SeekGE(o.key)
}

// damaged explains an error caused by a damaged file; other errors are returned unchanged. Pebble's own text has
// several lines.
func damaged(err error) error {
	if !pebble.IsCorruptionError(err) {
		return err
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%w: %s; restore a backup of its directory", journal.ErrDamaged, first)
}

// unpackInto decodes the value at an iterator's position like unpack. It decompresses into reused memory, so decode
// must not retain any of it.
func unpackInto[T any](raw *[]byte, it *pebble.Iterator, decode func([]byte) (T, error)) (T, error) {
	var value T
	decompressed, err := s2.Decode(*raw, it.Value())
	if err == nil {
		*raw = decompressed[:cap(decompressed)]
		value, err = decode(decompressed)
	}
	if err != nil {
		arn, _, _ := bytes.Cut(it.Key()[len(executionPrefix):], []byte{0}) // all prefixes are of the same length
		err = fmt.Errorf("%s: %w", arn, err)
	}
	return value, err
}

// unpack decompresses and decodes a value.
func unpack[T any](packed []byte, what string, decode func([]byte) (T, error)) (T, error) {
	raw, err := s2.Decode(nil, packed)
	if err != nil {
		var none T
		return none, fmt.Errorf("%s: %w", what, err)
	}
	value, err := decode(raw)
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return value, err
}

// Executions implements journal.Executions.
func (v view) Executions(ctx context.Context, prefix string) iter.Seq2[*journal.Execution, error] {
	return func(yield func(*journal.Execution, error) bool) {
		var raw []byte // reused for each execution
		var decoder decoder
		for it, err := range v.scan(ctx, executionPrefix+prefix) {
			var x *journal.Execution
			if err == nil {
				x, err = unpackInto(&raw, it, decoder.executionOf(v, string(it.Key()[len(executionPrefix):])))
			}
			if errors.Is(err, journal.ErrNotFound) { // it has been removed since the iteration began
				continue
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// EndedSince implements journal.Snapshot.
func (s *snapshot) EndedSince(ctx context.Context, since time.Time) iter.Seq2[*journal.Execution, error] {
	return func(yield func(*journal.Execution, error) bool) {
		from := endKey(nil, max(0, since.UnixNano()), "")
		for it, err := range s.between(from, prefixEnd([]byte(endPrefix))) {
			var x *journal.Execution
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				x, err = s.Execution(ctx, string(it.Key()[len(from):]))
			}
			if errors.Is(err, journal.ErrNotFound) { // damage that Check reports
				continue
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// scan iterates over the keys that begin with prefix until the context ends. It yields the iterator at each key; key
// and value are valid until the next step.
func (v view) scan(ctx context.Context, prefix string) iter.Seq2[*pebble.Iterator, error] {
	return func(yield func(*pebble.Iterator, error) bool) {
		for it, err := range v.walk(prefix) {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(it, err) || err != nil {
				return
			}
		}
	}
}

// walk iterates like scan, without a context to cancel it.
func (v view) walk(prefix string) iter.Seq2[*pebble.Iterator, error] {
	if prefix == "" {
		return v.between(nil, nil)
	}
	return v.between([]byte(prefix), prefixEnd([]byte(prefix)))
}

// between iterates like walk, over the keys from the first one up to but not including the last one; nil means no
// limit.
func (v view) between(from, to []byte) iter.Seq2[*pebble.Iterator, error] {
	return func(yield func(*pebble.Iterator, error) bool) {
		within := pebble.IterOptions{LowerBound: from, UpperBound: to}
		it, err := v.from.NewIter(&within)
		if err != nil {
			yield(nil, err)
			return
		}
		defer it.Close()
		for it.First(); it.Valid(); it.Next() {
			if !yield(it, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(nil, damaged(err))
		}
	}
}
