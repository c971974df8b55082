package resource

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidName reports whether a name has none of the characters that names may not have.
func ValidName(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune("<>{}[]?*\"#%\\^|~`$&,;:/", c)
	})
}
