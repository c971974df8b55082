package jsonata

import (
	"math"
	"strconv"
	"strings"
)

var patternFunctions = map[string]*native{
	"contains": define("<s-(sf):b>", 2, contains),
	"match":    define("<s-f<s:o>n?:a<o>>", 3, matchAll),
	"replace":  define("<s-(sf)(sf)n?:s>", 4, replace),
	"split":    define("<s-(sf)n?:a<s>>", 3, split),
}

func contains(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	if text, ok := argument(args, 1).(string); ok {
		return strings.Contains(textOf(args[0]), text), nil
	}
	s, err := c.search(argument(args, 1), textOf(args[0]))
	if err != nil {
		return nil, err
	}
	return s.current != nil, nil
}

// limitOf returns a limit. A missing limit is infinite. A negative one is an error with the given code.
func limitOf(v value, code string, index int) (float64, *Error) {
	limit, ok := v.(float64)
	switch {
	case !ok:
		return math.Inf(1), nil
	case limit < 0:
		return 0, &Error{Code: code, value: v, index: index}
	default:
		return limit, nil
	}
}

func matchAll(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	limit, err := limitOf(argument(args, 2), "D3040", 3)
	if err != nil {
		return nil, err
	}
	result := newSequence()
	if limit == 0 {
		return result, nil
	}
	s, err := c.search(argument(args, 1), textOf(args[0]))
	for count := 0.0; err == nil && s.current != nil && count < limit; count++ {
		if err := c.ev.budget.spend(stepsPerMatch); err != nil {
			return nil, err
		}
		m := newObject(3)
		m.set("match", s.current.match)
		m.set("index", s.current.start)
		m.set("groups", s.current.groups)
		result.push(m)
		err = s.next()
	}
	return result, err
}

func split(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	text := textOf(args[0])
	limit, err := limitOf(argument(args, 2), "D3020", 3)
	if err != nil {
		return nil, err
	}
	result := newArray([]value{})
	if limit == 0 {
		return result, nil
	}
	if err := c.ev.budget.spend(len(text) / 8); err != nil {
		return nil, err
	}
	if separator, ok := argument(args, 1).(string); ok {
		most := int(min(math.Floor(limit), float64(len(text)+1)))
		if separator != "" {
			most = min(most, strings.Count(text, separator)+1)
		}
		if err := c.ev.budget.spendItems(most); err != nil {
			return nil, err
		}
		for _, part := range splitText(text, separator, most) {
			result.push(part)
		}
		return result, nil
	}
	s, err := c.search(argument(args, 1), text)
	if err != nil {
		return nil, err
	}
	start, count := 0, 0.0
	for ; s.current != nil && count < limit; count++ {
		if err := c.ev.budget.spend(stepsPerMatch); err != nil {
			return nil, err
		}
		result.push(s.between(start, s.current.startIndex()))
		start = s.current.endIndex()
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	if count < limit {
		result.push(s.between(start, len(s.text)))
	}
	return result, nil
}

// splitText returns at most the first most parts. It splits as JavaScript does: an empty separator splits into code
// units.
func splitText(text, separator string, most int) []string {
	if separator != "" {
		parts := strings.SplitN(text, separator, most+1)
		return parts[:min(most, len(parts))]
	}
	var parts []string
	for _, u := range units(text) {
		if len(parts) == most {
			break
		}
		parts = append(parts, fromUnits([]uint16{u}))
	}
	return parts
}

func replace(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	text := textOf(args[0])
	pattern := argument(args, 1)
	if pattern == "" {
		return nil, &Error{Code: "D3010", value: pattern, index: 2}
	}
	limit, err := limitOf(argument(args, 3), "D3011", 4)
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		return text, nil
	}
	if plain, ok := pattern.(string); ok {
		replacement, ok := argument(args, 2).(string)
		if !ok {
			replacement = "undefined" // as JavaScript's concatenation does
		}
		return c.replaceText(text, plain, replacement, limit)
	}
	return c.replaceMatches(text, pattern, argument(args, 2), limit)
}

func (c *call) replaceText(text, old, replacement string, limit float64) (value, *Error) {
	n := -1
	if limit < math.MaxInt32 {
		n = int(math.Ceil(limit))
	}
	count := strings.Count(text, old)
	if n >= 0 {
		count = min(count, n)
	}
	if err := c.ev.budget.spendText(len(text) + count*len(replacement)); err != nil {
		return nil, err
	}
	return strings.Replace(text, old, replacement, n), nil
}

func (c *call) replaceMatches(text string, pattern, replacement value, limit float64) (value, *Error) {
	s, err := c.search(pattern, text)
	if err != nil || s.current == nil {
		return text, err
	}
	out := &textBuilder{budget: &c.ev.budget}
	position := 0
	for count := 0.0; s.current != nil && count < limit; count++ {
		if err := out.write(s.between(position, s.current.startIndex())); err != nil {
			return nil, err
		}
		if err := c.substitute(out, s.current, replacement); err != nil {
			return nil, err
		}
		position = s.current.startIndex() + len(units(textOf(s.current.match)))
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	if err := out.write(s.between(position, len(s.text))); err != nil {
		return nil, err
	}
	return string(out.text), nil
}

// textBuilder builds a text within a budget.
type textBuilder struct {
	budget *budget
	text   []byte
}

// write appends a text. It returns an error, and appends nothing, if a limit is exceeded.
func (b *textBuilder) write(s string) *Error {
	if err := b.budget.growText(len(b.text), len(s)); err != nil {
		return err
	}
	b.text = appendText(b.text, s)
	return nil
}

// substitute writes the replacement of a match.
func (c *call) substitute(out *textBuilder, m *found, replacement value) *Error {
	if text, ok := replacement.(string); ok {
		return expand(out, text, m)
	}
	if replacement == nil {
		return noFunction()
	}
	v, err := c.invoke(replacement, m.object())
	if err != nil {
		return err
	}
	text, ok := v.(string)
	if !ok {
		return raise("D3012", v)
	}
	return out.write(text)
}

// expand fills in a replacement text: $0 stands for the match, $1 for the first group and so on, and $$ for a
// dollar sign.
func expand(out *textBuilder, text string, m *found) *Error {
	for {
		before, rest, dollar := strings.Cut(text, "$")
		if err := out.write(before); err != nil || !dollar {
			return err
		}
		with, length := "$", 1
		switch {
		case strings.HasPrefix(rest, "$"):
		case strings.HasPrefix(rest, "0"):
			with = textOf(m.match)
		default:
			with, length = expandGroup(rest, itemsOf(m.groups))
		}
		if err := out.budget.spend(1); err != nil {
			return err
		}
		if err := out.write(with); err != nil {
			return err
		}
		text = rest[length:]
	}
}

// expandGroup returns the text of the group whose number follows a dollar, and the length of the number.
func expandGroup(rest string, groups []value) (text string, length int) {
	digits := 1
	if len(groups) > 0 {
		digits = int(math.Floor(math.Log(float64(len(groups)))*math.Log10E)) + 1
	}
	index, ok := leadingNumber(rest, digits)
	if ok && digits > 1 && index > len(groups) {
		index, ok = leadingNumber(rest, digits-1)
	}
	if !ok {
		return "$", 0
	}
	if index >= 1 && index <= len(groups) {
		text = textOf(groups[index-1])
	}
	return text, len(strconv.Itoa(index))
}

func leadingNumber(s string, most int) (int, bool) {
	l := lexer{source: s[:min(most, len(s))]}
	n, err := strconv.Atoi(s[:l.digits(0)])
	return n, err == nil
}
