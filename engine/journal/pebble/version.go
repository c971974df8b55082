package pebble

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/cockroachdb/pebble/v2"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/internal/pebbleguard"
)

// formatVersion is written into every store; a store with a higher one is refused. Format 1 stored no signals of
// unfinished executions; format 2 had no index; format 3 had each history under a key of its own, where it stays.
// Format 4 repeated the input of an execution in its description, its first step and its history, where it stays.
const (
	formatVersion  = 5
	withoutSignals = 1
	withoutIndexes = 2
)

// checkVersion refuses stores of other programs, initializes an empty store as a journal, and upgrades one of an
// earlier version.
func (j *Journal) checkVersion(readOnly bool) error {
	found, err := j.version()
	if err == nil {
		j.indexed, err = j.hasIndex()
	}
	switch {
	case err != nil || found == 0 && readOnly:
		return err
	case readOnly && found < withoutIndexes:
		return fmt.Errorf("written by an earlier stepback: format %d, this one reads %d; stepback data compact upgrades it", found, formatVersion)
	case readOnly:
		j.indexed = j.indexed && found > withoutIndexes
		return nil
	case found == withoutSignals:
		err = j.upgrade()
	}
	switch {
	case err != nil:
	case !j.indexed || found <= withoutIndexes:
		err = j.rebuildIndex() // which writes the version
		j.indexed = err == nil
	case found != formatVersion:
		err = j.write(func(b *pebble.Batch) error {
			return b.Set([]byte(versionKey), []byte(strconv.Itoa(formatVersion)), nil)
		})
	}
	return err
}

// version returns the format of a journal's store, or 0 if the store is empty. A newer format is refused.
func (j *Journal) version() (int, error) {
	v, closer, err := j.db.Get([]byte(versionKey))
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, j.empty()
	}
	if err != nil {
		return 0, err
	}
	found, err := strconv.Atoi(string(v))
	if err = errors.Join(err, closer.Close()); err != nil {
		return 0, fmt.Errorf("the store's format version: %w", err)
	}
	if found > formatVersion {
		return 0, fmt.Errorf("written by a newer stepback: format %d, this one reads up to %d; use the version that wrote it", found, formatVersion)
	}
	return found, nil
}

// empty refuses a store that has data but no version, since it belongs to another program.
func (j *Journal) empty() error {
	it, err := j.db.NewIter(nil)
	if err != nil {
		return err
	}
	foreign := it.First()
	if err := it.Close(); err != nil {
		return err
	}
	if foreign {
		return errors.New("it is another program's store, not a journal of stepback, or its MANIFEST is truncated; nothing was changed")
	}
	return nil
}

// write commits operations at once, bypassing the committer.
func (j *Journal) write(fill func(*pebble.Batch) error) error {
	b := j.db.NewBatch()
	defer b.Close()
	if err := fill(b); err != nil {
		return err
	}
	return j.commitNow(b)
}

// commitNow commits a batch at once, bypassing the committer.
func (j *Journal) commitNow(b *pebble.Batch) error {
	w := pebble.Sync
	if j.volatile {
		w = pebble.NoSync
	}
	err := pebbleguard.Call(func() error { return b.Commit(w) })
	if err == nil && w.Sync {
		j.db.Synced(b)
	}
	return err
}

// upgrade converts a store of format 1 to the current format. Executions that had not ended are aborted, since their
// signals were not stored.
func (j *Journal) upgrade() error {
	b := j.db.NewBatch()
	defer b.Close()
	for it, err := range j.walk(executionPrefix) {
		if err != nil {
			return err
		}
		x, err := unpack(it.Value(), string(it.Key()), j.executionOf(string(it.Key()[len(executionPrefix):])))
		if err != nil {
			return err
		}
		e := &encoder{}
		if x.Ended() {
			e.addEnd(x)
		} else if err := j.encode(e, interrupt(x)); err != nil {
			return err
		}
		if err := e.fill(b); err != nil {
			return err
		}
	}
	return j.commitNow(b)
}

// interrupt ends an execution whose signals are unknown.
func interrupt(x *journal.Execution) *journal.Record {
	x.Status, x.Stop, x.HistorySize = history.Aborted, x.Start, 2
	x.Failure = history.NewFailure("Interrupted",
		"The process that ran the execution ended, and an earlier version of stepback did not keep its events.")
	at := x.Start.UnixNano()
	return &journal.Record{Execution: x, End: true, All: []history.Event{
		{ID: 1, Time: at, Type: history.ExecutionStarted, Data: x.Input, More: &history.Details{}},
		{ID: 2, Time: at, Type: history.ExecutionAborted, More: &history.Details{Failure: x.Failure}},
	}}
}
