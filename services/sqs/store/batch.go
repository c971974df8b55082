package store

import (
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"

	"stepback/services/sqs/queue"
)

// Batch is changes that take effect together.
type Batch struct {
	// Later says that what the batch changes may be answered before it is on the disk.
	Later bool

	store *Store
	batch *pebble.Batch
	err   error
}

func (b *Batch) set(k, value []byte) {
	if b.err == nil {
		b.err = b.batch.Set(k, value, nil)
	}
}

func (b *Batch) unset(k []byte) {
	if b.err == nil {
		b.err = b.batch.Delete(k, nil)
	}
}

// PutQueue keeps the record of a queue.
func (b *Batch) PutQueue(id uint64, record []byte) { b.set(key(queueKey, id), record) }

// DeleteQueue removes the record of a queue and what is known of its duplicates. Its messages are removed one by one.
func (b *Batch) DeleteQueue(id uint64) {
	b.unset(key(queueKey, id))
	if prefix := key(duplicates, id); b.err == nil {
		b.err = b.batch.DeleteRange(prefix, after(prefix), nil)
	}
}

// PutNext keeps the number below which all have been given out.
func (b *Batch) PutNext(n uint64) {
	b.set([]byte{nextKey}, binary.BigEndian.AppendUint64(nil, n))
}

// PutBody keeps the contents of a message.
func (b *Batch) PutBody(number uint64, contents []byte) { b.set(key(bodyKey, number), contents) }

// PutState keeps the state of a message.
func (b *Batch) PutState(queueID uint64, m *queue.Message) {
	b.set(key(stateKey, queueID, m.Seq), appendState(nil, m))
}

// DeleteState removes the state of a message that has gone to another queue.
func (b *Batch) DeleteState(queueID, seq uint64) { b.unset(key(stateKey, queueID, seq)) }

// DeleteMessage removes the state and the contents of a message.
func (b *Batch) DeleteMessage(queueID uint64, m *queue.Message) {
	b.unset(key(stateKey, queueID, m.Seq))
	b.unset(key(bodyKey, m.Body))
}

// PutDuplicate keeps that a message was sent under a deduplication key.
func (b *Batch) PutDuplicate(queueID uint64, name string, at int64, seq uint64) {
	value := binary.BigEndian.AppendUint64(nil, uint64(at))
	b.set(append(key(duplicates, queueID), name...), binary.BigEndian.AppendUint64(value, seq))
}

// DeleteDuplicate removes what PutDuplicate kept.
func (b *Batch) DeleteDuplicate(queueID uint64, name string) {
	b.unset(append(key(duplicates, queueID), name...))
}

// PutMove keeps the record of a task that moves messages.
func (b *Batch) PutMove(id uint64, record []byte) { b.set(key(moveKey, id), record) }

// DeleteMove removes the record of a task that moves messages.
func (b *Batch) DeleteMove(id uint64) { b.unset(key(moveKey, id)) }

// Sync has the batch wait for the disk although it changes nothing, because something that was applied before it is
// going to be acknowledged.
func (b *Batch) Sync() {
	if b.err == nil {
		b.err = b.batch.LogData([]byte{0}, nil)
	}
}

// Apply has the changes take effect, in the order of the calls. It does not wait for the disk: what it returns does,
// and must be called once. Until that has returned nil, nothing may be acknowledged but what is Later.
func (b *Batch) Apply() (wait func() error) {
	if b.err == nil && b.batch.Len() <= emptyBatch {
		return b.batch.Close
	}
	err := b.err
	if err == nil {
		err = guarded(func() error { return b.store.apply(b.batch) })
	}
	if err != nil {
		err = b.store.breaks(err)
		return func() error { return err }
	}
	return func() error {
		if err := guarded(b.batch.SyncWait); err != nil {
			return b.store.breaks(err)
		}
		return b.batch.Close()
	}
}

// emptyBatch is the length of the header of a batch.
const emptyBatch = 12

func (s *Store) apply(batch *pebble.Batch) error {
	db, err := s.reading()
	if err != nil {
		return err
	}
	return db.ApplyNoSyncWait(batch, pebble.Sync)
}
