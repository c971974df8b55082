// Package itembatcher groups the items of a distributed Map into the inputs of its child executions, as an ItemBatcher
// asks for: by number of items and by the size of the input's JSON text.
//
// It is pure: it works on JSON text that is already there, never parses it, and does no I/O.
package itembatcher

import "fmt"

// MaxInputBytes is the size of the largest input of a child execution, 256 KiB of JSON text.
const MaxInputBytes = 262_144

// Config is an ItemBatcher after its paths and templates have been evaluated.
type Config struct {
	// MaxItemsPerBatch is the largest number of items in a batch; 0 means no limit but the size.
	MaxItemsPerBatch int64
	// MaxInputBytesPerBatch is the largest size of a child input in bytes of JSON text, BatchInput and punctuation
	// included, 1 to 262,144; 0 means 262,144. It wins over MaxItemsPerBatch.
	MaxInputBytesPerBatch int64
	// BatchInput is the JSON text that every batch gets as BatchInput; empty leaves the member out.
	BatchInput string
}

// Batch is the input of one child execution.
type Batch struct {
	// Input is its JSON text, {"BatchInput": …, "Items": [ … ]}.
	Input string
	// Items is the number of items in it.
	Items int
}

// ConfigError says what is wrong with a Config.
type ConfigError struct{ Message string }

// Error implements error.
func (e *ConfigError) Error() string { return e.Message }

// ItemTooLargeError says that one item alone, together with BatchInput, is larger than a child input may be.
type ItemTooLargeError struct {
	// Bytes is the size that the child input would have, Limit the allowed one.
	Bytes, Limit int
}

// Error implements error.
func (e *ItemTooLargeError) Error() string {
	return fmt.Sprintf("a batch with a single item is %d bytes long, at most %d are allowed; reduce the item with an ItemSelector, "+
		"reduce BatchInput or raise MaxInputBytesPerBatch (at most %d)", e.Bytes, e.Limit, MaxInputBytes)
}

// Batcher collects items into batches, in order. It is for one goroutine at a time.
type Batcher struct {
	head     []byte
	maxItems int
	maxBytes int

	input []byte // of the batch that is being filled; its room is used again
	items int
}

const tail = "]}"

// New returns a Batcher without items, or a *ConfigError.
func New(cfg Config) (*Batcher, error) {
	switch {
	case cfg.MaxItemsPerBatch < 0:
		return nil, &ConfigError{fmt.Sprintf("MaxItemsPerBatch is %d; it must be 1 or more", cfg.MaxItemsPerBatch)}
	case cfg.MaxInputBytesPerBatch < 0 || cfg.MaxInputBytesPerBatch > MaxInputBytes:
		return nil, &ConfigError{fmt.Sprintf("MaxInputBytesPerBatch is %d; it must be between 1 and %d",
			cfg.MaxInputBytesPerBatch, MaxInputBytes)}
	}
	b := &Batcher{head: []byte(`{"Items":[`), maxItems: int(cfg.MaxItemsPerBatch),
		maxBytes: int(cfg.MaxInputBytesPerBatch)}
	if cfg.BatchInput != "" {
		b.head = []byte(`{"BatchInput":` + cfg.BatchInput + `,"Items":[`)
	}
	if b.maxBytes == 0 {
		b.maxBytes = MaxInputBytes
	}
	return b, nil
}

// Add puts an item, its JSON text, into the current batch. When that completes a batch (the item is its last one, or no
// longer fits into it) Add returns it and true. The error is an *ItemTooLargeError; the item is then left out.
func (b *Batcher) Add(item []byte) (Batch, bool, error) {
	if alone := len(b.head) + len(item) + len(tail); alone > b.maxBytes {
		return Batch{}, false, &ItemTooLargeError{Bytes: alone, Limit: b.maxBytes}
	}
	var done Batch
	if b.items > 0 && len(b.input)+1+len(item)+len(tail) > b.maxBytes {
		done, _ = b.Flush()
	}
	b.put(item)
	if b.items == b.maxItems {
		// A batch that was flushed above had at least one item, so maxItems is not 1 and this one is not yet full.
		done, _ = b.Flush()
	}
	return done, done.Items > 0, nil
}

func (b *Batcher) put(item []byte) {
	if b.items == 0 {
		b.input = append(b.input[:0], b.head...)
	} else {
		b.input = append(b.input, ',')
	}
	b.input = append(b.input, item...)
	b.items++
}

// Flush returns the items that are waiting as a last, smaller batch; false when there are none.
func (b *Batcher) Flush() (Batch, bool) {
	if b.items == 0 {
		return Batch{}, false
	}
	b.input = append(b.input, tail...)
	done := Batch{Input: string(b.input), Items: b.items}
	b.items = 0
	return done, true
}
