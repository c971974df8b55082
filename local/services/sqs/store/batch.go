package store

import (
	"encoding/binary"

	"stepback/local/services/documents"
	"stepback/local/services/sqs/queue"
)

// Batch is changes that take effect together.
type Batch struct {
	// Later says that what the batch changes may be answered before it is on the disk.
	Later bool

	*documents.Batch
}

// Apply has the changes take effect. What it returns waits for the disk, unless that is for later, and must be called
// once.
func (b *Batch) Apply() (wait func() error) {
	if !b.Later {
		return b.Batch.Apply()
	}
	err := b.ApplyLater()
	return func() error { return err }
}

// PutQueue keeps the record of a queue.
func (b *Batch) PutQueue(id uint64, record []byte) { b.Set(key(queueKey, id), record) }

// DeleteQueue removes the record of a queue and what is known of its duplicates. Its messages are removed one by one.
func (b *Batch) DeleteQueue(id uint64) {
	b.Unset(key(queueKey, id))
	b.UnsetAll(key(duplicates, id))
}

// PutNext keeps the number below which all have been given out.
func (b *Batch) PutNext(n uint64) {
	b.Set([]byte{nextKey}, binary.BigEndian.AppendUint64(nil, n))
}

// PutBody keeps the contents of a message.
func (b *Batch) PutBody(number uint64, contents []byte) { b.Set(key(bodyKey, number), contents) }

// PutState keeps the state of a message.
func (b *Batch) PutState(queueID uint64, m *queue.Message) {
	b.Set(key(stateKey, queueID, m.Seq), appendState(nil, m))
}

// DeleteState removes the state of a message that has gone to another queue.
func (b *Batch) DeleteState(queueID, seq uint64) { b.Unset(key(stateKey, queueID, seq)) }

// DeleteMessage removes the state and the contents of a message.
func (b *Batch) DeleteMessage(queueID uint64, m *queue.Message) {
	b.Unset(key(stateKey, queueID, m.Seq))
	b.Unset(key(bodyKey, m.Body))
}

// PutDuplicate keeps that a message was sent under a deduplication key.
func (b *Batch) PutDuplicate(queueID uint64, name string, at int64, seq uint64) {
	value := binary.BigEndian.AppendUint64(nil, uint64(at))
	b.Set(append(key(duplicates, queueID), name...), binary.BigEndian.AppendUint64(value, seq))
}

// DeleteDuplicate removes what PutDuplicate kept.
func (b *Batch) DeleteDuplicate(queueID uint64, name string) {
	b.Unset(append(key(duplicates, queueID), name...))
}

// PutMove keeps the record of a task that moves messages.
func (b *Batch) PutMove(id uint64, record []byte) { b.Set(key(moveKey, id), record) }

// DeleteMove removes the record of a task that moves messages.
func (b *Batch) DeleteMove(id uint64) { b.Unset(key(moveKey, id)) }
