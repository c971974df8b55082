package faults

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// draw holds the random values for one invocation under one fault.
type draw struct {
	unit      float64  // uniform in [0, 1): the invocation is affected if it is below the rate
	afterward bool     // a crash comes after the work
	id        [16]byte // for the request ID of a generated response
}

// payloadHash is computed once per invocation.
type payloadHash = [sha256.Size]byte

// cast draws the random values for one fault. They do not depend on the rate, so a higher rate affects the same
// invocations as a lower one, and more.
func (f fault) cast(state string, payload *payloadHash, attempt int64) draw {
	h := sha256.New()
	h.Write(f.key[:])
	writeText(h.Write, state)
	h.Write(payload[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(attempt)))
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return draw{
		unit:      float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53),
		afterward: sum[8]&1 == 1,
		id:        [16]byte(sum[16:]),
	}
}

// fault is a Spec with the part of the hash that its draws share.
type fault struct {
	Spec
	key [sha256.Size]byte
}

// newFault derives the key from the seed and the fault. repeat distinguishes faults that differ only in their
// rates.
func newFault(seed uint64, spec Spec, repeat int) fault {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, seed))
	writeText(h.Write, spec.State)
	writeText(h.Write, spec.Error)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(repeat)))
	f := fault{Spec: spec}
	h.Sum(f.key[:0])
	return f
}

// writeText writes a text preceded by its length, so that different lists of texts never produce the same bytes.
func writeText(write func([]byte) (int, error), text string) {
	_, _ = write(binary.BigEndian.AppendUint64(nil, uint64(len(text)))) // a hash never fails
	_, _ = write([]byte(text))
}

func (d draw) requestID() string {
	b := d.id
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
