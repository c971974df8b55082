package csvfile

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/transform"

	"stepback/csvimport"
	"stepback/statemachine"
)

// Encoding is a text encoding of a file.
type Encoding string

// The encodings that can be read. Shift_JIS is Windows code page 932, as Excel writes it in Japan.
const (
	UTF8     Encoding = "UTF-8"
	UTF8BOM  Encoding = "UTF-8 with BOM"
	ShiftJIS Encoding = "Shift_JIS"
)

const byteOrderMark = "\xEF\xBB\xBF"

const acceptedEncodings = "accepted are UTF-8 (with or without BOM) and Shift_JIS; save the file as \"CSV UTF-8\" and upload it again"

// unsupportedMarks lists the byte order marks of encodings that cannot be read. UTF-32LE is listed before UTF-16LE,
// because its mark starts with that of UTF-16LE.
var unsupportedMarks = []struct{ mark, name string }{
	{"\xFF\xFE\x00\x00", "UTF-32LE"},
	{"\x00\x00\xFE\xFF", "UTF-32BE"},
	{"\xFF\xFE", "UTF-16LE"},
	{"\xFE\xFF", "UTF-16BE"},
}

func unsupportedMark(head []byte) error {
	for _, m := range unsupportedMarks {
		if bytes.HasPrefix(head, []byte(m.mark)) {
			return csvimport.Fail(statemachine.CSVEncodingUnsupported, "byte 0: the byte order mark of %s; %s", m.name,
				acceptedEncodings)
		}
	}
	return nil
}

// detect determines the encoding from the first bytes of a file. whole is true if they are the whole file. If they are
// not, Shift_JIS is an assumption, which the rest of the file must confirm.
func detect(head []byte, whole bool) (Encoding, error) {
	text, marked := bytes.CutPrefix(head, []byte(byteOrderMark))
	e := evidence{utf8Only: marked, offset: int64(len(head) - len(text))}
	if !whole {
		text = text[:wholeCharacters(text)]
	}
	_, _ = e.Write(text)
	e.end()
	switch {
	case !marked:
		return e.encoding(whole)
	case e.invalid != nil:
		return "", notDecodable(*e.invalid, "UTF-8, which the byte order mark announces")
	}
	return UTF8BOM, nil
}

// notDecodable returns the error for a byte that is not what the format and its arguments say.
func notDecodable(at place, format string, args ...any) error {
	return csvimport.Fail(statemachine.CSVEncodingUnsupported, "line %d, byte %d (0x%02X) is not %s; %s", at.Line,
		at.Offset, at.Value, fmt.Sprintf(format, args...), acceptedEncodings)
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or −1.
func invalidUTF8(text []byte, whole bool) int {
	if !whole {
		text = trimPartialRune(text)
	}
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

func decodesAsEUCJP(head []byte) bool {
	text, _, err := transform.Bytes(japanese.EUCJP.NewDecoder(), head)
	return err == nil && !bytes.ContainsRune(text, utf8.RuneError)
}

// decoder returns a reader of src as UTF-8 without a byte order mark. Bytes that are invalid in the encoding stay
// unchanged in UTF-8, and become U+FFFD in Shift_JIS; notInEncoding finds the rows that contain them.
func decoder(src io.Reader, encoding Encoding) io.Reader {
	if encoding == ShiftJIS {
		return transform.NewReader(src, japanese.ShiftJIS.NewDecoder())
	}
	return src
}

// notInEncoding reports whether a field contains bytes that are invalid in the encoding.
func notInEncoding(field []byte, encoding Encoding) bool {
	if encoding == ShiftJIS {
		return bytes.ContainsRune(field, utf8.RuneError) || bytes.ContainsRune(field, '\u0080') // of the byte 0x80
	}
	return !utf8.Valid(field)
}
