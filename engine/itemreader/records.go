package itemreader

import (
	"context"
	"errors"
	"io"
)

// records yields the items of one object, without Index and Source. next and skip return io.EOF at the end.
type records interface {
	next() (Item, error)
	// nextText is next, except that the value's text is appended to dst instead of setting Value.
	nextText(dst []byte) ([]byte, Item, error)
	skip() error
	// offset returns the number of bytes consumed.
	offset() int64
}

// newRecords returns the records of an object's text. where is the object's name in errors.
func newRecords(cfg *Config, text io.Reader, where string) (records, error) {
	w := newWindow(text, MaxItemBytes)
	if err := w.dropByteOrderMark(where); err != nil {
		return nil, err
	}
	switch cfg.InputType {
	case "CSV":
		return newCSVRecords(cfg, w, where)
	case "JSONL":
		return &jsonlRecords{w: w, where: where}, nil
	default:
		return newJSONRecords(cfg, w, where)
	}
}

// textRecords are records of an object that is read from start to end.
type textRecords struct {
	records
	text *text
}

func openTextRecords(ctx context.Context, objects Objects, cfg *Config, at location) (*textRecords, error) {
	t, err := openText(ctx, objects, at)
	if err != nil {
		return nil, err
	}
	r, err := newRecords(cfg, t, at.String())
	if err != nil {
		return nil, t.abandon(bodyError(ctx, at.String(), err))
	}
	return &textRecords{records: r, text: t}, nil
}

func (r *textRecords) close() error { return r.text.Close() }

// dropByteOrderMark removes a UTF-8 byte order mark and refuses UTF-16.
func (w *window) dropByteOrderMark(where string) error {
	for len(w.view()) < 3 {
		if err := w.more(); err == io.EOF {
			break
		} else if err != nil {
			return w.readError(where, err)
		}
	}
	view := w.view()
	switch {
	case len(view) >= 3 && view[0] == 0xEF && view[1] == 0xBB && view[2] == 0xBF:
		w.advance(3, 0)
	case len(view) >= 2 && (view[0] == 0xFF && view[1] == 0xFE || view[0] == 0xFE && view[1] == 0xFF):
		return failf("%s is UTF-16 text; convert it to UTF-8", where)
	}
	return nil
}

// readError converts an error returned by w.more to an *Error. The message names the line at which the unread item
// starts.
func (w *window) readError(where string, err error) error {
	if errors.Is(err, errWindowFull) {
		return failf("%s line %d: the item that starts here is larger than 8 MB (%d bytes), the largest that a Map can read; "+
			"split it", where, w.line, w.limit)
	}
	var typed *Error
	if errors.As(err, &typed) {
		return err
	}
	return &Error{Cause: "reading " + where + ": " + err.Error(), Err: err}
}
