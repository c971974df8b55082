package item

import (
	"encoding/binary"
	"strings"
)

// The bytes that escape zeros in keys: 00 within a text becomes 00 ff, and 00 00 ends the text, so that a text sorts
// before all that begin with it.
const (
	escapeByte  = 0x00
	zeroByte    = 0xff
	endByte     = 0x00
	negativeKey = 0x40 // first byte of negative numbers
	zeroKey     = 0x80
	positiveKey = 0xc0
)

// AppendKey appends a string, a number or a binary value in a form whose byte order is DynamoDB's order of keys.
// The end of the form can be recognised, so more may follow.
func AppendKey(dst []byte, v Value) []byte {
	if v.Kind == KindNumber {
		return appendNumber(dst, v.Text)
	}
	return append(AppendKeyPrefix(dst, v.Text), escapeByte, endByte)
}

// AppendKeyPrefix appends the common prefix of the keys of all texts that begin with a text.
func AppendKeyPrefix(dst []byte, text string) []byte {
	for {
		i := strings.IndexByte(text, escapeByte)
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:i]...), escapeByte, zeroByte)
		text = text[i+1:]
	}
}

// exponentBias makes exponents positive.
const exponentBias = 1 << 15

// appendNumber appends a number: a byte for its sign, then the exponent, the digits in pairs with each pair
// incremented by one, and a final 0. For negative numbers everything after the sign is inverted.
func appendNumber(dst []byte, text string) []byte {
	d := decimalOf(text)
	if d.digits == "" {
		return append(dst, zeroKey)
	}
	if d.negative {
		dst = append(dst, negativeKey)
	} else {
		dst = append(dst, positiveKey)
	}
	begin := len(dst)
	dst = binary.BigEndian.AppendUint16(dst, uint16(d.exponent+exponentBias))
	for i := 0; i < len(d.digits); i += 2 {
		pair := (d.digits[i] - '0') * 10
		if i+1 < len(d.digits) {
			pair += d.digits[i+1] - '0'
		}
		dst = append(dst, pair+1)
	}
	dst = append(dst, 0)
	if d.negative {
		for i := begin; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}

// decodeNumber decodes what appendNumber encoded.
func decodeNumber(b []byte) (text string, rest []byte, err error) {
	if len(b) == 0 {
		return "", nil, ErrDamaged
	}
	kind := b[0]
	b = b[1:]
	if kind == zeroKey {
		return "0", b, nil
	}
	const exponentBytes = 2
	if kind != positiveKey && kind != negativeKey || len(b) < exponentBytes+1 {
		return "", nil, ErrDamaged
	}
	invert := byte(0)
	if kind == negativeKey {
		invert = 0xff
	}
	d := decimal{negative: kind == negativeKey}
	d.exponent = int(b[0]^invert)<<8 + int(b[1]^invert) - exponentBias
	b = b[exponentBytes:]
	var digits []byte
	for i := range b {
		pair := b[i] ^ invert
		if pair == 0 {
			d.digits = string(digits)
			if d, err = d.normal(); err != nil {
				return "", nil, ErrDamaged
			}
			return d.String(), b[i+1:], nil
		}
		if pair > 100 || len(digits) > MaxDigits {
			return "", nil, ErrDamaged
		}
		digits = append(digits, '0'+(pair-1)/10, '0'+(pair-1)%10)
	}
	return "", nil, ErrDamaged
}
