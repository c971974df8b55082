package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Repaired reports what Repair has saved.
type Repaired struct {
	// Records is the number of keys kept. Unreadable is the number of places that could not be read.
	Records, Unreadable int
	// Aside is the new path of the damaged directory.
	Aside string
}

// Repair builds a new store from the readable data of the store in c.Dir, which no process may have open, and replaces
// the old one with it; the damaged store is moved aside unchanged. It reads tables and logs one by one, so it needs
// neither an intact MANIFEST nor intact logs. It calls tell for each place that it cannot read, and for lost tails.
// keep, if not nil, chooses the keys to copy; finish, if not nil, completes the new store. If one of them returns an
// error, nothing is changed.
func Repair(ctx context.Context, c Config, keep func(key []byte) bool, finish func(*Store) error,
	tell func(error)) (found Repaired, err error) {
	fresh := c
	fresh.Dir, fresh.ReadOnly, fresh.Inspect = c.Dir+".repaired", false, nil
	if err := os.RemoveAll(fresh.Dir); err != nil {
		return found, err
	}
	to, err := Open(fresh)
	if err != nil {
		return found, err
	}
	found, err = CopyReadable(ctx, c, to, keep, tell)
	if err == nil && finish != nil {
		err = finish(to)
	}
	if err == nil {
		err = to.Flush()
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return found, errors.Join(err, os.RemoveAll(fresh.Dir))
	}
	found.Aside, err = Aside(c.Dir)
	if err != nil {
		return found, err
	}
	return found, os.Rename(fresh.Dir, c.Dir)
}

// Aside moves a damaged file or directory aside, unchanged, and returns its new path.
func Aside(path string) (string, error) {
	aside := path + time.Now().UTC().Format(".damaged-20060102T150405.000000Z")
	return aside, os.Rename(path, aside)
}

// copyBytes is the size of the batches in which data is copied.
const copyBytes = 4 << 20

// CopyReadable copies all readable data of c.Dir, which no process may have open, into another store. keep, if not nil,
// chooses the keys to copy; tell is called for each place that cannot be read.
func CopyReadable(ctx context.Context, c Config, to *Store, keep func([]byte) bool, tell func(error)) (Repaired, error) {
	b := to.NewBatch()
	defer func() { _ = b.Close() }()
	records := 0
	found, err := Salvage(ctx, c, func(key, value []byte) error {
		if keep != nil && !keep(key) {
			return nil
		}
		records++
		if err := b.Set(key, value, nil); err != nil || b.Len() < copyBytes {
			return err
		}
		if err := b.Commit(pebble.NoSync); err != nil {
			return err
		}
		b.Reset()
		return nil
	}, tell)
	found.Records = records
	if err == nil {
		err = b.Commit(pebble.Sync)
	}
	if err == nil {
		to.Synced(b)
	}
	return found, err
}

// Salvage calls read for all keys and values in c.Dir that can be read, in order, and tell for each place that cannot.
// It reads tables and logs one by one. No process may have the store open.
func Salvage(ctx context.Context, c Config, read func(key, value []byte) error, tell func(error)) (found Repaired, err error) {
	lock, err := c.FS.Lock(filepath.Join(c.Dir, "LOCK"))
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	problem := func(err error) {
		found.Unreadable++
		tell(fmt.Errorf("%s: %w", c.Dir, err))
	}
	state, err := inspect(c)
	if err != nil {
		problem(err)
	}
	for _, lost := range state.losses {
		problem(lost)
	}
	if state.lost != nil {
		problem(state.lost)
	}
	names, err := listedTables(c)
	if err != nil || state.lost != nil || !state.exists {
		if err != nil {
			problem(fmt.Errorf("its MANIFEST cannot be used, so all tables in the directory are read; deleted data may come back: %w", err))
		}
		names = nil
		all, err := c.FS.List(c.Dir)
		if err != nil {
			return found, err
		}
		for _, name := range all {
			if filepath.Ext(name) == ".sst" {
				names = append(names, name)
			}
		}
	}
	m := &merge{}
	for _, name := range names {
		close, err := m.addTable(c.FS, filepath.Join(c.Dir, name), func(err error) { problem(fmt.Errorf("%s: %w", name, firstLine(err))) })
		if err != nil {
			problem(fmt.Errorf("%s cannot be read: %w", name, firstLine(err)))
			continue
		}
		defer close()
	}
	if err := m.addLogs(c, problem); err != nil {
		return found, err
	}
	found.Records, err = m.newest(ctx, read)
	return found, err
}

// withoutLogs is a file system on which a store seems to have no logs, so that damaged ones do not prevent reading its
// MANIFEST.
type withoutLogs struct{ vfs.FS }

// List implements vfs.FS.
func (w withoutLogs) List(dir string) ([]string, error) {
	names, err := w.FS.List(dir)
	return slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) == ".log" }), err
}

// Lock implements vfs.FS. The caller has locked the directory.
func (w withoutLogs) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// listedTables returns the tables that the MANIFEST lists, whether or not they exist.
func listedTables(c Config) ([]string, error) {
	there, err := pebble.Peek(c.Dir, c.FS)
	if err == nil && !there.Exists {
		err = errors.New("the marker.manifest file is missing")
	}
	if err != nil {
		return nil, firstLine(err)
	}
	o := c.Options(true)
	o.FS, o.DisableConsistencyCheck = withoutLogs{c.FS}, true
	db, err := openPebble(c.Dir, o, true)
	if err != nil {
		return nil, err
	}
	names, err := tableNames(db)
	return names, errors.Join(err, closeRead(db))
}
