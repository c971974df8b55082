package interpreter

import (
	"errors"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/wire"
	"stepback/jsonvalue"
)

// errCorruptSignals is returned if stored signals cannot be decoded.
var errCorruptSignals = errors.New("interpreter: the stored signals are truncated or damaged")

// The bits of the byte that says which members of a signal follow.
const (
	signalHasID = 1 << iota
	signalHasOutput
	signalHasWorker
	signalHasError
	signalHasCause
	signalHasSecret
	signalByToken
	signalInterrupted
)

// AppendSignals appends the compact stored form of consecutive signals. DecodeSignals reads it.
func AppendSignals(dst []byte, signals []Signal) []byte {
	w := wire.Writer{Bytes: dst}
	w.Uvarint(uint64(len(signals)))
	var at int64
	for i := range signals {
		s := &signals[i]
		bits := signalBits(s)
		w.Byte(byte(s.Kind))
		w.Byte(bits)
		now := s.At.UnixNano()
		w.Varint(now - at)
		at = now
		w.Fixed(s.Seed)
		if bits&signalHasID != 0 {
			w.Varint(s.ID)
		}
		if bits&signalHasOutput != 0 {
			w.Text(s.Output.Text())
		}
		if bits&signalHasWorker != 0 {
			w.Text(s.Worker)
		}
		if bits&signalHasError != 0 {
			w.Text(s.Failure.Name)
		}
		if bits&signalHasCause != 0 {
			w.Text(s.Failure.Cause)
		}
		if bits&signalHasSecret != 0 {
			w.Text(s.Secret)
		}
		if bits&signalInterrupted != 0 {
			w.Uvarint(uint64(s.Interrupted))
		}
	}
	return w.Bytes
}

func signalBits(s *Signal) byte {
	return wire.Bits(s.ID != 0, s.Output != nil, s.Worker != "", s.Failure.HasName(), s.Failure.HasCause(),
		s.Secret != "", s.ByToken, s.Interrupted != 0)
}

// DecodeSignals decodes signals written by AppendSignals, and returns them and the remaining bytes.
func DecodeSignals(src []byte) (signals []Signal, rest []byte, err error) {
	r := wire.NewReader(src)
	signals = make([]Signal, r.Count())
	var at int64
	for i := range signals {
		at = readSignal(&r, &signals[i], at)
		if r.Bad() {
			break
		}
	}
	if r.Bad() {
		return nil, nil, errCorruptSignals
	}
	return signals, r.Rest(), nil
}

// readSignal reads a signal whose time is stored relative to at, in nanoseconds, and returns its time.
func readSignal(r *wire.Reader, s *Signal, at int64) int64 {
	s.Kind = SignalKind(r.Byte())
	bits := r.Byte()
	at += r.Varint()
	s.At = time.Unix(0, at).UTC()
	s.Seed = r.Fixed()
	if s.Kind == 0 || s.Kind > history.LastSignalKind {
		r.Spoil()
	}
	if bits&signalHasID != 0 {
		s.ID = r.Varint()
	}
	if bits&signalHasOutput != 0 {
		s.Output = jsonvalue.TextDocument(r.Text())
	}
	if bits&signalHasWorker != 0 {
		s.Worker = r.Text()
	}
	if bits&signalHasError != 0 {
		s.Failure.SetName(r.Text())
	}
	if bits&signalHasCause != 0 {
		s.Failure.SetCause(r.Text())
	}
	if bits&signalHasSecret != 0 {
		s.Secret = r.Text()
	}
	s.ByToken = bits&signalByToken != 0
	if bits&signalInterrupted != 0 {
		s.Interrupted = int(r.Uvarint())
	}
	return at
}
