package store

import (
	"encoding/binary"
	"errors"

	"stepback/local/services/sqs/queue"
)

var errState = errors.New("the state of a message in the store of the queues is damaged")

// appendState appends the stored form of a message's state: first the numbers as varints, then the texts. Each text
// is preceded by its length.
func appendState(dst []byte, m *queue.Message) []byte {
	inFlight := uint64(0)
	if m.InFlight {
		inFlight = 1
	}
	for _, n := range []uint64{m.Body, m.Origin, uint64(m.Sent), uint64(m.Receives), uint64(m.FirstReceived),
		uint64(m.LastReceived), uint64(m.VisibleAt), inFlight, m.Receipt} {
		dst = binary.AppendUvarint(dst, n)
	}
	for _, text := range []string{m.Group, m.Source} {
		dst = append(binary.AppendUvarint(dst, uint64(len(text))), text...)
	}
	return dst
}

// readState decodes what appendState encoded. Equal texts share memory through share.
func readState(b []byte, seq uint64, share map[string]string) (*queue.Message, error) {
	m := &queue.Message{Seq: seq}
	var sent, receives, first, last, visible, inFlight uint64
	for _, to := range []*uint64{&m.Body, &m.Origin, &sent, &receives, &first, &last, &visible, &inFlight, &m.Receipt} {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return nil, errState
		}
		*to, b = n, b[size:]
	}
	m.Sent, m.Receives, m.FirstReceived, m.LastReceived = int64(sent), int(receives), int64(first), int64(last)
	m.VisibleAt, m.InFlight = int64(visible), inFlight == 1
	for _, to := range []*string{&m.Group, &m.Source} {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return nil, errState
		}
		text := b[size : size+int(n)]
		b = b[size+int(n):]
		shared, ok := share[string(text)]
		if !ok {
			shared = string(text)
			share[shared] = shared
		}
		*to = shared
	}
	return m, nil
}
