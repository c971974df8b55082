package markup

import (
	"fmt"
	"reflect"
	"strings"
)

// HTML is trusted markup: it is written into the text of a page unchanged. In attributes, titles and text areas it is
// escaped like any other text.
type HTML string

// escaped is a text that has been escaped for its context.
type escaped string

// replaced escapes the characters that end a text or an attribute, including those that old browsers mistook for
// such.
var replaced = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;",
	"<", "&lt;", ">", "&gt;")

// escapeText escapes a value for the text of a page. HTML is kept unchanged.
func escapeText(v any) escaped {
	if h, ok := v.(HTML); ok {
		return escaped(h)
	}
	return escapeValue(v)
}

// escapeValue escapes a value for a quoted attribute, a title or a text area.
func escapeValue(v any) escaped { return escaped(replaced.Replace(text(v))) }

// text formats a value. Pointers are followed unless they implement error or fmt.Stringer.
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

// refused replaces an address that would run code; html/template writes the same.
const refused = "#ZgotmplZ"

// filterURL returns an address that is relative or has the scheme http, https or mailto, and refused for any other.
func filterURL(v any) string {
	s := text(v)
	scheme, _, ok := strings.Cut(s, ":")
	if !ok || strings.Contains(scheme, "/") || strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https") ||
		strings.EqualFold(scheme, "mailto") {
		return s
	}
	return refused
}

// percent escapes a text for use in an address. In a text that is an address itself it only escapes characters that
// may not occur in one.
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
