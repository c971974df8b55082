package pebble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"stepback/engine/history"
	"stepback/engine/internal/startorder"
	"stepback/engine/journal"
	"stepback/internal/ctxerr"
	"stepback/internal/pebbleguard"
)

// The index has one key for each list that contains an ended execution. Running executions are held in memory: most
// run only for a moment, and the tombstones of their keys would slow down listing the running ones.

// openSet holds the running executions.
type openSet = startorder.Set[struct{}]

type openEntry = startorder.Entry[struct{}]

// statusBytes maps the statuses that the index contains to the byte that represents them in its keys.
var statusBytes = map[history.Status]byte{
	history.Succeeded: 1, history.Failed: 2, history.TimedOut: 3, history.Aborted: 4,
}

// statuses maps the bytes used in the index to statuses.
var statuses = func() map[byte]history.Status {
	all := make(map[byte]history.Status, len(statusBytes))
	for s, b := range statusBytes {
		all[b] = s
	}
	return all
}()

// Offsets within the keys of the index.
const (
	listEnd   = len(indexPrefix) + 8 // the list ends here and the status follows
	startFrom = listEnd + 1
	arnFrom   = startFrom + 8
)

// appendList appends the prefix shared by the keys of a list.
func appendList(dst []byte, list uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, indexPrefix...), list)
}

// appendIndex appends the key of an execution in a list. Starts sort from newest to oldest.
func appendIndex(dst []byte, list uint64, status byte, start int64, arn string) []byte {
	dst = append(appendList(dst, list), status)
	return append(binary.BigEndian.AppendUint64(dst, uint64(math.MaxInt64-start)), arn...)
}

// redrivenFlag is set in the first byte of an index value; the error name follows. A value with neither is empty.
const redrivenFlag = 1

func appendIndexed(dst []byte, x *journal.Execution) []byte {
	redriven := x.RedriveCount > 0
	if x.Failure.Name == "" && !redriven {
		return dst
	}
	flags := byte(0)
	if redriven {
		flags = redrivenFlag
	}
	return append(append(dst, flags), x.Failure.Name...)
}

// indexedAs decodes an index value: the execution's error name, and whether it was redriven.
func indexedAs(value []byte) (errorName []byte, redriven bool) {
	if len(value) == 0 {
		return nil, false
	}
	return value[1:], value[0]&redrivenFlag != 0
}

// index adds an ended execution to its lists.
func (e *encoder) index(x *journal.Execution) {
	from := len(e.data)
	e.data = appendIndexed(e.data, x)
	value := span{from, len(e.data)}
	for _, list := range journal.ListsOf(x) {
		e.ops = append(e.ops, operation{e.indexKey(list, x, x.Status), value, set})
	}
}

// unindex removes an execution that had ended with status was from its lists.
func (e *encoder) unindex(x *journal.Execution, was history.Status) {
	for _, list := range journal.ListsOf(x) {
		e.op(remove, e.indexKey(list, x, was))
	}
}

func (e *encoder) indexKey(list string, x *journal.Execution, s history.Status) span {
	from := len(e.keys)
	e.keys = appendIndex(e.keys, journal.ListID(list), statusBytes[s], x.Start.UnixNano(), x.ARN)
	return span{from, len(e.keys)}
}

// forgetEarlier removes from the index the earlier run of an EXPRESS execution that now runs again with a different
// start.
func (j *Journal) forgetEarlier(e *encoder, x *journal.Execution) error {
	earlier, err := read(j.view, executionPrefix, x.ARN, decodeListed)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil
	case err == nil && earlier.Ended():
		e.unindex(earlier, earlier.Status)
	}
	return err
}

// openEntries returns the entries of a running execution, one for each of its lists.
func openEntries(x *journal.Execution) []openEntry {
	lists := journal.ListsOf(x)
	entries := make([]openEntry, len(lists))
	for i, list := range lists {
		entries[i] = openEntry{List: journal.ListID(list), Start: x.Start.UnixNano(), ARN: x.ARN}
	}
	return entries
}

// trackOpen wraps done so that, once the record is durable, the set of running executions is updated.
func (j *Journal) trackOpen(r *journal.Record, done func(error)) func(error) {
	x := r.Execution
	begins := r.Begin || r.Past != nil
	if x.Express || begins == r.End {
		return done
	}
	entries := openEntries(x)
	change := j.open.Put
	if r.End {
		change = j.open.Delete
	}
	return func(err error) {
		if err == nil {
			j.opening.change(x.ARN, r.End, func() { change(entries...) })
		}
		done(err)
	}
}

// openReader reads which executions were running when the store was opened, after Open has returned. A server is then
// ready at once, however many there are; only lists of running executions wait.
type openReader struct {
	done    chan struct{} // closed at the end
	err     error         // set before done is closed
	stopped atomic.Bool
	read    atomic.Bool // the end was reached

	mu    sync.Mutex
	ended map[string]bool // executions that have ended since the store was opened
}

// openChunk is the number of executions that are added to the set at a time.
const openChunk = 256

// readOpen finds the running executions: those of a store for reading at once, those of another one in the background.
// stop ends the reading.
func (j *Journal) readOpen() error {
	j.opening = &openReader{done: make(chan struct{}), ended: map[string]bool{}}
	prefix := []byte(stepPrefix)
	steps, err := j.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: prefixEnd(prefix)})
	if err != nil {
		return err
	}
	executions, err := j.inOrder(executionPrefix)
	if err != nil {
		return errors.Join(err, steps.Close())
	}
	read := func() {
		defer close(j.opening.done)
		j.opening.err = errors.Join(j.scanOpen(steps, executions), steps.Close(), executions.Close())
	}
	if !j.readOnly {
		go read()
		return nil
	}
	read()
	return j.opening.err
}

// stop ends the reading and waits for it.
func (o *openReader) stop() {
	o.stopped.Store(true)
	<-o.done
}

// scanOpen adds the running executions to the set. Its iterators are of the moment in which the store was opened.
func (j *Journal) scanOpen(steps *pebble.Iterator, executions *inOrder) error {
	o := j.opening
	var key []byte
	var chunk []openEntry
	var decoder decoder
	for valid := steps.First(); valid && !o.stopped.Load(); valid = steps.SeekGE(key) {
		arn, ok := stepOf(steps.Key())
		if !ok {
			return fmt.Errorf("the key %q is not the key of a step", steps.Key())
		}
		x, unreadable := readNext(executions, arn, decoder.listed)
		if unreadable == nil && !x.Ended() { // recovery and Check report descriptions that cannot be read
			chunk = append(chunk, openEntries(x)...)
		}
		if len(chunk) >= openChunk {
			j.putOpen(chunk)
			chunk = chunk[:0]
		}
		key = append(append(append(key[:0], stepPrefix...), arn...), 1) // after all of its steps
	}
	j.putOpen(chunk)
	if err := damaged(steps.Error()); err != nil || o.stopped.Load() {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = nil
	o.read.Store(true)
	return nil
}

// putOpen adds executions to the set, except those that have ended meanwhile.
func (j *Journal) putOpen(entries []openEntry) {
	o := j.opening
	o.mu.Lock()
	defer o.mu.Unlock()
	j.open.Put(slices.DeleteFunc(entries, func(e openEntry) bool { return o.ended[e.ARN] })...)
}

// change runs f, which adds an execution to the set or removes one that has ended from it.
func (o *openReader) change(arn string, ended bool, f func()) {
	if o.read.Load() {
		f()
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if ended && o.ended != nil {
		o.ended[arn] = true
	}
	f()
}

// await waits until the running executions are known.
func (o *openReader) await(ctx context.Context) error {
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	}
}

// stepOf returns the ARN in the key of a step.
func stepOf(key []byte) (arn string, ok bool) {
	const number = 9 // bytes: 0 and the number
	key = key[len(stepPrefix):]
	if len(key) <= number || key[len(key)-number] != 0 {
		return "", false
	}
	return string(key[:len(key)-number]), true
}

// hasIndex reports whether the store has a complete index.
func (j *Journal) hasIndex() (bool, error) {
	_, closer, err := j.db.Get([]byte(indexedKey))
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, damaged(err)
	}
	return true, closer.Close()
}

// rebuildIndex rebuilds the index from the descriptions of the executions. Once its last part is written, the store
// has this version's format.
func (j *Journal) rebuildIndex() error {
	b := j.db.NewBatch()
	defer func() { _ = b.Close() }()
	if err := b.DeleteRange([]byte(indexPrefix), prefixEnd([]byte(indexPrefix)), nil); err != nil {
		return err
	}
	var raw []byte
	var decoder decoder
	e := &encoder{}
	for it, err := range j.walk(executionPrefix) {
		if err != nil {
			return err
		}
		x, err := unpackInto(&raw, it, decoder.listed)
		if err != nil || !x.Ended() {
			continue // an unreadable execution is in no list; Check reports it
		}
		e.reset()
		e.index(x)
		if err := e.fill(b); err != nil {
			return err
		}
		if b.Len() < groupBytes {
			continue
		}
		if err := pebbleguard.Call(func() error { return b.Commit(pebble.NoSync) }); err != nil {
			return err
		}
		b.Reset()
	}
	err := errors.Join(b.Set([]byte(indexedKey), nil, nil),
		b.Set([]byte(versionKey), []byte(strconv.Itoa(formatVersion)), nil))
	if err != nil {
		return err
	}
	return j.commitNow(b)
}

// startOf returns the start time in a key of the index.
func startOf(key []byte) int64 {
	return math.MaxInt64 - int64(binary.BigEndian.Uint64(key[startFrom:arnFrom]))
}

// sinceNanos returns the earliest start that a list includes, in nanoseconds.
func sinceNanos(l *journal.List) int64 {
	if l.Since.IsZero() || l.Since.Before(time.Unix(0, 0)) {
		return 0
	}
	return l.Since.UnixNano()
}
