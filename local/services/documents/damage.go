package documents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"stepback/internal/ownerfs"
	"stepback/internal/pebblestore"
)

// errDamaged is returned if stored data cannot be read any more because it differs from what was written.
var errDamaged = errors.New("the store is damaged")

// damaged explains an error caused by a damaged file; other errors are returned unchanged.
func (s *Store) damaged(err error) error {
	if !pebble.IsCorruptionError(err) {
		return err
	}
	first, _, _ := strings.Cut(err.Error(), "\n") // Pebble adds lines for its own developers
	return fmt.Errorf("%s: %w: %s; restore a backup of the directory, or recover intact data with stepback data repair", s.dir,
		errDamaged, first)
}

// hint returns what to do after a store could not be opened.
func hint(err error) string {
	switch {
	case strings.Contains(err.Error(), "lock held by current process"), errors.Is(err, syscall.EAGAIN):
		return " (is another stepback using this data directory?)"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return " (stepback needs write access)"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ""
	}
	return " (if its files are missing or damaged: restore a backup, or recover intact data with stepback data repair)"
}

// synced notes that a batch is on disk, before its changes are acknowledged.
func (s *Store) synced(b changes) {
	s.mu.Lock()
	db := pebbleOf(s.db)
	s.mu.Unlock()
	if db != nil {
		db.Synced(batchOf(b))
	}
}

// LostTails returns the losses at the end of the store's log that have been found, oldest first. They are reported
// until Repair.
func (s *Store) LostTails() []*pebblestore.LostTail {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil {
		return nil
	}
	return s.db.LostTails()
}

// Check reads everything in the store and calls problem for each defect. keys is the number of keys.
func (s *Store) Check(ctx context.Context, problem func(error)) (keys int, err error) {
	db, err := reading(s)
	if err != nil || db == nil {
		return 0, err
	}
	return db.Check(ctx, configure(s, nil), problem)
}

// View opens an existing store in a directory for reading; nothing in the directory changes. Changes are rejected. If
// the directory does not exist, the store is empty.
func View(dir string) (*Store, error) {
	s := &Store{dir: dir, fs: ownerfs.System, broken: ErrReadOnly}
	_, err := s.fs.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref() // the store holds its own reference
	c := configure(s, cache)
	c.ReadOnly = true
	db, err := pebblestore.Open(c)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w%s", dir, err, hint(err))
	}
	s.db = db
	return s, nil
}

// ErrReadOnly is returned by changes of a store that was opened with View.
var ErrReadOnly = errors.New("the store is open for reading only")

// Salvage calls read for the keys and values of the store in a directory, which no process may have open, as far as
// they can be read, and problem for each place that cannot. Key and value are valid only during the call.
func Salvage(ctx context.Context, dir string, read func(key, value []byte) error, problem func(error)) error {
	s := &Store{dir: dir, fs: ownerfs.System}
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref()
	_, err := pebblestore.Salvage(ctx, configure(s, cache), read, problem)
	return err
}

// Repair builds a new store from the readable data of the store in a directory, which no process may have open, and
// replaces the old one with it; the damaged store is moved aside unchanged. tell is called for each loss.
func Repair(ctx context.Context, dir string, tell func(error)) (pebblestore.Repaired, error) {
	s := &Store{dir: dir, fs: ownerfs.System}
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref()
	return pebblestore.Repair(ctx, configure(s, cache), nil, nil, tell)
}
