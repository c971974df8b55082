package resource

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidName reports whether a name contains no forbidden characters.
func ValidName(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune("<>{}[]?*\"#%\\^|~`$&,;:/", c)
	})
}
