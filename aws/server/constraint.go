package server

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// The constraints of members, in AWS's words.
const notNull = "Member must not be null"

func count(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (c *rule) atMost() string {
	if c.bytes {
		return "Member must have size less than or equal to " + count(c.max) + " bytes in UTF-8 encoding"
	}
	return "Member must have length less than or equal to " + count(c.max)
}

func (c *rule) atLeast() string {
	return "Member must have length greater than or equal to " + count(c.min)
}

func (c *rule) matching() string {
	return "Member must satisfy regular expression pattern: " + c.quoted
}

func (c *rule) oneOf() string {
	return "Member must satisfy enum value set: [" + strings.Join(c.enum, ", ") + "]"
}

// size returns the constraints that a value of this length violates.
func (c *rule) size(length int) (broken []string) {
	if float64(length) > c.max {
		broken = append(broken, c.atMost())
	}
	if float64(length) < c.min {
		broken = append(broken, c.atLeast())
	}
	return broken
}

// broken returns the constraints that a text violates.
func (c *rule) broken(s string) []string {
	length := len(s)
	if !c.bytes && (c.min > 1 || float64(length) > c.max) { // otherwise the number of bytes is sufficient
		length = utf8.RuneCountInString(s)
	}
	broken := c.size(length)
	if c.pattern != nil && !c.pattern.MatchString(s) {
		broken = append(broken, c.matching())
	}
	if len(c.enum) > 0 && !slices.Contains(c.enum, s) {
		broken = append(broken, c.oneOf())
	}
	return broken
}

// numeric reports whether the values are numbers.
func (c *rule) numeric() bool {
	return kinds[c.shape.Type] == jsonvalue.Number && c.shape.Type != model.Timestamp
}

// constraints returns all constraints on an element of a list or a map, in brackets.
func (c *rule) constraints() string {
	var all []string
	if c.numeric() {
		if !math.IsNaN(c.max) {
			all = append(all, "Member must have value less than or equal to "+count(c.max))
		}
		if !math.IsNaN(c.min) {
			all = append(all, "Member must have value greater than or equal to "+count(c.min))
		}
		return "[" + strings.Join(append(all, notNull), ", ") + "]"
	}
	if !math.IsNaN(c.max) {
		all = append(all, c.atMost())
	}
	if c.min > 0 {
		all = append(all, c.atLeast())
	}
	if c.pattern != nil {
		all = append(all, c.matching())
	}
	if len(c.enum) > 0 {
		all = append(all, c.oneOf())
	}
	return "[" + strings.Join(append(all, notNull), ", ") + "]"
}
