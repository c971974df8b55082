package pebble

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"stepback/engine/history"
	"stepback/engine/internal/startorder"
	"stepback/engine/journal"
	"stepback/internal/pebbleguard"
)

// The index has one key for each list that an ended execution is in. Those that are under way are in memory: most of
// them are so for a moment, and what was removed from the store would be in the way of who looks for what is running.

// openSet are the executions under way.
type openSet = startorder.Set[struct{}]

type openEntry = startorder.Entry[struct{}]

// indexed are the statuses that executions are in the index by, as the byte in its keys.
var indexed = map[history.Status]byte{
	history.Succeeded: 1, history.Failed: 2, history.TimedOut: 3, history.Aborted: 4,
}

// statuses are the statuses by their bytes in the index.
var statuses = func() map[byte]history.Status {
	all := make(map[byte]history.Status, len(indexed))
	for s, b := range indexed {
		all[b] = s
	}
	return all
}()

// Sizes within the keys of the index.
const (
	listEnd   = len(indexPrefix) + 8 // the list ends here, and its statuses begin
	startFrom = listEnd + 1
	arnFrom   = startFrom + 8
)

// appendList appends what the keys of a list begin with.
func appendList(dst []byte, list uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, indexPrefix...), list)
}

// appendIndex appends the key of an execution in a list. Starts sort from the newest to the oldest.
func appendIndex(dst []byte, list uint64, status byte, start int64, arn string) []byte {
	dst = append(appendList(dst, list), status)
	return append(binary.BigEndian.AppendUint64(dst, uint64(math.MaxInt64-start)), arn...)
}

// redrivenFlag is in the first byte of a value of the index; the error name is behind it. A value without either is
// empty.
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

// indexedAs reads a value of the index.
func indexedAs(value []byte) (errorName []byte, redriven bool) {
	if len(value) == 0 {
		return nil, false
	}
	return value[1:], value[0]&redrivenFlag != 0
}

// index puts an ended execution into its lists.
func (e *encoder) index(x *journal.Execution) {
	from := len(e.data)
	e.data = appendIndexed(e.data, x)
	value := span{from, len(e.data)}
	for _, list := range journal.ListsOf(x) {
		e.ops = append(e.ops, operation{e.indexKey(list, x, x.Status), value, set})
	}
}

// unindex takes an execution that had ended with a status out of its lists.
func (e *encoder) unindex(x *journal.Execution, was history.Status) {
	for _, list := range journal.ListsOf(x) {
		e.op(remove, e.indexKey(list, x, was))
	}
}

func (e *encoder) indexKey(list string, x *journal.Execution, s history.Status) span {
	from := len(e.keys)
	e.keys = appendIndex(e.keys, journal.ListID(list), indexed[s], x.Start.UnixNano(), x.ARN)
	return span{from, len(e.keys)}
}

// forgetEarlier takes an EXPRESS execution out of the index that ended before and is now run anew, with another start.
func (j *Journal) forgetEarlier(e *encoder, x *journal.Execution) error {
	earlier, err := read(j, executionPrefix, x.ARN, journal.DecodeListed)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil
	case err == nil && earlier.Ended():
		e.unindex(earlier, earlier.Status)
	}
	return err
}

// openEntries are an execution in all of its lists under way.
func openEntries(x *journal.Execution) []openEntry {
	lists := journal.ListsOf(x)
	entries := make([]openEntry, len(lists))
	for i, list := range lists {
		entries[i] = openEntry{List: journal.ListID(list), Start: x.Start.UnixNano(), ARN: x.ARN}
	}
	return entries
}

// opening returns done with what a record changes of the executions under way, which happens once it is durable.
func (j *Journal) opening(r *journal.Record, done func(error)) func(error) {
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
			change(entries...)
		}
		done(err)
	}
}

// readOpen finds the executions under way.
func (j *Journal) readOpen() error {
	var key []byte
	it, err := j.db.NewIter(&pebble.IterOptions{LowerBound: []byte(stepPrefix), UpperBound: after([]byte(stepPrefix))})
	if err != nil {
		return err
	}
	for valid := it.First(); valid; valid = it.SeekGE(key) {
		arn, ok := stepOf(it.Key())
		if !ok {
			err = fmt.Errorf("the key %q is not that of a step", it.Key())
			break
		}
		x, unreadable := read(j, executionPrefix, arn, journal.DecodeListed)
		if unreadable == nil && !x.Ended() { // recovery and Check tell of what cannot be read
			j.open.Put(openEntries(x)...)
		}
		key = append(append(append(key[:0], stepPrefix...), arn...), 1) // behind all of its steps
	}
	return errors.Join(err, damaged(it.Error()), it.Close())
}

// stepOf is the ARN in the key of a step.
func stepOf(key []byte) (arn string, ok bool) {
	const number = 9 // bytes: 0 and the number
	key = key[len(stepPrefix):]
	if len(key) <= number || key[len(key)-number] != 0 {
		return "", false
	}
	return string(key[:len(key)-number]), true
}

// hasIndex reports whether the store has a whole index.
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

// rebuildIndex makes the index anew from the descriptions of the executions. With its last part the store has the
// format of this version.
func (j *Journal) rebuildIndex() error {
	b := j.db.NewBatch()
	defer func() { _ = b.Close() }()
	if err := b.DeleteRange([]byte(indexPrefix), after([]byte(indexPrefix)), nil); err != nil {
		return err
	}
	var raw []byte
	e := &encoder{}
	for it, err := range j.walk(executionPrefix) {
		if err != nil {
			return err
		}
		x, err := unpackInto(&raw, it, journal.DecodeListed)
		if err != nil || !x.Ended() {
			continue // what cannot be read is in no list; Check tells of it
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
	return pebbleguard.Call(func() error { return b.Commit(pebble.Sync) })
}

// startOf is the start in a key of the index.
func startOf(key []byte) int64 {
	return math.MaxInt64 - int64(binary.BigEndian.Uint64(key[startFrom:arnFrom]))
}

// sinceNanos is the earliest start of a list.
func sinceNanos(l *journal.List) int64 {
	if l.Since.IsZero() || l.Since.Before(time.Unix(0, 0)) {
		return 0
	}
	return l.Since.UnixNano()
}
