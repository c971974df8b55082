package store

import (
	"encoding/binary"

	"stepback/local/services/documents"
	"stepback/local/services/sqs/queue"
)

// Batch is a set of changes that take effect together.
type Batch struct {
	// Later is true if the changes may be acknowledged before they are on disk.
	Later bool

	*documents.Batch
	store *Store
}

// Apply makes the changes take effect. The returned function waits for the disk, unless Later is true; it must be
// called once.
func (b *Batch) Apply() (wait func() error) {
	b.store.stamp(b.Batch)
	changes := !b.Empty()
	if b.Later {
		err := b.ApplyLater()
		wait = func() error { return err }
	} else {
		wait = b.Batch.Apply()
	}
	if changes {
		b.store.stamped()
	}
	return wait
}

// PutQueue stores the record of a queue.
func (b *Batch) PutQueue(id uint64, record []byte) { b.Set(key(queueKey, id), record) }

// DeleteQueue deletes the record of a queue and its deduplication keys. Its messages must be deleted one by one.
func (b *Batch) DeleteQueue(id uint64) {
	b.Unset(key(queueKey, id))
	b.UnsetAll(key(duplicates, id))
}

// PutNext stores an upper bound of the numbers that have been allocated.
func (b *Batch) PutNext(n uint64) {
	b.Set([]byte{nextKey}, binary.BigEndian.AppendUint64(nil, n))
}

// PutBody stores the contents of a message.
func (b *Batch) PutBody(number uint64, contents []byte) { b.Set(key(bodyKey, number), contents) }

// PutState stores the state of a message.
func (b *Batch) PutState(queueID uint64, m *queue.Message) {
	b.Set(key(stateKey, queueID, m.Seq), appendState(nil, m))
}

// DeleteState deletes the state of a message that has moved to another queue.
func (b *Batch) DeleteState(queueID, seq uint64) { b.Unset(key(stateKey, queueID, seq)) }

// DeleteMessage deletes the state and the contents of a message.
func (b *Batch) DeleteMessage(queueID uint64, m *queue.Message) {
	b.Unset(key(stateKey, queueID, m.Seq))
	b.Unset(key(bodyKey, m.Body))
}

// PutDuplicate stores that a message was sent under a deduplication key.
func (b *Batch) PutDuplicate(queueID uint64, name string, at int64, seq uint64) {
	value := binary.BigEndian.AppendUint64(nil, uint64(at))
	b.Set(append(key(duplicates, queueID), name...), binary.BigEndian.AppendUint64(value, seq))
}

// DeleteDuplicate deletes a deduplication key that PutDuplicate stored.
func (b *Batch) DeleteDuplicate(queueID uint64, name string) {
	b.Unset(append(key(duplicates, queueID), name...))
}

// PutMove stores the record of a message move task.
func (b *Batch) PutMove(id uint64, record []byte) { b.Set(key(moveKey, id), record) }

// DeleteMove deletes the record of a message move task.
func (b *Batch) DeleteMove(id uint64) { b.Unset(key(moveKey, id)) }
