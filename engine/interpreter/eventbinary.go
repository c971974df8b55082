package interpreter

import (
	"encoding/binary"
	"errors"
	"time"

	"stepback/engine/history"
)

// errCorruptEvents says that stored events cannot be read back.
var errCorruptEvents = errors.New("interpreter: the stored events are cut short or damaged")

// The bits of the byte that says which members of an event follow.
const (
	eventHasID = 1 << iota
	eventHasOutput
	eventHasWorker
	eventHasError
	eventHasCause
	eventHasSecret
	eventByToken
)

// AppendEvents appends the compact stored form of events that were applied one after the other. It is read back by
// DecodeEvents.
func AppendEvents(dst []byte, events []Event) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(events)))
	var at int64
	for i := range events {
		e := &events[i]
		bits := e.bits()
		dst = append(dst, byte(e.Kind), bits)
		now := e.At.UnixNano()
		dst = binary.AppendVarint(dst, now-at)
		at = now
		dst = binary.LittleEndian.AppendUint64(dst, e.Seed)
		if bits&eventHasID != 0 {
			dst = binary.AppendVarint(dst, e.ID)
		}
		if bits&eventHasOutput != 0 {
			dst = appendText(dst, e.Output.Text())
		}
		if bits&eventHasWorker != 0 {
			dst = appendText(dst, e.Worker)
		}
		if bits&eventHasError != 0 {
			dst = appendText(dst, e.Failure.Error)
		}
		if bits&eventHasCause != 0 {
			dst = appendText(dst, e.Failure.Cause)
		}
		if bits&eventHasSecret != 0 {
			dst = appendText(dst, e.Secret)
		}
	}
	return dst
}

func (e *Event) bits() byte {
	var bits byte
	for i, present := range [...]bool{e.ID != 0, e.Output != nil, e.Worker != "", e.Failure.HasError,
		e.Failure.HasCause, e.Secret != "", e.ByToken} {
		if present {
			bits |= 1 << i
		}
	}
	return bits
}

func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// DecodeEvents reads events that AppendEvents wrote and returns them with what follows them.
func DecodeEvents(src []byte) (events []Event, rest []byte, err error) {
	n, size := binary.Uvarint(src)
	if size <= 0 || n > uint64(len(src)) {
		return nil, nil, errCorruptEvents
	}
	r := eventReader{src: src[size:]}
	events = make([]Event, n)
	for i := range events {
		r.event(&events[i])
		if r.bad {
			return nil, nil, errCorruptEvents
		}
	}
	return events, r.src, nil
}

type eventReader struct {
	src []byte
	at  int64
	bad bool
}

func (r *eventReader) event(e *Event) {
	const fixed = 2 // the kind and the bits
	if len(r.src) < fixed {
		r.bad = true
		return
	}
	bits := r.src[1]
	e.Kind = EventKind(r.src[0])
	r.src = r.src[fixed:]
	r.at += r.varint()
	e.At = time.Unix(0, r.at).UTC()
	if len(r.src) < 8 || e.Kind == 0 || e.Kind > lastEventKind {
		r.bad = true
		return
	}
	e.Seed = binary.LittleEndian.Uint64(r.src)
	r.src = r.src[8:]
	if bits&eventHasID != 0 {
		e.ID = r.varint()
	}
	if bits&eventHasOutput != 0 {
		e.Output = TextPayload(r.text())
	}
	if bits&eventHasWorker != 0 {
		e.Worker = r.text()
	}
	e.ByToken = bits&eventByToken != 0
	e.Failure = history.Failure{HasError: bits&eventHasError != 0, HasCause: bits&eventHasCause != 0}
	if e.Failure.HasError {
		e.Failure.Error = r.text()
	}
	if e.Failure.HasCause {
		e.Failure.Cause = r.text()
	}
	if bits&eventHasSecret != 0 {
		e.Secret = r.text()
	}
}

func (r *eventReader) varint() int64 {
	v, n := binary.Varint(r.src)
	if n <= 0 {
		r.bad, r.src = true, nil
		return 0
	}
	r.src = r.src[n:]
	return v
}

func (r *eventReader) text() string {
	n, size := binary.Uvarint(r.src)
	if size <= 0 || n > uint64(len(r.src)-size) {
		r.bad, r.src = true, nil
		return ""
	}
	s := string(r.src[size : size+int(n)])
	r.src = r.src[size+int(n):]
	return s
}
