package aws

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidStatesName reports whether a name has no characters that Step Functions forbids in the names of state machines,
// executions and activities. It does not check the length.
func ValidStatesName(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune("<>{}[]?*\"#%\\^|~`$&,;:/", c)
	})
}
