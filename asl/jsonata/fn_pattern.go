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
		for _, part := range splitText(text, separator) {
			if float64(len(result.items)) >= math.Floor(limit) {
				break
			}
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

// splitText splits as JavaScript does: an empty separator splits into code units.
func splitText(text, separator string) []string {
	if separator != "" {
		return strings.Split(text, separator)
	}
	var parts []string
	for _, u := range units(text) {
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
	result, position := "", 0
	var parts []string
	for count := 0.0; s.current != nil && count < limit; count++ {
		parts = append(parts, s.between(position, s.current.startIndex()))
		with, err := c.substitute(s.current, replacement)
		if err != nil {
			return nil, err
		}
		if err := c.ev.budget.spendText(len(with)); err != nil {
			return nil, err
		}
		parts = append(parts, with)
		position = s.current.startIndex() + len(units(textOf(s.current.match)))
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	for _, part := range append(parts, s.between(position, len(s.text))) {
		if strings.HasPrefix(part, "\xED") {
			result = concat(strings.Join([]string{result}, ""), part)
			continue
		}
		result += part
	}
	return result, nil
}

// substitute returns the replacement of a match.
func (c *call) substitute(m *found, replacement value) (string, *Error) {
	if text, ok := replacement.(string); ok {
		return expand(text, m), nil
	}
	if replacement == nil {
		return "", noFunction()
	}
	v, err := c.invoke(replacement, m.object())
	if err != nil {
		return "", err
	}
	text, ok := v.(string)
	if !ok {
		return "", raise("D3012", v)
	}
	return text, nil
}

// expand fills in a replacement text: $0 stands for the match, $1 for the first group and so on, and $$ for a
// dollar sign.
func expand(text string, m *found) string {
	var b strings.Builder
	for {
		before, rest, dollar := strings.Cut(text, "$")
		b.WriteString(before)
		if !dollar {
			return b.String()
		}
		switch {
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			text = rest[1:]
		case strings.HasPrefix(rest, "0"):
			b.WriteString(textOf(m.match))
			text = rest[1:]
		default:
			text = rest[expandGroup(&b, rest, itemsOf(m.groups)):]
		}
	}
}

// expandGroup writes the group whose number follows a dollar and returns the length of the number.
func expandGroup(b *strings.Builder, rest string, groups []value) int {
	digits := 1
	if len(groups) > 0 {
		digits = int(math.Floor(math.Log(float64(len(groups)))*math.Log10E)) + 1
	}
	index, ok := leadingNumber(rest, digits)
	if ok && digits > 1 && index > len(groups) {
		index, ok = leadingNumber(rest, digits-1)
	}
	if !ok {
		b.WriteByte('$')
		return 0
	}
	if index >= 1 && index <= len(groups) {
		b.WriteString(textOf(groups[index-1]))
	}
	return len(strconv.Itoa(index))
}

func leadingNumber(s string, most int) (int, bool) {
	l := lexer{source: s[:min(most, len(s))]}
	n, err := strconv.Atoi(s[:l.digits(0)])
	return n, err == nil
}
