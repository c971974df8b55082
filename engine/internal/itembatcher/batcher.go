// Package itembatcher groups the items of a distributed Map into the inputs of its child executions, as its
// ItemBatcher specifies: by number of items and by the size of the input's JSON text.
//
// It is pure: it works on existing JSON text, never parses it, and does no I/O.
package itembatcher

import "fmt"

// MaxInputBytes is the largest size of a child execution's input, 256 KiB of JSON text.
const MaxInputBytes = 262_144

// Config is an ItemBatcher whose paths and templates have been evaluated.
type Config struct {
	// MaxItemsPerBatch is the largest number of items in a batch; 0 means limited only by size.
	MaxItemsPerBatch int64
	// MaxInputBytesPerBatch is the largest size of a child input in bytes of JSON text, including BatchInput and
	// punctuation, from 1 to 262,144; 0 means 262,144. It takes precedence over MaxItemsPerBatch.
	MaxInputBytesPerBatch int64
	// BatchInput is the JSON text of the member BatchInput in every batch; empty omits the member.
	BatchInput string
}

// Batch is the input of one child execution.
type Batch struct {
	// Input is the JSON text, {"BatchInput": …, "Items": [ … ]}.
	Input string
	// Items is the number of items in it.
	Items int
}

// ConfigError reports what is wrong with a Config.
type ConfigError struct{ Message string }

// Error implements error.
func (e *ConfigError) Error() string { return e.Message }

// ItemTooLargeError reports that a single item, together with BatchInput, exceeds the size of a child input.
type ItemTooLargeError struct {
	// Bytes is the size that the child input would have, Limit the allowed size.
	Bytes, Limit int
}

// Error implements error.
func (e *ItemTooLargeError) Error() string {
	return fmt.Sprintf("a batch with a single item is %d bytes long, at most %d are allowed; reduce the item with an ItemSelector, "+
		"reduce BatchInput or raise MaxInputBytesPerBatch (at most %d)", e.Bytes, e.Limit, MaxInputBytes)
}

// Batcher collects items into batches, in order. It must be used by one goroutine at a time.
type Batcher struct {
	head     []byte
	maxItems int
	maxBytes int

	input []byte // the batch being filled; its memory is reused
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

// Add adds an item, given as JSON text, to the current batch. If that completes a batch, because the item is its last
// one or does not fit into it, Add returns the batch and true. The error is an *ItemTooLargeError; the item is left
// out in that case.
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
		// This never overwrites a batch flushed above: the current batch then has one item, and maxItems is more
		// than 1, because the flushed batch had an item without being full.
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

// Flush returns the remaining items as a last, smaller batch; false if there are none.
func (b *Batcher) Flush() (Batch, bool) {
	if b.items == 0 {
		return Batch{}, false
	}
	b.input = append(b.input, tail...)
	done := Batch{Input: string(b.input), Items: b.items}
	b.items = 0
	return done, true
}
