package journal

import (
	"encoding/binary"
	"fmt"
	"time"
)

// writer appends the members of a stored value.
type writer struct{ dst []byte }

func (w *writer) text(s string) {
	w.dst = binary.AppendUvarint(w.dst, uint64(len(s)))
	w.dst = append(w.dst, s...)
}

func (w *writer) number(n int64) { w.dst = binary.AppendVarint(w.dst, n) }

// time appends a time in nanoseconds since 1970, 0 for none.
func (w *writer) time(t time.Time) {
	if t.IsZero() {
		w.number(0)
		return
	}
	w.number(t.UnixNano())
}

// flags appends up to eight of them in one byte.
func (w *writer) flags(flags ...bool) {
	var bits byte
	for i, f := range flags {
		if f {
			bits |= 1 << i
		}
	}
	w.dst = append(w.dst, bits)
}

// reader takes the members of a stored value off its front. After the first that cannot be read all others are empty.
type reader struct {
	src []byte
	bad bool
}

func (r *reader) fail() {
	r.bad, r.src = true, nil
}

func (r *reader) text() string {
	n, size := binary.Uvarint(r.src)
	if size <= 0 || n > uint64(len(r.src)-size) {
		r.fail()
		return ""
	}
	s := string(r.src[size : size+int(n)])
	r.src = r.src[size+int(n):]
	return s
}

func (r *reader) number() int64 {
	n, size := binary.Varint(r.src)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.src = r.src[size:]
	return n
}

func (r *reader) time() time.Time {
	ns := r.number()
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

func (r *reader) flags(flags ...*bool) {
	if len(r.src) == 0 {
		r.fail()
		return
	}
	for i, f := range flags {
		*f = r.src[0]&(1<<i) != 0
	}
	r.src = r.src[1:]
}

// more reports whether there is anything left. Stores of an older format end earlier.
func (r *reader) more() bool { return len(r.src) > 0 }

func (r *reader) err(what string) error {
	if r.bad {
		return fmt.Errorf("journal: a stored %s is cut short or damaged", what)
	}
	return nil
}
