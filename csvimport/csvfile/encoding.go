package csvfile

import (
	"bytes"
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

// detect determines the encoding from the first bytes of a file. whole is true if they are the whole file.
func detect(head []byte, whole bool) (Encoding, error) {
	if at := bytes.Index(head, []byte("\x1b$")); at >= 0 {
		return "", csvimport.Fail(statemachine.CSVEncodingUnsupported,
			"line %d, byte %d: an escape sequence of ISO-2022-JP; %s", lineOf(head, at), at, acceptedEncodings)
	}
	bad := invalidUTF8(head, whole)
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		if bad >= 0 {
			return "", notDecodable(head, bad, "UTF-8, which the byte order mark announces")
		}
		return UTF8BOM, nil
	}
	if bad < 0 {
		return UTF8, nil
	}
	valid := decodesAsShiftJIS(head, whole)
	switch {
	case decodesAsEUCJP(head) && (!valid || looksEUCJP(head)):
		return "", csvimport.Fail(statemachine.CSVEncodingUnsupported,
			"line %d, byte %d: the text looks like EUC-JP; %s", lineOf(head, bad), bad, acceptedEncodings)
	case !valid:
		return "", notDecodable(head, bad, "UTF-8, and the file is not Shift_JIS either")
	}
	return ShiftJIS, nil
}

func notDecodable(head []byte, at int, what string) error {
	return csvimport.Fail(statemachine.CSVEncodingUnsupported, "line %d, byte %d (0x%02X) is not %s; %s",
		lineOf(head, at), at, head[at], what, acceptedEncodings)
}

func lineOf(head []byte, at int) int { return 1 + bytes.Count(head[:at], []byte{'\n'}) }

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

func decodesAsShiftJIS(head []byte, whole bool) bool {
	text := decodeShiftJIS(head)
	if !whole {
		text = bytes.TrimSuffix(text, []byte("\uFFFD")) // a pair cut in two by the end of the head
	}
	return !bytes.ContainsRune(text, utf8.RuneError)
}

func decodeShiftJIS(head []byte) []byte {
	text, _, err := transform.Bytes(japanese.ShiftJIS.NewDecoder(), head)
	if err != nil {
		return []byte("\uFFFD\uFFFD")
	}
	return text
}

// looksEUCJP reports whether head, decoded as Shift_JIS, consists almost entirely of half-width katakana, apart
// from ASCII. Text in EUC-JP that also decodes as Shift_JIS looks like this.
func looksEUCJP(head []byte) bool {
	var halfWidth, other int
	for _, r := range string(decodeShiftJIS(head)) {
		switch {
		case r >= 0xFF61 && r <= 0xFF9F:
			halfWidth++
		case r >= 0x80:
			other++
		}
	}
	return halfWidth >= 9*other
}

func decodesAsEUCJP(head []byte) bool {
	text, _, err := transform.Bytes(japanese.EUCJP.NewDecoder(), head)
	return err == nil && !bytes.ContainsRune(bytes.TrimSuffix(text, []byte("\uFFFD")), utf8.RuneError)
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
		return bytes.ContainsRune(field, utf8.RuneError)
	}
	return !utf8.Valid(field)
}
