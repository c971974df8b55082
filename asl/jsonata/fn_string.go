package jsonata

import (
	"math"
	"strings"
)

var stringFunctions = map[string]*native{
	"string":          stringFunction(),
	"substring":       define("<s-nn?:s>", 3, substring),
	"substringBefore": define("<s-s:s>", 2, beforeOrAfter(func(before, _ string) string { return before })),
	"substringAfter":  define("<s-s:s>", 2, beforeOrAfter(func(_, after string) string { return after })),
	"lowercase":       define("<s-:s>", 1, ofText(lowerCase)),
	"uppercase":       define("<s-:s>", 1, ofText(upperCase)),
	"length": define("<s-:n>", 1, whenDefined(func(c *call, v value) (value, *Error) {
		return float64(countCharacters(textOf(v))), c.ev.budget.spend(len(textOf(v)) / itemsReadPerStep)
	})),
	"trim": define("<s-:s>", 1, ofText(trim)),
	"pad":  define("<s-ns?:s>", 3, pad),
	"join": define("<a<s>s?:s>", 2, join),
}

// stringFunction returns the implementation of $string. Its second parameter has a default in the reference
// implementation, which therefore cannot partially apply the function.
func stringFunction() *native {
	n := define("<x-b?:s>", 1, func(c *call, args []value) (value, *Error) {
		if argument(args, 0) == nil {
			return nil, nil
		}
		s, err := c.ev.text(args[0], truthy(argument(args, 1)))
		return s, err
	})
	n.parameters = -2
	return n
}

func substring(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	text := textOf(args[0])
	if err := c.ev.budget.spend(len(text) / itemsReadPerStep); err != nil {
		return nil, err
	}
	size := float64(countCharacters(text))
	start := numberOf(argument(args, 1))
	if size+start < 0 {
		start = 0
	}
	end := size
	if length, ok := argument(args, 2).(float64); ok {
		if length <= 0 || argument(args, 1) == nil {
			return "", nil
		}
		end = start + length
		if start < 0 {
			end += size
		}
	}
	from, to := sliceBound(start, size), sliceBound(end, size)
	if from >= to {
		return "", nil
	}
	text = skipCharacters(text, from)
	return text[:len(text)-len(skipCharacters(text, to-from))], nil
}

// sliceBound returns a bound as JavaScript's slice interprets it: a negative one counts from the end.
func sliceBound(f, size float64) int {
	f = math.Trunc(f)
	if f < 0 {
		f += size
	}
	return int(max(0, min(f, size)))
}

// beforeOrAfter returns a function that returns the text before or after the first occurrence of a separator, or the
// whole text if there is none.
func beforeOrAfter(part func(before, after string) string) func(c *call, args []value) (value, *Error) {
	return func(_ *call, args []value) (value, *Error) {
		if argument(args, 0) == nil {
			return nil, nil
		}
		separator, ok := argument(args, 1).(string)
		if !ok {
			separator = "undefined" // as JavaScript's indexOf reads it
		}
		before, after, found := strings.Cut(textOf(args[0]), separator)
		if !found {
			return args[0], nil
		}
		return part(before, after), nil
	}
}

// trim collapses runs of blanks into one and removes those at both ends.
func trim(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r == ' ' || r == '\t' || r == '\n' ||
			r == '\r'
	}), " ")
}

func pad(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	s := textOf(args[0])
	width := numberOf(argument(args, 1))
	fill := []rune(textOf(argument(args, 2)))
	if len(fill) == 0 {
		fill = []rune{' '}
	}
	missing := math.Abs(width) - float64(countCharacters(s))
	if missing <= 0 {
		return s, nil
	}
	if missing != math.Trunc(missing) || missing >= math.MaxUint32 {
		return nil, runtimeError("Invalid array length")
	}
	if err := c.ev.budget.spendText(4 * int(missing)); err != nil {
		return nil, err
	}
	padding := strings.Repeat(string(fill), int(missing)/len(fill)) + string(fill[:int(missing)%len(fill)])
	if width > 0 {
		return s + padding, nil
	}
	return padding + s, nil
}

func join(c *call, args []value) (value, *Error) {
	if argument(args, 0) == nil {
		return nil, nil
	}
	items := itemsOf(args[0])
	separator := textOf(argument(args, 1))
	texts := make([]string, len(items))
	size := 0
	for i, item := range items {
		texts[i] = textOf(item)
		size += len(texts[i]) + len(separator)
	}
	if err := c.ev.budget.spendText(size); err != nil {
		return nil, err
	}
	return strings.Join(texts, separator), nil
}
