// Package wire is the binary form in which executions are kept: varints, texts with their length in front, times in
// nanoseconds and bytes of flags, one after the other without names. What is kept, and in which order, is for those to
// say who keep it; the package never looks further ahead than the next member.
package wire

import (
	"encoding/binary"
	"time"
)

// Writer appends members to Bytes.
type Writer struct{ Bytes []byte }

// Byte appends one byte.
func (w *Writer) Byte(b byte) { w.Bytes = append(w.Bytes, b) }

// Uvarint appends a count.
func (w *Writer) Uvarint(n uint64) { w.Bytes = binary.AppendUvarint(w.Bytes, n) }

// Varint appends a number.
func (w *Writer) Varint(n int64) { w.Bytes = binary.AppendVarint(w.Bytes, n) }

// Fixed appends a number in eight bytes, whatever its size.
func (w *Writer) Fixed(n uint64) { w.Bytes = binary.LittleEndian.AppendUint64(w.Bytes, n) }

// Text appends a text.
func (w *Writer) Text(s string) {
	w.Bytes = binary.AppendUvarint(w.Bytes, uint64(len(s)))
	w.Bytes = append(w.Bytes, s...)
}

// Time appends a time in nanoseconds since 1970, 0 for the zero time.
func (w *Writer) Time(t time.Time) {
	if t.IsZero() {
		w.Varint(0)
		return
	}
	w.Varint(t.UnixNano())
}

// Flags appends up to eight flags in one byte.
func (w *Writer) Flags(flags ...bool) { w.Byte(Bits(flags...)) }

// Bits returns up to eight flags as one byte, the first of them as the lowest bit.
func Bits(flags ...bool) byte {
	var bits byte
	for i, f := range flags {
		if f {
			bits |= 1 << i
		}
	}
	return bits
}

// Reader takes members off the front of what a Writer wrote. After the first that cannot be read, all others are zero
// and Bad reports true.
type Reader struct {
	src []byte
	bad bool
}

// NewReader returns a Reader of src. Texts are copied from it.
func NewReader(src []byte) Reader { return Reader{src: src} }

// Bad reports whether a member could not be read, since what was written is cut short or damaged.
func (r *Reader) Bad() bool { return r.bad }

// More reports whether anything is left. What an older version wrote may end earlier.
func (r *Reader) More() bool { return len(r.src) > 0 }

// Rest returns what is left.
func (r *Reader) Rest() []byte { return r.src }

// Spoil makes the Reader Bad, for a member that was read and cannot be.
func (r *Reader) Spoil() { r.bad, r.src = true, nil }

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.src) == 0 {
		r.Spoil()
		return 0
	}
	b := r.src[0]
	r.src = r.src[1:]
	return b
}

// Uvarint reads a count.
func (r *Reader) Uvarint() uint64 {
	n, size := binary.Uvarint(r.src)
	if size <= 0 {
		r.Spoil()
		return 0
	}
	r.src = r.src[size:]
	return n
}

// Count reads how many members follow. More than there are bytes left is damage, so that nothing larger than what was
// written is ever made room for.
func (r *Reader) Count() int {
	n := r.Uvarint()
	if n > uint64(len(r.src)) {
		r.Spoil()
		return 0
	}
	return int(n)
}

// Varint reads a number.
func (r *Reader) Varint() int64 {
	n, size := binary.Varint(r.src)
	if size <= 0 {
		r.Spoil()
		return 0
	}
	r.src = r.src[size:]
	return n
}

// Fixed reads a number of eight bytes.
func (r *Reader) Fixed() uint64 {
	const size = 8
	if len(r.src) < size {
		r.Spoil()
		return 0
	}
	n := binary.LittleEndian.Uint64(r.src)
	r.src = r.src[size:]
	return n
}

// Text reads a text.
func (r *Reader) Text() string {
	n, size := binary.Uvarint(r.src)
	if size <= 0 || n > uint64(len(r.src)-size) {
		r.Spoil()
		return ""
	}
	s := string(r.src[size : size+int(n)])
	r.src = r.src[size+int(n):]
	return s
}

// SkipText reads over a text that nobody needs, and returns an empty one.
func (r *Reader) SkipText() string {
	n, size := binary.Uvarint(r.src)
	if size <= 0 || n > uint64(len(r.src)-size) {
		r.Spoil()
		return ""
	}
	r.src = r.src[size+int(n):]
	return ""
}

// Time reads a time, in UTC.
func (r *Reader) Time() time.Time {
	ns := r.Varint()
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// Flags reads one byte of flags.
func (r *Reader) Flags(flags ...*bool) {
	bits := r.Byte()
	for i, f := range flags {
		*f = bits&(1<<i) != 0
	}
}
