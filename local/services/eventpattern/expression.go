package eventpattern

// onlyOneKey is the error for an expression with several keys.
const onlyOneKey = "Only one key allowed in match expression"

const ignoreCase = "equals-ignore-case"

// expression parses an object that describes how to match, such as {"prefix": "a"}.
func (c *compiler) expression() (test, error) {
	if c.next() != fieldName {
		return nil, c.fail("Match expression name not found")
	}
	switch name := c.text(); name {
	case "exactly":
		return c.oneText("exact match pattern must be a string", func(s string) (test, error) { return plainText(s), nil })
	case "prefix":
		return c.affix("prefix", "Prefix", func(s string) test { return prefix(s) },
			func(s string) test { return foldedPrefix(s) })
	case "suffix":
		return c.affix("suffix", "Suffix", func(s string) test { return suffix(s) },
			func(s string) test { return foldedSuffix(s) })
	case "numeric":
		return c.numeric()
	case "anything-but":
		return c.anythingBut()
	case "exists":
		return c.exists()
	case "cidr":
		return c.oneText("prefix match pattern must be a string", addresses)
	case ignoreCase:
		return c.oneText("equals-ignore-case match pattern must be a string",
			func(s string) (test, error) { return folded(s), nil })
	case "wildcard":
		return c.oneText("wildcard match pattern must be a string", func(s string) (test, error) {
			w, problem := wildcardOf(s)
			if problem != "" {
				return nil, c.fail("%s", problem)
			}
			c.weigh(w)
			return w, nil
		})
	default:
		return nil, c.fail("Unrecognized match type %s", name)
	}
}

// oneText parses an expression with a single text.
func (c *compiler) oneText(otherwise string, make func(string) (test, error)) (test, error) {
	if c.next() != textToken {
		return nil, c.fail("%s", otherwise)
	}
	t, err := make(c.text())
	if err != nil {
		return nil, err
	}
	return t, c.endOfExpression(1)
}

func (c *compiler) endOfExpression(objects int) error {
	for range objects {
		if c.next() != endObject {
			return c.fail(onlyOneKey)
		}
	}
	return nil
}

// affix parses the value of prefix or suffix: a text, or a text whose case is ignored.
func (c *compiler) affix(name, capital string, plain, folded func(string) test) (test, error) {
	switch c.next() {
	case textToken:
		t := plain(c.text())
		return t, c.endOfExpression(1)
	case startObject:
	default:
		return nil, c.fail("%s match pattern must be a string", name)
	}
	if c.next() != fieldName {
		return nil, c.fail("%s expression name not found", capital)
	}
	if inner := c.text(); inner != ignoreCase {
		return nil, c.fail("Unsupported %s pattern: %s", name, inner)
	}
	if c.next() != textToken {
		return nil, c.fail("equals-ignore-case match pattern must be a string")
	}
	t := folded(c.text())
	return t, c.endOfExpression(2)
}

func (c *compiler) exists() (test, error) {
	var t test
	switch c.next() {
	case trueToken:
		t = present{}
	case falseToken:
		t = missing{}
	default:
		return nil, c.fail("exists match pattern must be either true or false.")
	}
	return t, c.endOfExpression(1)
}
