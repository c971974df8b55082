package eventpattern

import "stepback/jsonvalue"

// noneOf matches a value if none of its tests does. The field must exist.
type noneOf []test

func (t noneOf) matches(v jsonvalue.Value) bool {
	for _, excluded := range t {
		if excluded.matches(v) {
			return false
		}
	}
	return true
}

// negation describes how anything-but negates its values.
type negation struct {
	otherwise string // the error for values that are not texts
	make      func(string) (t test, problem string)
}

var affixOnly = "prefix/suffix match pattern must be a string"

// affixed returns a negation for texts that must not be empty.
func affixed(make func(string) test) negation {
	return negation{affixOnly, func(s string) (test, string) {
		if s == "" {
			return nil, "Null prefix/suffix not allowed"
		}
		return make(s), ""
	}}
}

var negations = map[string]negation{
	ignoreCase: {"Inside anything-but/equals-ignore-case list, number|start|null|boolean is not supported.",
		func(s string) (test, string) { return folded(s), "" }},
	"prefix": affixed(func(s string) test { return prefix(s) }),
	"suffix": affixed(func(s string) test { return suffix(s) }),
	"wildcard": {"wildcard match pattern must be a string", func(s string) (test, string) {
		w, problem := wildcardOf(s)
		return w, problem
	}},
}

// anythingBut parses the value of anything-but.
func (c *compiler) anythingBut() (t test, err error) {
	objects, of := 1, negation{}
	if c.next() == startObject {
		if c.next() != fieldName {
			return nil, c.fail("Anything-But expression name not found")
		}
		name := c.text()
		known, ok := negations[name]
		if !ok {
			return nil, c.fail("Unsupported anything-but pattern: %s", name)
		}
		objects, of = 2, known
		c.next()
	}
	switch {
	case c.token == startArray && objects == 1:
		t, err = c.exceptValues()
	case c.token == startArray:
		t, err = c.exceptTexts(of)
	case c.token == textToken && objects == 1:
		t = noneOf{plainText(c.text())}
	case c.token == numberToken && objects == 1:
		n, problem := comparable(c.text())
		if problem != "" {
			return nil, &Error{Reason: problem, Brief: problem}
		}
		t = noneOf{numbers{low: n, high: n}}
	case c.token == textToken:
		excluded, problem := of.make(c.text())
		if problem != "" {
			return nil, c.fail("%s", problem)
		}
		c.weigh(excluded)
		t = noneOf{excluded}
	case c.token == numberToken:
		return nil, c.fail("%s", of.otherwise)
	default:
		return nil, c.fail("Value of anything-but must be an array or single string/number value.")
	}
	if err != nil {
		return nil, err
	}
	for range objects {
		if c.next() != endObject {
			return nil, c.fail(tooMany)
		}
	}
	return t, nil
}

// weigh notes whether a test is a wildcard that is too complex.
func (c *compiler) weigh(t test) {
	if w, ok := t.(wildcard); ok {
		c.complex = c.complex || w.complexity() >= mostComplex
	}
}

// exceptValues parses a list of texts, or of numbers.
func (c *compiler) exceptValues() (test, error) {
	var texts, others noneOf
	for c.next() != endArray {
		switch c.token {
		case textToken:
			texts = append(texts, plainText(c.text()))
		case numberToken:
			n, problem := comparable(c.text())
			if problem != "" {
				return nil, c.fail("%s", problem)
			}
			others = append(others, numbers{low: n, high: n})
		default:
			return nil, c.failTwice("Inside anything but list, start|null|boolean is not supported.")
		}
	}
	if (texts == nil) == (others == nil) {
		return nil, c.fail("Inside anything but list, either all values are number or string, mixed type is not supported")
	}
	return append(texts, others...), nil
}

// exceptTexts parses a list of texts.
func (c *compiler) exceptTexts(of negation) (test, error) {
	var all noneOf
	wrong := ""
	for c.next() != endArray {
		if c.token != textToken {
			return nil, c.failTwice("%s", of.otherwise)
		}
		text := c.text()
		t, problem := of.make(text)
		switch {
		case problem != "" && text == "":
			return nil, c.failTwice("%s", problem)
		case problem != "" && wrong == "":
			wrong = problem // AWS checks wildcards after parsing all of them
		}
		c.weigh(t)
		all = append(all, t)
	}
	if wrong != "" {
		return nil, c.fail("%s", wrong)
	}
	return all, nil
}
