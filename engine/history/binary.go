package history

import (
	"errors"
	"math"
	"slices"

	"stepback/engine/internal/wire"
)

// errCorrupt is returned if stored events cannot be decoded.
var errCorrupt = errors.New("history: the stored events are truncated or damaged")

// Apart returns a text that is stored apart from the events that refer to it, by its number from 0.
type Apart func(number int) (string, error)

// inApart is set in the byte of an event's type if the number of a text that is stored apart takes the place of the
// event's data.
const inApart = 0x80

// AppendBinary appends the compact stored form of consecutive events. Decode reads it. An event whose data equal one of
// the texts in apart refers to that text by its number instead of repeating it.
func AppendBinary(dst []byte, events []Event, apart []string) []byte {
	w := wire.Writer{Bytes: dst}
	w.Uvarint(uint64(len(events)))
	var id, at int64
	for i := range events {
		e := &events[i]
		w.Varint(e.ID - id)
		w.Varint(e.ID - e.Previous)
		w.Varint(e.Time - at)
		id, at = e.ID, e.Time
		if number := slices.Index(apart, e.Data); number >= 0 {
			w.Byte(byte(e.Type) | inApart)
			w.Text(e.Name)
			w.Uvarint(uint64(number))
		} else {
			w.Byte(byte(e.Type))
			w.Text(e.Name)
			w.Text(e.Data)
		}
		writeDetails(&w, e.More)
	}
	return w.Bytes
}

// The bits of the byte that says which groups of details follow in the stored form.
const (
	hasDetails = 1 << iota
	hasError
	hasCause
	hasResource
	hasNumbers
	hasNames
	hasAssigned
	hasRoute
)

func detailBits(m *Details) byte {
	bits := byte(hasDetails)
	if m.Failure.HasName() {
		bits |= hasError
	}
	if m.Failure.HasCause() {
		bits |= hasCause
	}
	if m.Resource != "" || m.ResourceType != "" || m.Region != "" {
		bits |= hasResource
	}
	if m.TimeoutInSeconds|m.HeartbeatInSeconds|m.Length|m.Index|m.RedriveCount != 0 {
		bits |= hasNumbers
	}
	if m.RoleARN != "" || m.MapRunARN != "" || m.Location != "" {
		bits |= hasNames
	}
	if len(m.Assigned) > 0 {
		bits |= hasAssigned
	}
	if m.VersionARN != "" || m.AliasARN != "" {
		bits |= hasRoute
	}
	return bits
}

func writeDetails(w *wire.Writer, m *Details) {
	if m == nil {
		w.Byte(0)
		return
	}
	bits := detailBits(m)
	w.Byte(bits)
	if bits&hasError != 0 {
		w.Text(m.Failure.Name)
	}
	if bits&hasCause != 0 {
		w.Text(m.Failure.Cause)
	}
	if bits&hasResource != 0 {
		texts(w, m.Resource, m.ResourceType, m.Region)
	}
	if bits&hasNumbers != 0 {
		for _, n := range [...]int64{m.TimeoutInSeconds, m.HeartbeatInSeconds, m.Length, m.Index, m.RedriveCount} {
			w.Varint(n)
		}
	}
	if bits&hasNames != 0 {
		texts(w, m.RoleARN, m.MapRunARN, m.Location)
	}
	if bits&hasAssigned != 0 {
		w.Uvarint(uint64(len(m.Assigned)))
		for _, a := range m.Assigned {
			texts(w, a.Name, a.Value)
		}
	}
	if bits&hasRoute != 0 {
		texts(w, m.VersionARN, m.AliasARN)
	}
}

func texts(w *wire.Writer, all ...string) {
	for _, s := range all {
		w.Text(s)
	}
}

// Decode decodes events written by AppendBinary, and returns them and the remaining bytes. apart returns the texts that
// events refer to; its errors are returned. If it is nil, an event that refers to a text is an error.
func Decode(src []byte, apart Apart) (events []Event, rest []byte, err error) {
	r := wire.NewReader(src)
	n := r.Count()
	events = make([]Event, 0, n)
	var id, at int64
	var before Event // often has the same name and data
	for range n {
		var e Event
		e.ID = id + r.Varint()
		e.Previous = e.ID - r.Varint()
		e.Time = at + r.Varint()
		id, at = e.ID, e.Time
		kind := r.Byte()
		e.Type = Type(kind &^ inApart)
		e.Name = r.TextLike(before.Name)
		if kind&inApart == 0 {
			e.Data = r.TextLike(before.Data)
		} else if e.Data, err = textOf(apart, r.Uvarint()); err != nil {
			return nil, nil, err
		}
		e.More = readDetails(&r)
		if r.Bad() || int(e.Type) >= len(types) {
			return nil, nil, errCorrupt
		}
		events = append(events, e)
		before = e
	}
	if r.Bad() {
		return nil, nil, errCorrupt
	}
	return events, r.Rest(), nil
}

// textOf returns the text with a number.
func textOf(apart Apart, number uint64) (string, error) {
	if apart == nil || number > math.MaxInt32 {
		return "", errCorrupt
	}
	return apart(int(number))
}

func readDetails(r *wire.Reader) *Details {
	bits := r.Byte()
	if bits == 0 {
		return nil
	}
	m := &Details{}
	if bits&hasError != 0 {
		m.Failure.SetName(r.Text())
	}
	if bits&hasCause != 0 {
		m.Failure.SetCause(r.Text())
	}
	if bits&hasResource != 0 {
		m.Resource, m.ResourceType, m.Region = r.Text(), r.Text(), r.Text()
	}
	if bits&hasNumbers != 0 {
		for _, n := range [...]*int64{&m.TimeoutInSeconds, &m.HeartbeatInSeconds, &m.Length, &m.Index,
			&m.RedriveCount} {
			*n = r.Varint()
		}
	}
	if bits&hasNames != 0 {
		m.RoleARN, m.MapRunARN, m.Location = r.Text(), r.Text(), r.Text()
	}
	if bits&hasAssigned != 0 {
		n := r.Count()
		for i := 0; i < n && !r.Bad(); i++ {
			m.Assigned = append(m.Assigned, Assignment{Name: r.Text(), Value: r.Text()})
		}
	}
	if bits&hasRoute != 0 {
		m.VersionARN, m.AliasARN = r.Text(), r.Text()
	}
	return m
}
