package journal

import (
	"encoding/binary"
	"errors"
	"time"

	"stepback/engine/interpreter"
)

var errCorrupt = errors.New("journal: a stored execution is cut short or damaged")

// AppendBinary appends the compact stored form of an execution's description. It is read back by Decode.
func (x *Execution) AppendBinary(dst []byte) []byte {
	for _, s := range [...]string{
		x.ARN, x.Name, x.MachineARN, x.MapRunARN, string(x.Status), x.Input, x.Output, x.Failure.Error, x.Failure.Cause,
	} {
		dst = appendText(dst, s)
	}
	var bits byte
	for i, b := range [...]bool{x.Express, x.Failure.HasError, x.Failure.HasCause} {
		if b {
			bits |= 1 << i
		}
	}
	dst = append(dst, bits)
	for _, n := range [...]int64{nanos(x.Start), nanos(x.Stop), x.Items, x.HistorySize} {
		dst = binary.AppendVarint(dst, n)
	}
	for _, s := range x.origin() {
		dst = appendText(dst, *s)
	}
	return dst
}

// origin are the members that stores of the first format may lack; they come last.
func (x *Execution) origin() [4]*string {
	return [...]*string{&x.VersionARN, &x.AliasARN, &x.Revision, &x.TraceHeader}
}

func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// text takes a string off the front of src; ok is false when there is none.
func text(src []byte) (s string, rest []byte, ok bool) {
	n, size := binary.Uvarint(src)
	if size <= 0 || n > uint64(len(src)-size) {
		return "", nil, false
	}
	return string(src[size : size+int(n)]), src[size+int(n):], true
}

// nanos is a time in nanoseconds since 1970, 0 for none.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func instant(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// Decode reads a description that AppendBinary wrote.
func Decode(src []byte) (*Execution, error) {
	x := &Execution{}
	var status string
	for _, s := range [...]*string{
		&x.ARN, &x.Name, &x.MachineARN, &x.MapRunARN, &status, &x.Input, &x.Output, &x.Failure.Error, &x.Failure.Cause,
	} {
		var ok bool
		if *s, src, ok = text(src); !ok {
			return nil, errCorrupt
		}
	}
	if len(src) == 0 {
		return nil, errCorrupt
	}
	x.Status = interpreter.Status(status)
	x.Express, x.Failure.HasError, x.Failure.HasCause = src[0]&1 != 0, src[0]&2 != 0, src[0]&4 != 0
	src = src[1:]
	var start, stop int64
	for _, n := range [...]*int64{&start, &stop, &x.Items, &x.HistorySize} {
		v, size := binary.Varint(src)
		if size <= 0 {
			return nil, errCorrupt
		}
		*n = v
		src = src[size:]
	}
	x.Start, x.Stop = instant(start), instant(stop)
	for _, s := range x.origin() {
		if len(src) == 0 {
			break
		}
		var ok bool
		if *s, src, ok = text(src); !ok {
			return nil, errCorrupt
		}
	}
	return x, nil
}
