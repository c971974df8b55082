package markup

import (
	"fmt"
	"reflect"
	"strings"
)

// HTML is markup that whoever made it answers for: it is written into the text of a page as it is. In attributes,
// titles and text areas it is a text like others.
type HTML string

// escaped is a text that can stand where its escaper was put.
type escaped string

// replaced are the characters that end a text or an attribute, and those that old browsers took for such.
var replaced = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;",
	"<", "&lt;", ">", "&gt;")

// escapeText writes a value as text of a page. HTML stays as it is.
func escapeText(v any) escaped {
	if h, ok := v.(HTML); ok {
		return escaped(h)
	}
	return escapeValue(v)
}

// escapeValue writes a value as that of an attribute in quotes, of a title or of a text area.
func escapeValue(v any) escaped { return escaped(replaced.Replace(text(v))) }

// text is how a value is written. Pointers are followed unless they can write themselves.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case error, fmt.Stringer:
		return fmt.Sprint(v)
	}
	if to, isNil := indirect(reflect.ValueOf(v)); !isNil {
		return fmt.Sprint(to.Interface())
	}
	return fmt.Sprint(v)
}

// refused is what stands instead of an address that would run a program, as html/template writes it.
const refused = "#ZgotmplZ"

// filterURL lets an address pass that is relative, or one of the web or of mail.
func filterURL(v any) string {
	s := text(v)
	scheme, _, ok := strings.Cut(s, ":")
	if !ok || strings.Contains(scheme, "/") || strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") ||
		strings.EqualFold(scheme, "mailto") {
		return s
	}
	return refused
}

// percent writes a text as part of an address: all that has a meaning in one is escaped. Of a text that is an address
// already, only what cannot stand in one is.
func percent(s string, isAddress bool) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0,
			isAddress && strings.IndexByte("!#$&*+,/:;=?@[]", c) >= 0,
			isAddress && c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
