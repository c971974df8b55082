package documents

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"stepback/internal/pebblestore"
)

// The fields of Store and Batch that hold Pebble's store and batch are interfaces, and what handles Pebble's own types
// are functions, not methods. The compiler compiles the methods of every generic type that it reaches through the
// fields and methods of a type, in each package that uses the type. Some fifty packages use Store, and through a
// *pebble.DB it would reach Pebble's B-trees, caches and heaps.

// opened is an open store of Pebble, a *pebblestore.Store.
type opened interface {
	LostTails() []*pebblestore.LostTail
	Close() error
}

// changes is a *pebble.Batch.
type changes interface {
	Set(key, value []byte, o *pebble.WriteOptions) error
	Delete(key []byte, o *pebble.WriteOptions) error
	DeleteRange(start, end []byte, o *pebble.WriteOptions) error
	LogData(data []byte, o *pebble.WriteOptions) error
	Len() int
	SyncWait() error
	Close() error
}

// reading returns Pebble's store to read from; nil if nothing has been written.
func reading(s *Store) (*pebblestore.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil && s.broken != nil && !errors.Is(s.broken, ErrReadOnly) {
		return nil, s.broken
	}
	return pebbleOf(s.db), nil
}

// pebbleOf returns the store in an interface; nil if there is none.
func pebbleOf(db opened) *pebblestore.Store {
	store, _ := db.(*pebblestore.Store)
	return store
}

// batchOf returns the batch in an interface.
func batchOf(b changes) *pebble.Batch {
	batch, _ := b.(*pebble.Batch)
	return batch
}
