// Package pebble keeps executions in a Pebble store in a directory. Histories are written whole, compressed, when an execution
// ends; the start and the end of top-level executions are synced to disk before they become visible.
package pebble

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/klauspost/compress/s2"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// formatVersion is written into every store; a store with a higher one is refused.
const formatVersion = "1"

// The keys of the store: one version record, executions and histories by ARN.
const (
	versionKey      = "v"
	executionPrefix = "x/"
	historyPrefix   = "h/"
)

// Journal is a journal.Journal on disk.
type Journal struct {
	db      *pebble.DB
	buffers sync.Pool
}

// Options of a store; the zero value is usable.
type Options struct {
	// DiskFull is called when the disk has no room for what is written. It has to end the process: Pebble cannot go on without
	// its log. What was committed before is there when the store is opened again. Without it a full disk is a panic.
	DiskFull func()
}

// Open opens or creates the store in a directory. Only one process at a time can have it open.
func Open(dir string, o Options) (*Journal, error) {
	cache := pebble.NewCache(16 << 20)
	defer cache.Unref()
	options := &pebble.Options{Cache: cache, MemTableSize: 16 << 20, Logger: silent{}, FormatMajorVersion: pebble.FormatNewest}
	options.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone }) // values are compressed already
	if o.DiskFull != nil {
		options.FS = vfs.OnDiskFull(vfs.Default, o.DiskFull)
	}
	db, err := pebble.Open(dir, options)
	if err != nil {
		hint := ""
		if locked(err) {
			hint = " (is another stepback using this data directory?)"
		}
		return nil, fmt.Errorf("opening the journal in %s%s: %w", dir, hint, err)
	}
	j := &Journal{db: db}
	j.buffers.New = func() any { return new([]byte) }
	if err := j.checkVersion(); err != nil {
		return nil, errors.Join(fmt.Errorf("journal in %s: %w", dir, err), db.Close())
	}
	return j, nil
}

// locked reports whether another process, or this one, has the store open.
func locked(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process")
}

func (j *Journal) checkVersion() error {
	v, closer, err := j.db.Get([]byte(versionKey))
	if errors.Is(err, pebble.ErrNotFound) {
		return j.db.Set([]byte(versionKey), []byte(formatVersion), pebble.Sync)
	}
	if err != nil {
		return err
	}
	found := string(v)
	if err := closer.Close(); err != nil {
		return err
	}
	if found != formatVersion {
		return fmt.Errorf("format version %s is not the %s that this stepback reads; use the version that wrote it", found, formatVersion)
	}
	return nil
}

// Commit implements journal.Journal.
func (j *Journal) Commit(r *journal.Record, done func(error)) {
	if !r.Begin && !r.End {
		done(nil)
		return
	}
	done(j.write(r))
}

func (j *Journal) write(r *journal.Record) error {
	b := j.db.NewBatch()
	defer b.Close()
	raw, packed := j.buffers.Get().(*[]byte), j.buffers.Get().(*[]byte)
	defer j.buffers.Put(raw)
	defer j.buffers.Put(packed)
	set := func(key string) error {
		*packed = s2.Encode((*packed)[:cap(*packed)], *raw)
		return b.Set([]byte(key+r.Execution.ARN), *packed, nil)
	}
	*raw = r.Execution.AppendBinary((*raw)[:0])
	if err := set(executionPrefix); err != nil {
		return err
	}
	if r.End {
		*raw = history.AppendBinary((*raw)[:0], r.All)
		if err := set(historyPrefix); err != nil {
			return err
		}
	}
	durability := pebble.NoSync
	if r.Execution.MapRunARN == "" {
		durability = pebble.Sync
	}
	return b.Commit(durability)
}

// Execution implements journal.Journal.
func (j *Journal) Execution(_ context.Context, arn string) (*journal.Execution, error) {
	v, closer, err := j.db.Get([]byte(executionPrefix + arn))
	if err != nil {
		return nil, found(err, arn)
	}
	defer closer.Close()
	return unpack(v)
}

func unpack(packed []byte) (*journal.Execution, error) {
	raw, err := s2.Decode(nil, packed)
	if err != nil {
		return nil, err
	}
	return journal.Decode(raw)
}

func found(err error, arn string) error {
	if errors.Is(err, pebble.ErrNotFound) {
		return fmt.Errorf("%w: %s", journal.ErrNotFound, arn)
	}
	return err
}

// History implements journal.Journal.
func (j *Journal) History(_ context.Context, arn string) ([]history.Event, error) {
	v, closer, err := j.db.Get([]byte(historyPrefix + arn))
	if err != nil {
		return nil, found(err, arn)
	}
	defer closer.Close()
	raw, err := s2.Decode(nil, v)
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", arn, err)
	}
	events, _, err := history.Decode(raw)
	return events, err
}

// Executions implements journal.Journal.
func (j *Journal) Executions(ctx context.Context, prefix string) iter.Seq2[*journal.Execution, error] {
	return func(yield func(*journal.Execution, error) bool) {
		lower := []byte(executionPrefix + prefix)
		it, err := j.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: lower, UpperBound: after(lower)})
		if err != nil {
			yield(nil, err)
			return
		}
		defer it.Close()
		for it.First(); it.Valid(); it.Next() {
			x, err := unpack(it.Value())
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", it.Key(), err))
				return
			}
			if !yield(x, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(nil, err)
		}
	}
}

// after is the first key behind all that begin with a prefix.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// Close implements journal.Journal.
func (j *Journal) Close() error { return errors.Join(j.db.Flush(), j.db.Close()) }

// silent drops Pebble's own messages; its errors reach the caller as errors.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic("pebble: " + fmt.Sprintf(format, args...))
}
