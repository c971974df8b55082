package pebblestore

import (
	"bytes"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

// change is a version of a key, or its deletion.
type change struct {
	key, value []byte
	sequence   uint64
	deleted    bool
}

// before orders changes by key, newest first.
func (a *change) before(b *change) bool {
	if c := bytes.Compare(a.key, b.key); c != 0 {
		return c < 0
	}
	return a.sequence > b.sequence
}

// removal is the deletion of a range of keys.
type removal struct {
	from, to []byte
	sequence uint64
}

// source yields changes in order.
type source struct {
	next func() (change, bool)
	head change
}

// merge merges the changes of tables and logs. It implements heap.Interface.
type merge struct {
	sources  []*source
	removals []removal
}

func (m *merge) Len() int           { return len(m.sources) }
func (m *merge) Less(i, j int) bool { return m.sources[i].head.before(&m.sources[j].head) }
func (m *merge) Swap(i, j int)      { m.sources[i], m.sources[j] = m.sources[j], m.sources[i] }
func (m *merge) Push(x any)         { m.sources = append(m.sources, x.(*source)) }

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	last := m.sources[len(m.sources)-1]
	m.sources = m.sources[:len(m.sources)-1]
	return last
}

func (m *merge) add(next func() (change, bool)) {
	if head, ok := next(); ok {
		heap.Push(m, &source{next, head})
	}
}

// addTable adds the readable changes of a table.
//
//nolint:contextcheck,nolintlint // a table is read to its end
func (m *merge) addTable(system vfs.FS, path string, problem func(error)) (closeTable func(), err error) {
	f, err := system.Open(path)
	if err != nil {
		return nil, err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(context.Background(), readable, sstable.ReaderOptions{})
	if err != nil {
		return nil, errors.Join(err, readable.Close())
	}
	if err := m.addRemovals(r); err != nil {
		problem(err)
	}
	next, stop := iter.Pull(scanTable(r, problem))
	m.add(next)
	return func() {
		stop()
		_ = r.Close() // it was only read
	}, nil
}

// addRemovals reads the range deletions of a table.
//
//nolint:contextcheck,nolintlint // likewise
func (m *merge) addRemovals(r *sstable.Reader) error {
	it, err := r.NewRawRangeDelIter(context.Background(), sstable.NoFragmentTransforms, sstable.NoReadEnv)
	if it == nil || err != nil {
		return err
	}
	defer it.Close()
	for span, err := it.First(); span != nil || err != nil; span, err = it.Next() {
		if err != nil {
			return err
		}
		for _, k := range span.Keys {
			m.removals = append(m.removals, removal{slices.Clone(span.Start), slices.Clone(span.End),
				uint64(k.SeqNum())})
		}
	}
	return nil
}

// scanTable yields the readable changes of a table, in order. After an unreadable block it continues with the next one
// that can be read.
func scanTable(r *sstable.Reader, problem func(error)) iter.Seq[change] {
	return func(yield func(change) bool) {
		var from, last []byte // where to continue, and the key read last
		for {
			it, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.TableBlobContext{})
			if err != nil {
				problem(err)
				return
			}
			kv := it.SeekGE(from, 0)
			for ; kv != nil; kv = it.Next() {
				c, err := changeOf(kv.K.UserKey, kv)
				if err != nil {
					problem(fmt.Errorf("the value of the key %q: %w", kv.K.UserKey, firstLine(err)))
					continue
				}
				last = append(last[:0], c.key...)
				if !yield(c) {
					_ = it.Close()
					return
				}
			}
			err = it.Error()
			_ = it.Close() // repeats the error
			if err == nil {
				return
			}
			problem(fmt.Errorf("the values after the key %q: %w", last, firstLine(err)))
			var behind []change
			if behind, from = skip(r, last); from == nil {
				return
			}
			for _, c := range slices.Backward(behind) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// entry is an entry of a table; Pebble's own type is not exported.
type entry interface {
	Kind() pebble.InternalKeyKind
	SeqNum() pebble.SeqNum
	Value(buf []byte) (value []byte, callerOwned bool, err error)
}

func changeOf(key []byte, e entry) (change, error) {
	value, _, err := e.Value(nil)
	kind := e.Kind()
	return change{slices.Clone(key), slices.Clone(value), uint64(e.SeqNum()),
		kind != pebble.InternalKeyKindSet && kind != pebble.InternalKeyKindSetWithDelete}, err
}

// skip continues after an unreadable block: it seeks the nearest readable key after last and reads back from there as
// far as possible. behind are the changes that it passed, in reverse order; from is where to continue, nil if nowhere.
func skip(r *sstable.Reader, last []byte) (behind []change, from []byte) {
	for next := range seeks(last) {
		it, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.TableBlobContext{})
		if err != nil {
			return nil, nil
		}
		kv := it.SeekGE(next, 0)
		if kv == nil && it.Error() == nil { // there are no keys after next
			if kv = it.Last(); kv != nil {
				from = append(slices.Clone(kv.K.UserKey), 0)
			}
		} else if kv != nil {
			from = slices.Clone(kv.K.UserKey)
			kv = it.Prev()
		}
		for ; kv != nil && bytes.Compare(kv.K.UserKey, last) > 0; kv = it.Prev() {
			if c, err := changeOf(kv.K.UserKey, kv); err == nil {
				behind = append(behind, c)
			}
		}
		_ = it.Close() // repeats an error that was reported
		if from != nil {
			return behind, from
		}
	}
	return nil, nil
}

// seeks yields keys after last from which reading may continue, at increasing distance: the successors of last's
// prefixes, then all first bytes.
func seeks(last []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for n := len(last); n > 0; n-- {
			if last[n-1] == 0xFF {
				continue
			}
			next := slices.Clone(last[:n])
			next[n-1]++
			if !yield(next) {
				return
			}
		}
		first := 0
		if len(last) > 0 {
			first = int(last[0]) + 1
		}
		for ; first <= 0xFF; first++ {
			if !yield([]byte{byte(first)}) {
				return
			}
		}
	}
}

// addLogs adds the readable changes of the logs, which fit into memory.
func (m *merge) addLogs(c Config, problem func(error)) error {
	logs, err := wal.Scan(wal.Dir{FS: c.FS, Dirname: c.Dir})
	if err != nil {
		return err
	}
	var all []change
	for i, l := range logs {
		if err := m.addLog(l, &all); err != nil && i < len(logs)-1 || errors.Is(err, pebble.ErrCorruption) {
			problem(fmt.Errorf("%s.log: %w", l.Num, firstLine(err)))
		}
	}
	slices.SortStableFunc(all, func(a, b change) int {
		switch {
		case a.before(&b):
			return -1
		case b.before(&a):
			return 1
		}
		return 0
	})
	m.add(func() (one change, ok bool) {
		if len(all) == 0 {
			return change{}, false
		}
		one, all = all[0], all[1:]
		return one, true
	})
	return nil
}

// addLog reads a log up to its end or the first record that cannot be read.
func (m *merge) addLog(l wal.LogicalLog, all *[]change) (err error) {
	records := l.OpenForRead()
	defer func() { err = errors.Join(err, records.Close()) }()
	for {
		r, _, err := records.NextRecord()
		var batch []byte
		if err == nil {
			batch, err = io.ReadAll(r)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || len(batch) < batchHeader {
			return err
		}
		sequence := binary.LittleEndian.Uint64(batch)
		for changes := batchrepr.Read(batch); ; sequence++ {
			kind, key, value, ok, err := changes.Next()
			if err != nil || !ok {
				if err != nil {
					return err
				}
				break
			}
			switch kind {
			case pebble.InternalKeyKindLogData:
				sequence--
			case pebble.InternalKeyKindRangeDelete:
				m.removals = append(m.removals, removal{slices.Clone(key), slices.Clone(value), sequence})
			default:
				set := kind == pebble.InternalKeyKindSet || kind == pebble.InternalKeyKindSetWithDelete
				*all = append(*all, change{slices.Clone(key), slices.Clone(value), sequence, !set})
			}
		}
	}
}

// newest calls read with the newest version of each key that has not been deleted.
func (m *merge) newest(ctx context.Context, read func(key, value []byte) error) (records int, err error) {
	var last []byte
	for started := false; m.Len() > 0; started = true {
		if ctx.Err() != nil {
			return records, ctx.Err()
		}
		top := m.sources[0]
		c := top.head
		if next, ok := top.next(); ok {
			top.head = next
			heap.Fix(m, 0)
		} else {
			heap.Pop(m)
		}
		if started && bytes.Equal(c.key, last) {
			continue
		}
		last = c.key
		if c.deleted || m.removed(&c) {
			continue
		}
		records++
		if err := read(c.key, c.value); err != nil {
			return records, err
		}
	}
	return records, nil
}

// removed reports whether a range deletion covers a change.
func (m *merge) removed(c *change) bool {
	return slices.ContainsFunc(m.removals, func(r removal) bool {
		return r.sequence > c.sequence && bytes.Compare(r.from, c.key) <= 0 && bytes.Compare(c.key, r.to) < 0
	})
}
