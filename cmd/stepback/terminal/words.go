package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// Visible returns a text in one line, as it may be shown on a screen: control characters, such as line breaks and
// escape sequences, and bytes that are not UTF-8 are shown as Go writes them (\n, \x1b).
func Visible(text string) string { return visible(text, "") }

// VisibleLines is like Visible, and keeps line breaks and tabs.
func VisibleLines(text string) string { return visible(text, "\n\r\t") }

func visible(text, keep string) string {
	hidden := func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune(keep, r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if part := text[i : i+n]; hidden(r) || r == utf8.RuneError && n == 1 {
			quoted := strconv.Quote(part)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(part)
		}
		i += n
	}
	return b.String()
}

// Words formats an error for the user. If a file could not be used, the text has the file's name, as the user
// probably typed it, and the reason, without the system call's name. If a connection was refused, the text says
// that nothing listens at the address.
func Words(err error) string {
	said := err.Error()
	var request *url.Error
	var at *net.OpError
	if errors.As(err, &request) && errors.As(err, &at) && at.Op == "dial" && at.Addr != nil && errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Sprintf("nothing listens at %s: start it with stepback serve --listen %s, or name another address",
			at.Addr, at.Addr)
	}
	var of *fs.PathError
	if !errors.As(err, &of) {
		return said
	}
	return strings.Replace(said, of.Error(), NearPath(of.Path)+": "+of.Err.Error(), 1)
}
