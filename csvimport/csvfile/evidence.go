package csvfile

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"

	"stepback/csvimport"
	"stepback/statemachine"
)

// maxEvidence is the length of the longest part of a line that is judged at once, in bytes.
const maxEvidence = 64 << 10

// place is the position of a byte in a file.
type place struct {
	Line   int64 `json:"line"`   // from 1
	Offset int64 `json:"offset"` // from 0
	Value  byte  `json:"value"`
}

// evidence reads all bytes of a file and collects what tells UTF-8 from Shift_JIS. Much text decodes without an error
// in both, so a byte that is not UTF-8 does not make a file Shift_JIS: the same byte stands in a UTF-8 file that is
// damaged or was cut off, and reading that as Shift_JIS would change the names in all of its rows. The whole file
// decides, line by line. The zero value is ready for use.
type evidence struct {
	utf8Only bool // find the first byte that is not UTF-8, and nothing else

	offset  int64 // of the next byte
	lines   int64 // line ends so far
	afterCR bool  // the last byte was a carriage return
	pending []byte

	invalid *place // the first byte that is not UTF-8; nil if there is none
	cut     bool   // it starts a character that the end of the file cuts off
	escape  *place // the first escape sequence of ISO-2022-JP
	neither *place // the first byte that is not UTF-8 in a line that is not Shift_JIS either

	utf8Line int64 // the first line with text that can only be meant as UTF-8; 0 if there is none
	either   int64 // lines that are valid UTF-8 and might be Shift_JIS
	first    int64 // the first of these
	others   int64 // lines that are not UTF-8

	japanese  bool  // some character can hardly be a letter of Windows-1252
	notEUC    bool  // some line is not EUC-JP
	halfWidth int64 // characters of Shift_JIS, of one byte
	fullWidth int64 // and of two
	decoded   []byte
}

// Write implements io.Writer; it does not fail.
func (e *evidence) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if len(e.pending) == 0 && isASCII(p) && bytes.IndexByte(p, 0x1B) < 0 {
			e.skip(p)
			return n, nil
		}
		end := bytes.IndexAny(p, "\r\n")
		if end < 0 {
			e.pending = append(e.pending, p...)
			if len(e.pending) > maxEvidence {
				e.judge(wholeCharacters(e.pending), false)
			}
			return n, nil
		}
		e.pending = append(e.pending, p[:end]...)
		e.judge(len(e.pending), false)
		e.skip(p[end : end+1])
		p = p[end+1:]
	}
	return n, nil
}

// skip counts the bytes and line ends of text that shows nothing.
func (e *evidence) skip(p []byte) {
	e.offset += int64(len(p))
	e.lines += int64(bytes.Count(p, []byte{'\n'}) + bytes.Count(p, []byte{'\r'}) - bytes.Count(p, []byte("\r\n")))
	if e.afterCR && p[0] == '\n' {
		e.lines-- // the second half of CRLF
	}
	e.afterCR = p[len(p)-1] == '\r'
}

// wholeCharacters returns the length of text without a character at its end that may be incomplete.
func wholeCharacters(text []byte) int {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] < 0x40 { // below the second bytes of Shift_JIS
			return i + 1
		}
	}
	if whole := trimPartialRune(text); utf8.Valid(whole) {
		return len(whole)
	}
	i := 0
	for i < len(text) {
		if text[i] < 0x80 || halfWidth(text[i]) {
			i++
		} else {
			i += 2
		}
	}
	if i > len(text) {
		return len(text) - 1
	}
	return len(text)
}

// end judges the last line.
func (e *evidence) end() { e.judge(len(e.pending), true) }

// judge judges the first n bytes of the pending line, and drops them.
func (e *evidence) judge(n int, last bool) {
	text := e.pending[:n]
	if !isASCII(text) || bytes.IndexByte(text, 0x1B) >= 0 {
		e.weigh(text, last)
	}
	e.offset += int64(n)
	e.pending = append(e.pending[:0], e.pending[n:]...)
	if n > 0 {
		e.afterCR = false
	}
}

// weigh adds the evidence of a line, or of a part of a long line.
func (e *evidence) weigh(text []byte, last bool) {
	line := e.lines + 1
	at := func(i int) *place { return &place{Line: line, Offset: e.offset + int64(i), Value: text[i]} }
	if i := bytes.Index(text, []byte("\x1b$")); i >= 0 && e.escape == nil {
		e.escape = at(i)
	}
	bad := invalidUTF8(text, true)
	if bad >= 0 && e.invalid == nil {
		e.invalid, e.cut = at(bad), last && !utf8.FullRune(text[bad:])
	}
	if e.utf8Only || isASCII(text) {
		return
	}
	if !e.notEUC {
		e.notEUC = !decodesAsEUCJP(text)
	}
	shiftJIS := e.decodes(text)
	if bad >= 0 && !shiftJIS && e.neither == nil {
		e.neither = at(bad)
	}
	if (e.garbled(text) || bad < 0 && !shiftJIS) && e.utf8Line == 0 {
		e.utf8Line = line
	}
	switch {
	case bad >= 0:
		e.others++
	default:
		if e.either++; e.either == 1 {
			e.first = line
		}
	}
}

// decodes reports whether text is valid Shift_JIS.
func (e *evidence) decodes(text []byte) bool {
	if need := 3 * len(text); cap(e.decoded) < need {
		e.decoded = make([]byte, need)
	}
	n, _, err := japanese.ShiftJIS.NewDecoder().Transform(e.decoded[:cap(e.decoded)], text, true)
	return err == nil && !notInEncoding(e.decoded[:n], ShiftJIS)
}

// garbled reports whether text, read as Shift_JIS, shows characters that are valid in UTF-8 and that Shift_JIS text
// does not have, while UTF-8 text read as Shift_JIS is full of them. It also counts the characters of Shift_JIS.
func (e *evidence) garbled(text []byte) bool {
	found := false
	for i := 0; i < len(text); {
		size := 1
		switch c := text[i]; {
		case c < 0x80:
			i++
			continue
		case halfWidth(c):
			e.halfWidth++
		default:
			size = min(2, len(text)-i)
			e.fullWidth++
		}
		found = found || meansUTF8(text, i)
		e.japanese = e.japanese || !likeLatin(text, i, size)
		i += size
	}
	return found
}

// meansUTF8 reports whether the valid UTF-8 character at i cannot be meant as Shift_JIS, although it may decode:
//
//   - a character of four bytes;
//   - kana, whose first two bytes are one of 縺, 繧 and 繝 in Shift_JIS;
//   - three bytes that are a rare kanji and a half-width katakana in Shift_JIS;
//   - a Latin letter of two bytes beside a small letter: two half-width katakana in Shift_JIS.
func meansUTF8(text []byte, i int) bool {
	r, size := utf8.DecodeRune(text[i:])
	switch size {
	case 4:
		return true
	case 3:
		return text[i] == 0xE3 && text[i+1] >= 0x81 && text[i+1] <= 0x83 || halfWidth(text[i+2])
	case 2:
		return r <= 0x24F && halfWidth(text[i+1]) && (i > 0 && small(text[i-1]) || i+2 < len(text) && small(text[i+2]))
	}
	return false
}

// likeLatin reports whether the character of Shift_JIS at i may be a letter of Windows-1252: it stands alone between
// ASCII characters, of which one is a letter.
func likeLatin(text []byte, i, size int) bool {
	before, after := byte(' '), byte(' ')
	if i > 0 {
		before = text[i-1]
	}
	if i+1 < len(text) {
		after = text[i+1] // the second byte, if the character has two
	}
	if before >= 0x80 || after >= 0x80 || i+size < len(text) && text[i+size] >= 0x80 {
		return false
	}
	return text[i] >= 0xC0 && (letter(after) || size == 1 && letter(before))
}

func halfWidth(c byte) bool { return c >= 0xA1 && c <= 0xDF }
func small(c byte) bool     { return c >= 'a' && c <= 'z' }
func letter(c byte) bool    { return small(c | 0x20) }

// encoding returns the encoding of the text that was written: UTF-8 or Shift_JIS. whole is true if it is the whole
// file; the beginning of a file is refused only for what no further text can change. The error names the line and the
// byte.
func (e *evidence) encoding(whole bool) (Encoding, error) {
	switch {
	case e.escape != nil:
		return "", csvimport.Fail(statemachine.CSVEncodingUnsupported,
			"line %d, byte %d: an escape sequence of ISO-2022-JP; %s", e.escape.Line, e.escape.Offset, acceptedEncodings)
	case e.invalid == nil:
		return UTF8, nil
	case !e.notEUC && (e.neither != nil || e.halfWidth >= 9*e.fullWidth):
		return "", csvimport.Fail(statemachine.CSVEncodingUnsupported,
			"line %d, byte %d: the text looks like EUC-JP; %s", e.invalid.Line, e.invalid.Offset, acceptedEncodings)
	case e.utf8Line > 0:
		return "", e.mixed(e.utf8Line)
	case e.neither != nil:
		return "", notDecodable(*e.neither, "UTF-8, and the file is not Shift_JIS either")
	case whole && e.either >= e.others:
		return "", e.mixed(e.first)
	case whole && !e.japanese:
		return "", notDecodable(*e.invalid, "UTF-8, and the text looks like Windows-1252 or Latin-1")
	}
	return ShiftJIS, nil
}

// mixed returns the error of a file that has UTF-8 in the given line and a byte that is not UTF-8.
func (e *evidence) mixed(line int64) error {
	switch {
	case e.cut && e.others == 1:
		return notDecodable(*e.invalid, "a whole character of UTF-8, and the file ends there: it was cut off")
	case line == e.invalid.Line:
		return notDecodable(*e.invalid, "UTF-8, but the rest of the line is: the file is damaged or in mixed encodings")
	}
	return notDecodable(*e.invalid, "UTF-8, but line %d is: the file is damaged or in mixed encodings", line)
}
