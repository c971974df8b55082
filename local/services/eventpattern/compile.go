package eventpattern

import (
	"maps"
	"slices"
)

// or is the name of the field with alternatives.
const or = "$or"

const notAnObject = "Filter is not an object"

// reserved lists names that fields within $or must not have.
var reserved = []string{
	"exactly", "equals-ignore-case", "prefix", "suffix", "anything-but", "exists", "wildcard", "numeric", "cidr",
	"=", "<", "<=", ">", ">=", "regex", "not-wildcard", "not-equals-ignore-case",
	"date-after", "date-on-or-after", "date-before", "date-on-or-before", "in-date-range",
	"ip-address-in-range", "ip-address-not-in-range",
}

// compiler parses a pattern. A parsing method starts after the first token of its construct and ends after the last
// one.
type compiler struct {
	*reader
	limit    int
	lists    int
	complex  bool // there is a wildcard that is too complex
	branches []map[string]*values
	path     string // of the current object, followed by a dot
}

func (c *compiler) pattern() error {
	if c.next() != startObject {
		return c.fail(notAnObject)
	}
	return c.object(false)
}

// object parses the fields of an object.
func (c *compiler) object(withinOr bool) error {
	first := true
	for ; c.next() != endObject; first = false {
		name := c.text()
		if name == or {
			if err := c.alternatives(); err != nil {
				return err
			}
			continue
		}
		if withinOr && slices.Contains(reserved, name) {
			return c.fail("%s is Ruler reserved fieldName which cannot be used inside %s.", name, or)
		}
		if err := c.member(name, withinOr); err != nil {
			return err
		}
	}
	if first {
		return c.fail("Empty objects are not allowed")
	}
	return nil
}

func (c *compiler) member(name string, withinOr bool) error {
	switch c.next() {
	case startObject:
		outer := c.path
		c.path += name + "."
		err := c.object(withinOr)
		c.path = outer
		return err
	case startArray:
		return c.values(c.path + name)
	default:
		return c.fail("\"%s\" must be an object or an array", name)
	}
}

// alternatives parses the array of $or. Each of its objects extends all branches so far.
func (c *compiler) alternatives() error {
	before := c.branches
	if c.next() != startArray {
		return c.fail("It must be an Array followed with %s.", or)
	}
	if len(before) == 0 {
		before = []map[string]*values{{}}
	}
	var all []map[string]*values
	n := 0
	for ; c.next() != endArray; n++ {
		if c.token != startObject {
			return c.fail("Only JSON object is allowed in array of %s relationship.", or)
		}
		c.branches = copies(before)
		if err := c.object(true); err != nil {
			return err
		}
		if all = append(all, c.branches...); len(all) > c.limit {
			return c.fail("The %s relationships make more than %d combinations", or, c.limit)
		}
	}
	if n < 2 {
		return c.fail("There must have at least 2 Objects in %s relationship.", or)
	}
	c.branches = all
	return nil
}

func copies(branches []map[string]*values) []map[string]*values {
	made := make([]map[string]*values, len(branches))
	for i, b := range branches {
		made[i] = maps.Clone(b)
	}
	return made
}

// values parses the list of values that a field may have.
func (c *compiler) values(name string) error {
	v := &values{number: c.lists}
	c.lists++
	for c.next() != endArray {
		var t test
		switch c.token {
		case startObject:
			var err error
			if t, err = c.expression(); err != nil {
				return err
			}
		case textToken:
			t = exactText(c.text())
		case numberToken:
			t = exactNumber(c.text())
		case trueToken, falseToken:
			t = exactBool(c.token == trueToken)
		case nullToken:
			t = exactNull{}
		default:
			return c.fail("Match value must be String, number, true, false, or null")
		}
		if _, absence := t.(missing); absence {
			v.absent = true
			continue
		}
		v.tests = append(v.tests, t)
	}
	if len(v.tests) == 0 && !v.absent {
		return c.fail("Empty arrays are not allowed")
	}
	if len(c.branches) == 0 {
		c.branches = []map[string]*values{{}}
	}
	for _, b := range c.branches {
		b[name] = v
	}
	return nil
}
