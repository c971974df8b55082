package csvfile

import "unicode/utf8"

// width returns the length that a text, decoded to UTF-8, has in the file. Texts must be passed in the order in which
// they follow each other; they may end within a character.
type width func(text []byte) int64

// widthIn returns the width of texts in an encoding, or nil if they are not decoded.
func widthIn(e Encoding) width {
	if e != ShiftJIS {
		return nil
	}
	var partial []byte // the beginning of a character
	return func(text []byte) int64 {
		var n int64
		if len(partial) > 0 {
			text = append(partial, text...)
		}
		for len(text) > 0 {
			if text[0] < utf8.RuneSelf {
				n++
				text = text[1:]
				continue
			}
			if !utf8.FullRune(text) {
				break
			}
			r, size := utf8.DecodeRune(text)
			n += shiftJISWidth(r)
			text = text[size:]
		}
		partial = append([]byte(nil), text...)
		return n
	}
}

// shiftJISWidth returns the number of bytes of a character above ASCII in Shift_JIS. A byte that is not Shift_JIS was
// decoded to U+FFFD; the file is refused, so its length does not matter.
func shiftJISWidth(r rune) int64 {
	if r >= 0xFF61 && r <= 0xFF9F || r == 0x80 {
		return 1
	}
	return 2
}
