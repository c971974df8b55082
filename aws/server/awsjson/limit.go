package awsjson

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The constraints of members, in the service's words.
const notNull = "Member must not be null"

func (m *Member) atMost() string {
	n := strconv.FormatInt(m.Max, 10)
	if m.Bytes {
		return "Member must have size less than or equal to " + n + " bytes in UTF-8 encoding"
	}
	return "Member must have length less than or equal to " + n
}

func (m *Member) atLeast() string {
	return "Member must have length greater than or equal to " + strconv.FormatInt(m.Min, 10)
}

func (m *Member) matching() string {
	return "Member must satisfy regular expression pattern: " + m.Shown
}

func (m *Member) oneOf() string {
	return "Member must satisfy enum value set: [" + strings.Join(m.Enum, ", ") + "]"
}

// size are the constraints that a length breaks.
func (m *Member) size(length int) (broken []string) {
	if m.Max > 0 && int64(length) > m.Max {
		broken = append(broken, m.atMost())
	}
	if int64(length) < m.Min {
		broken = append(broken, m.atLeast())
	}
	return broken
}

// broken are the constraints that a text breaks.
func (m *Member) broken(s string) []string {
	length := len(s)
	if !m.Bytes && (m.Min > 1 || int64(length) > m.Max) { // otherwise the number of bytes says enough
		length = utf8.RuneCountInString(s)
	}
	broken := m.size(length)
	if m.Pattern != nil && !m.Pattern.MatchString(s) {
		broken = append(broken, m.matching())
	}
	if len(m.Enum) > 0 && !slices.Contains(m.Enum, s) {
		broken = append(broken, m.oneOf())
	}
	return broken
}

// constraints are all that hold for an element of a list or a map, in brackets.
func (m *Member) constraints() string {
	var all []string
	if m.Max > 0 {
		all = append(all, m.atMost())
	}
	if m.Min > 0 {
		all = append(all, m.atLeast())
	}
	if m.Pattern != nil {
		all = append(all, m.matching())
	}
	if len(m.Enum) > 0 {
		all = append(all, m.oneOf())
	}
	return "[" + strings.Join(append(all, notNull), ", ") + "]"
}
