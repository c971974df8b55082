// Package wire is the binary form in which executions are stored: varints, texts prefixed with their length, times in
// nanoseconds and bytes of flags, in sequence without names. Callers define which members are stored, in which order;
// the package never looks ahead beyond the next member.
package wire

import (
	"encoding/binary"
	"time"
)

// Writer appends members to Bytes.
type Writer struct{ Bytes []byte }

// Byte appends one byte.
func (w *Writer) Byte(b byte) { w.Bytes = append(w.Bytes, b) }

// Uvarint appends a count as a varint.
func (w *Writer) Uvarint(n uint64) { w.Bytes = binary.AppendUvarint(w.Bytes, n) }

// Varint appends a number as a varint.
func (w *Writer) Varint(n int64) { w.Bytes = binary.AppendVarint(w.Bytes, n) }

// Fixed appends a number in eight bytes.
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

// Reader reads members that a Writer wrote, from the front. After the first one that cannot be read, all others are
// zero and Bad returns true.
type Reader struct {
	src []byte
	bad bool
}

// NewReader returns a Reader of src. Texts are copied out of src.
func NewReader(src []byte) Reader { return Reader{src: src} }

// Bad reports whether a member could not be read because the data are truncated or damaged.
func (r *Reader) Bad() bool { return r.bad }

// More reports whether anything is left. Data written by an older version may end earlier.
func (r *Reader) More() bool { return len(r.src) > 0 }

// Rest returns the remaining bytes.
func (r *Reader) Rest() []byte { return r.src }

// Spoil marks the Reader as Bad, for a member with an impossible value.
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

// Count reads the number of members that follow. A number larger than the remaining bytes is treated as damage, so
// that damaged data cannot cause a huge allocation.
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

// Fixed reads an eight-byte number.
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

// TextLike reads a text like Text. If it equals like, it returns like instead of a copy.
func (r *Reader) TextLike(like string) string {
	n, size := binary.Uvarint(r.src)
	if size > 0 && n == uint64(len(like)) && n <= uint64(len(r.src)-size) && string(r.src[size:size+int(n)]) == like {
		r.src = r.src[size+int(n):]
		return like
	}
	return r.Text()
}

// SkipText skips a text and returns "".
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
