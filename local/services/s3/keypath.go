package s3

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A key becomes a path element by element. An element that file systems can hold is kept as it is. Anything else is
// escaped so that it can be decoded again and so that no key ever names a path outside its bucket:
//
//	%XX  the byte XX: %, \, :, control characters, invalid UTF-8, and the
//	     leading dot of "." and ".."
//	%_   the empty element: a leading, double or trailing slash
//	%=   ends the name of an object if a directory has its plain name
//	     (keys "a" and "a/b" both exist)
//	%+   ends a directory whose name continues in the next element (file
//	     systems allow 255 bytes, keys 1024)
const (
	emptyElement = "%_"
	objectSuffix = "%="
	continuation = "%+"
	recordSuffix = "%.json"

	// maxElement is the maximum length of an element. It leaves space for a suffix within the 255 bytes of a file
	// name.
	maxElement = 240
)

// keyPath returns the slash-separated path of key inside its bucket.
func keyPath(key string) string {
	elements := strings.Split(key, "/")
	for i, e := range elements {
		elements[i] = encodeElement(e)
	}
	return strings.Join(elements, "/")
}

func encodeElement(e string) string {
	switch e {
	case "":
		return emptyElement
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	if plainElement(e) {
		return e
	}
	var b strings.Builder
	length := 0
	for i := 0; i < len(e); {
		piece, n := encodeRune(e[i:])
		if length+len(piece) > maxElement {
			b.WriteString(continuation + "/")
			length = 0
		}
		b.WriteString(piece)
		length += len(piece)
		i += n
	}
	return b.String()
}

func plainElement(e string) bool {
	if len(e) > maxElement {
		return false
	}
	for i := 0; i < len(e); {
		piece, n := encodeRune(e[i:])
		if piece[0] == '%' {
			return false
		}
		i += n
	}
	return true
}

// encodeRune encodes the first rune of s and returns the number of bytes it consumed.
func encodeRune(s string) (string, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r < ' ' || r == 0x7f || r == '%' || r == '\\' || r == ':' || (r == utf8.RuneError && n == 1) {
		const digits = "0123456789ABCDEF"
		return string([]byte{'%', digits[s[0]>>4], digits[s[0]&15]}), 1
	}
	return s[:n], n
}

// decodeElement reverses encodeElement for one name in a directory; ok is false for a name that encodeElement never
// produces. The name must not contain %= or %+.
func decodeElement(name string) (element string, ok bool) {
	if name == emptyElement {
		return "", true
	}
	if !strings.Contains(name, "%") {
		return name, true
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		if i+2 >= len(name) {
			return "", false
		}
		v, err := strconv.ParseUint(name[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(v))
		i += 2
	}
	return b.String(), true
}
