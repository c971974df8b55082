package item

import (
	"encoding/binary"
	"errors"
)

// ErrDamaged is returned for bytes that do not encode an item.
var ErrDamaged = errors.New("the bytes of an item are damaged")

// Append appends the compact form of an item: the number of attributes, then each name and value. Texts are preceded
// by their lengths; numbers are encoded as in keys.
func (i Item) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(i)))
	for name, value := range i {
		dst = appendText(dst, name)
		dst = value.append(dst)
	}
	return dst
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func (v Value) append(dst []byte) []byte {
	dst = append(dst, byte(v.Kind))
	switch v.Kind {
	case KindString, KindBinary:
		return appendText(dst, v.Text)
	case KindNumber:
		return appendNumber(dst, v.Text)
	case KindBool:
		if v.Bool {
			return append(dst, 1)
		}
		return append(dst, 0)
	case KindMap:
		return v.Map.Append(dst)
	case KindList, KindStringSet, KindNumberSet, KindBinarySet:
		dst = binary.AppendUvarint(dst, uint64(len(v.List)))
		for _, e := range v.List {
			dst = e.append(dst)
		}
	default:
	}
	return dst
}

// Decode decodes what Append encoded.
func Decode(b []byte) (Item, error) {
	i, rest, err := decodeItem(b)
	if err == nil && len(rest) > 0 {
		err = ErrDamaged
	}
	return i, err
}

func decodeItem(b []byte) (Item, []byte, error) {
	n, b, err := decodeCount(b)
	if err != nil {
		return nil, nil, err
	}
	made := make(Item, n)
	for range n {
		var name string
		var value Value
		if name, b, err = decodeText(b); err != nil {
			return nil, nil, err
		}
		if value, b, err = decodeValue(b); err != nil {
			return nil, nil, err
		}
		made[name] = value
	}
	return made, b, nil
}

// decodeCount decodes a number of elements, each of which takes at least one byte.
func decodeCount(b []byte) (int, []byte, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return 0, nil, ErrDamaged
	}
	return int(n), b[size:], nil
}

func decodeText(b []byte) (string, []byte, error) {
	n, b, err := decodeCount(b)
	if err != nil {
		return "", nil, err
	}
	return string(b[:n]), b[n:], nil
}

func decodeValue(b []byte) (v Value, rest []byte, err error) {
	if len(b) == 0 {
		return v, nil, ErrDamaged
	}
	v.Kind, b = Kind(b[0]), b[1:]
	switch v.Kind {
	case KindString, KindBinary:
		v.Text, b, err = decodeText(b)
	case KindNumber:
		v.Text, b, err = decodeNumber(b)
	case KindBool:
		if len(b) == 0 {
			return v, nil, ErrDamaged
		}
		v.Bool, b = b[0] == 1, b[1:]
	case KindNull:
	case KindMap:
		v.Map, b, err = decodeItem(b)
	case KindList, KindStringSet, KindNumberSet, KindBinarySet:
		var n int
		if n, b, err = decodeCount(b); err != nil {
			return v, nil, err
		}
		v.List = make([]Value, n)
		for i := range v.List {
			if v.List[i], b, err = decodeValue(b); err != nil {
				return v, nil, err
			}
		}
	default:
		return v, nil, ErrDamaged
	}
	return v, b, err
}
