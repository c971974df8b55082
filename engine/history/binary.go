package history

import (
	"encoding/binary"
	"errors"
)

// errCorrupt says that stored events cannot be read back.
var errCorrupt = errors.New("history: the stored events are cut short or damaged")

// AppendBinary appends the compact stored form of consecutive events. It is read back by Decode.
func AppendBinary(dst []byte, events []Event) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(events)))
	var id, at int64
	for i := range events {
		e := &events[i]
		dst = binary.AppendVarint(dst, e.ID-id)
		dst = binary.AppendVarint(dst, e.ID-e.Previous)
		dst = binary.AppendVarint(dst, e.Time-at)
		id, at = e.ID, e.Time
		dst = append(dst, byte(e.Type))
		dst = appendString(dst, e.Name)
		dst = appendString(dst, e.Data)
		dst = appendDetails(dst, e.More)
	}
	return dst
}

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// The bits of the byte that says which groups of details follow.
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
	if m.HasError {
		bits |= hasError
	}
	if m.HasCause {
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

func appendDetails(dst []byte, m *Details) []byte {
	if m == nil {
		return append(dst, 0)
	}
	bits := detailBits(m)
	dst = append(dst, bits)
	if bits&hasError != 0 {
		dst = appendString(dst, m.Error)
	}
	if bits&hasCause != 0 {
		dst = appendString(dst, m.Cause)
	}
	if bits&hasResource != 0 {
		dst = appendString(appendString(appendString(dst, m.Resource), m.ResourceType), m.Region)
	}
	if bits&hasNumbers != 0 {
		for _, n := range [...]int64{m.TimeoutInSeconds, m.HeartbeatInSeconds, m.Length, m.Index, m.RedriveCount} {
			dst = binary.AppendVarint(dst, n)
		}
	}
	if bits&hasNames != 0 {
		dst = appendString(appendString(appendString(dst, m.RoleARN), m.MapRunARN), m.Location)
	}
	if bits&hasAssigned != 0 {
		dst = binary.AppendUvarint(dst, uint64(len(m.Assigned)))
		for _, a := range m.Assigned {
			dst = appendString(appendString(dst, a.Name), a.Value)
		}
	}
	if bits&hasRoute != 0 {
		dst = appendString(appendString(dst, m.VersionARN), m.AliasARN)
	}
	return dst
}

// Decode reads events that AppendBinary wrote and returns them with what follows them.
func Decode(src []byte) (events []Event, rest []byte, err error) {
	r := reader{src: src}
	n := r.uvarint()
	if n > uint64(len(src)) {
		return nil, nil, errCorrupt
	}
	events = make([]Event, 0, n)
	var id, at int64
	for range n {
		var e Event
		e.ID = id + r.varint()
		e.Previous = e.ID - r.varint()
		e.Time = at + r.varint()
		id, at = e.ID, e.Time
		e.Type = Type(r.byte())
		e.Name, e.Data = r.string(), r.string()
		e.More = r.details()
		if r.bad || int(e.Type) >= len(types) {
			return nil, nil, errCorrupt
		}
		events = append(events, e)
	}
	if r.bad {
		return nil, nil, errCorrupt
	}
	return events, r.src, nil
}

type reader struct {
	src []byte
	bad bool
}

func (r *reader) byte() byte {
	if len(r.src) == 0 {
		r.bad = true
		return 0
	}
	b := r.src[0]
	r.src = r.src[1:]
	return b
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.src)
	if n <= 0 {
		r.bad = true
		r.src = nil
		return 0
	}
	r.src = r.src[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.src)
	if n <= 0 {
		r.bad = true
		r.src = nil
		return 0
	}
	r.src = r.src[n:]
	return v
}

func (r *reader) string() string {
	n := r.uvarint()
	if n > uint64(len(r.src)) {
		r.bad = true
		r.src = nil
		return ""
	}
	s := string(r.src[:n])
	r.src = r.src[n:]
	return s
}

func (r *reader) details() *Details {
	bits := r.byte()
	if bits == 0 {
		return nil
	}
	m := &Details{}
	if bits&hasError != 0 {
		m.Error, m.HasError = r.string(), true
	}
	if bits&hasCause != 0 {
		m.Cause, m.HasCause = r.string(), true
	}
	if bits&hasResource != 0 {
		m.Resource, m.ResourceType, m.Region = r.string(), r.string(), r.string()
	}
	if bits&hasNumbers != 0 {
		for _, n := range [...]*int64{&m.TimeoutInSeconds, &m.HeartbeatInSeconds, &m.Length, &m.Index,
			&m.RedriveCount} {
			*n = r.varint()
		}
	}
	if bits&hasNames != 0 {
		m.RoleARN, m.MapRunARN, m.Location = r.string(), r.string(), r.string()
	}
	if bits&hasAssigned != 0 {
		n := r.uvarint()
		for i := uint64(0); i < n && !r.bad; i++ {
			m.Assigned = append(m.Assigned, Assignment{Name: r.string(), Value: r.string()})
		}
	}
	if bits&hasRoute != 0 {
		m.VersionARN, m.AliasARN = r.string(), r.string()
	}
	return m
}
