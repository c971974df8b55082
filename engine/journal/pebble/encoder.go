package pebble

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/klauspost/compress/s2"
)

// encoder prepares the operations of one record, outside the committer's lock, in reusable memory.
type encoder struct {
	ops  []operation
	keys []byte
	raw  []byte // a value before compression
	data []byte // the values
}

// operation sets a key, or removes it if it has no value.
type operation struct {
	key, value span
	kind       kind
}

type kind uint8

const (
	set kind = iota
	remove
	// annihilate removes a key that has been set exactly once.
	annihilate
	// removeRange removes the keys from key up to, but excluding, value.
	removeRange
)

// span is a range of a buffer, given by offsets because the buffer may be reallocated.
type span struct{ from, to int }

func (s span) of(b []byte) []byte { return b[s.from:s.to] }

// retained is the maximum size of a buffer that is kept for the next record. The history of one state has four copies
// of its input, of 256 kB at the most.
const retained = 4 << 20

func (e *encoder) reset() {
	e.ops, e.keys, e.raw, e.data = e.ops[:0], e.keys[:0], e.raw[:0], e.data[:0]
	if cap(e.raw) > retained {
		e.raw = nil
	}
	if cap(e.data) > retained {
		e.data = nil
	}
}

// key appends a key made of prefix and arn.
func (e *encoder) key(prefix, arn string) span {
	from := len(e.keys)
	e.keys = append(append(e.keys, prefix...), arn...)
	return span{from, len(e.keys)}
}

// step appends the key of a step.
func (e *encoder) step(arn string, step int64) span {
	from := len(e.keys)
	e.keys = stepKey(e.keys, arn, step)
	return span{from, len(e.keys)}
}

// pack sets a key to the compressed content of raw.
func (e *encoder) pack(key span) { e.packText(key, e.raw) }

// packText sets a key to the compressed form of text.
func (e *encoder) packText(key span, text []byte) {
	from := len(e.data)
	n := s2.MaxEncodedLen(len(text))
	e.data = grow(e.data, n)
	to := from + len(s2.Encode(e.data[from:from+n:from+n], text))
	e.data = e.data[:to]
	e.ops = append(e.ops, operation{key, span{from, to}, set})
}

// grow ensures capacity for n more bytes after the content of b.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) < n {
		b = append(make([]byte, 0, 2*cap(b)+n), b...)
	}
	return b
}

func (e *encoder) op(k kind, key span) { e.ops = append(e.ops, operation{key, span{}, k}) }

// fill adds the operations to a batch.
func (e *encoder) fill(b *pebble.Batch) error {
	for _, o := range e.ops {
		var err error
		switch key := o.key.of(e.keys); o.kind {
		case set:
			err = b.Set(key, o.value.of(e.data), nil)
		case remove:
			err = b.Delete(key, nil)
		case annihilate:
			err = b.SingleDelete(key, nil)
		case removeRange:
			err = b.DeleteRange(key, o.value.of(e.keys), nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
