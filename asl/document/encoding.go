package document

import (
	"strings"
	"unicode/utf8"

	"stepback/asl/source"
)

// unreadable returns a problem if the text's encoding is wrong. It does not look at the content.
func unreadable(text string) *problem {
	first := source.Span{End: 1}
	switch {
	case strings.HasPrefix(text, "\ufeff"):
		return &problem{message: "The text begins with a byte order mark, which is no part of JSON",
			hint: "save it as UTF-8 without a byte order mark (BOM)", span: source.Span{End: len("\ufeff")}}
	case isUTF16(text):
		return &problem{message: "The text is UTF-16, not UTF-8",
			hint: "save it as UTF-8; Windows PowerShell writes UTF-16 with > and Out-File", span: first}
	case strings.IndexByte(text, 0) >= 0:
		at := strings.IndexByte(text, 0)
		return &problem{message: "The file is not text: it has a byte 0", span: source.Span{Start: at, End: at + 1}}
	case !utf8.ValidString(text):
		at := firstInvalid(text)
		return &problem{message: "The text is not UTF-8", hint: "save it as UTF-8", span: source.Span{Start: at, End: at + 1}}
	}
	return nil
}

// isUTF16 reports whether the text is UTF-16: it starts with a byte order mark, or every other byte at its
// beginning is 0.
func isUTF16(text string) bool {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return true
	}
	return len(text) >= 4 && (text[0] == 0) != (text[1] == 0) && (text[0] == 0) == (text[2] == 0) &&
		(text[1] == 0) == (text[3] == 0)
}

func firstInvalid(text string) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}
