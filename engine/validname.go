package engine

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the maximum length of a name of a state machine, an execution or an activity, in characters.
const MaxName = 80

// ValidName reports whether a name of a state machine, an execution or an activity has no characters that Step
// Functions refuses. The length is not checked.
func ValidName(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune("<>{}[]?*\"#%\\^|~`$&,;:/", c)
	})
}
