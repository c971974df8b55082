package itemreader

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// errWindowFull is returned if a single item does not fit into MaxItemBytes.
var errWindowFull = errors.New("item too large")

const firstWindow = 64 << 10

// window is a view of a stream that slides forward. Its unread bytes are in one slice, which grows (up to a limit)
// only while an item needs it.
type window struct {
	src        io.Reader
	buf        []byte
	start, end int
	limit      int   // largest view, bytes
	base       int64 // offset in the stream of the first unread byte
	line       int64 // line number of the first unread byte, from 1
	err        error // why src has no more bytes
}

func newWindow(src io.Reader, limit int) window {
	return window{src: src, buf: make([]byte, min(firstWindow, limit+1)), limit: limit, line: 1}
}

// view returns the unread bytes. The slice is valid until the next call of more.
func (w *window) view() []byte { return w.buf[w.start:w.end] }

// more extends the view by at least one byte. Otherwise it returns io.EOF at the end of the stream, errWindowFull if
// the view is at its limit, or the stream's error.
func (w *window) more() error {
	if w.end-w.start > w.limit {
		return errWindowFull
	}
	if w.end == len(w.buf) {
		w.makeRoom()
	}
	for range 100 {
		if w.err != nil {
			return w.err
		}
		n, err := w.src.Read(w.buf[w.end:])
		w.end += n
		w.err = err
		if n > 0 {
			return nil
		}
	}
	return io.ErrNoProgress
}

func (w *window) makeRoom() {
	size := len(w.buf)
	if w.start < size/2 {
		size = min(2*size, w.limit+1)
	}
	to := w.buf
	if size > len(w.buf) {
		to = make([]byte, size)
	}
	w.end = copy(to, w.buf[w.start:w.end])
	w.start, w.buf = 0, to
}

// advance consumes n bytes of the view, which contain the given number of newlines.
func (w *window) advance(n int, newlines int64) {
	w.start += n
	w.base += int64(n)
	w.line += newlines
}

// consume consumes n bytes of the view and counts their newlines.
func (w *window) consume(n int) {
	w.advance(n, int64(bytes.Count(w.buf[w.start:w.start+n], []byte{'\n'})))
}

// newline returns the position in the view of the first newline at or after from. If the stream ends without one, it
// returns the view's length and io.EOF.
func (w *window) newline(from int) (int, error) {
	for {
		view := w.view()
		if i := bytes.IndexByte(view[from:], '\n'); i >= 0 {
			return from + i, nil
		}
		from = len(view)
		if err := w.more(); err != nil {
			return len(view), err
		}
	}
}

// notUTF8 returns the error for the first byte that is not UTF-8 within the first n bytes of the view.
func (w *window) notUTF8(where string, n int) error {
	text := w.view()[:n]
	i := 0
	for i < len(text) {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		i += size
	}
	i = min(i, len(text)-1)
	return failf("%s line %d, byte %d (0x%02X) is not UTF-8 text; the ItemReader reads UTF-8 only, convert the file "+
		"(for example with iconv)", where, w.line+int64(bytes.Count(text[:i], []byte{'\n'})), w.base+int64(i), text[i])
}
