package documents

import (
	"github.com/cockroachdb/pebble/v2"

	"stepback/internal/pebbleguard"
)

// Batch is a set of changes that take effect together. The first error of a change is returned by Apply.
type Batch struct {
	store *Store
	batch changes
	err   error
}

// Set stores a value under a key. Both are copied.
func (b *Batch) Set(key, value []byte) {
	if b.err == nil {
		b.err = b.batch.Set(key, value, nil)
	}
}

// Unset removes a key, which need not exist.
func (b *Batch) Unset(key []byte) {
	if b.err == nil {
		b.err = b.batch.Delete(key, nil)
	}
}

// UnsetAll removes all keys that begin with prefix, which must not be empty.
func (b *Batch) UnsetAll(prefix []byte) {
	if b.err == nil {
		b.err = b.batch.DeleteRange(prefix, after(prefix), nil)
	}
}

// Sync makes the batch wait for the disk even if it changes nothing. Use it before acknowledging changes that were
// applied earlier.
func (b *Batch) Sync() {
	if b.err == nil {
		b.err = b.batch.LogData([]byte{0}, nil)
	}
}

// Empty reports whether the batch changes nothing.
func (b *Batch) Empty() bool { return b.err == nil && b.batch.Len() <= emptyBatch }

// Put stores a value under a key of a table.
func (b *Batch) Put(t *Table, key string, value []byte) { b.Set(t.key(key), value) }

// Delete removes a key of a table.
func (b *Batch) Delete(t *Table, key string) { b.Unset(t.key(key)) }

// DeleteAll removes all keys of a table that begin with prefix.
func (b *Batch) DeleteAll(t *Table, prefix string) { b.UnsetAll(t.key(prefix)) }

// Apply makes the changes visible, in the order of the calls. It does not wait for the disk: the returned function
// does, and must be called once. Until it has returned nil, nothing of the batch may be acknowledged. For a batch
// without changes, the function waits for the changes of others that are visible: if there was nothing to change, it
// may be because of one of those.
func (b *Batch) Apply() (wait func() error) {
	if b.Empty() {
		if b.store.unsynced.Load() == 0 {
			return b.batch.Close
		}
		b.Sync()
	}
	w := pebble.Sync
	if b.store.disk.Volatile {
		w = pebble.NoSync
	}
	err := b.err
	if err == nil {
		err = pebbleguard.Call(func() error { return apply(b.store, b.batch, w) })
	}
	if err != nil {
		err = b.store.breaks(err)
		return func() error { return err }
	}
	if b.store.disk.Volatile {
		return b.batch.Close
	}
	return func() error {
		if err := pebbleguard.Call(b.batch.SyncWait); err != nil {
			return b.store.breaks(err)
		}
		b.store.synced(b.batch)
		b.store.unsynced.Add(-1)
		return b.batch.Close()
	}
}

// emptyBatch is the length of the header of a batch.
const emptyBatch = 12

func apply(s *Store, batch changes, w *pebble.WriteOptions) error {
	db, err := reading(s)
	if err != nil {
		return err
	}
	if !w.Sync {
		return db.Apply(batchOf(batch), w)
	}
	s.pace.applied.Add(1)
	s.unsynced.Add(1) // before the batch is visible
	return db.ApplyNoSyncWait(batchOf(batch), w)
}
