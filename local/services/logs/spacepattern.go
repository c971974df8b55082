package logs

import (
	"regexp"
	"strconv"
	"strings"

	"stepback/internal/lazyregexp"
)

// fieldTest reports whether a field's value meets a condition of a pattern.
type fieldTest func(value string) bool

// parseSpacePattern compiles [name, name = value, …], which matches the space-separated fields of an event. Text in
// quotes or brackets is one field. A field may be compared (=, != with * and %regular expressions%; <, <=, >, >=
// with numbers). Several comparisons of a field may be joined by && and ||. A single ... matches any number of
// fields.
func parseSpacePattern(text string) (func(string) bool, error) {
	inner, ok := strings.CutSuffix(text[1:], "]")
	if !ok {
		return nil, errPattern
	}
	var before, after []fieldTest
	rest := false
	parts := splitFields(inner)
	if strings.TrimSpace(inner) == "" {
		parts = []string{"..."} // [] matches any event
	}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if part == "..." {
			if rest {
				return nil, errPattern
			}
			rest = true
			continue
		}
		test, err := parseField(part)
		if err != nil {
			return nil, err
		}
		if rest {
			after = append(after, test)
		} else {
			before = append(before, test)
		}
	}
	return func(message string) bool {
		fields := fieldsOf(message)
		if len(fields) < len(before)+len(after) || !rest && len(fields) != len(before) {
			return false
		}
		for i, test := range before {
			if !test(fields[i]) {
				return false
			}
		}
		for i, test := range after {
			if !test(fields[len(fields)-len(after)+i]) {
				return false
			}
		}
		return true
	}, nil
}

// splitFields splits a pattern at its commas, except those in quotes and regular expressions.
func splitFields(text string) []string {
	var parts []string
	from, quote := 0, byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote && text[i-1] != '\\' {
				quote = 0
			}
		case c == '"' || c == '%':
			quote = c
		case c == ',':
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}

var (
	fieldName       = lazyregexp.New(`^[A-Za-z_][\w-]*`)
	fieldComparison = lazyregexp.New(`^\s*(!=|<=|>=|=|<|>)\s*(%[^%]+%|"(?:[^"\\]|\\.)*"|[^\s&|()"]+)\s*$`)
	fieldJoin       = lazyregexp.New(`&&|\|\|`)
)

// parseField parses a field of a pattern: a name alone, or comparisons of the field with that name.
func parseField(text string) (fieldTest, error) {
	name := fieldName.FindString(text)
	if name == "" {
		return nil, errPattern
	}
	if strings.TrimSpace(text[len(name):]) == "" {
		return func(string) bool { return true }, nil
	}
	var some [][]fieldTest // alternatives, each with tests that must all hold
	all := []fieldTest{}
	for text != "" {
		part, rest, joint := text, "", ""
		if at := fieldJoin.FindStringIndex(text); at != nil && !strings.Contains(text[:at[0]], "%") {
			part, joint, rest = text[:at[0]], text[at[0]:at[1]], text[at[1]:]
		}
		part = strings.TrimSpace(strings.Trim(strings.TrimSpace(part), "()"))
		compared, ok := strings.CutPrefix(part, name)
		if !ok {
			return nil, errPattern
		}
		test, err := compareField(compared)
		if err != nil {
			return nil, err
		}
		all = append(all, test)
		if joint == "||" || rest == "" {
			some, all = append(some, all), nil
		}
		if text = rest; joint != "" && text == "" {
			return nil, errPattern
		}
	}
	return func(v string) bool {
		for _, tests := range some {
			fits := true
			for _, t := range tests {
				fits = fits && t(v)
			}
			if fits {
				return true
			}
		}
		return false
	}, nil
}

func compareField(text string) (fieldTest, error) {
	m := fieldComparison.FindStringSubmatch(text)
	if m == nil {
		return nil, errPattern
	}
	operator, wanted := m[1], m[2]
	if operator == "=" || operator == "!=" {
		var expression string
		if strings.HasPrefix(wanted, "%") {
			expression = strings.Trim(wanted, "%")
		} else {
			wanted = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(wanted, `"`), `"`), `\"`, `"`)
			parts := strings.Split(wanted, "*")
			for i := range parts {
				parts[i] = regexp.QuoteMeta(parts[i])
			}
			expression = "(?s)^" + strings.Join(parts, ".*") + "$"
		}
		re, err := regexp.Compile(expression)
		if err != nil {
			return nil, errPattern
		}
		return func(v string) bool { return re.MatchString(v) == (operator == "=") }, nil
	}
	bound, err := strconv.ParseFloat(wanted, 64)
	if err != nil {
		return nil, errPattern
	}
	return func(v string) bool {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return false
		}
		switch operator {
		case "<":
			return n < bound
		case "<=":
			return n <= bound
		case ">":
			return n > bound
		default:
			return n >= bound
		}
	}, nil
}

// fieldsOf splits an event at white space. Text in quotes or brackets is one field, which does not include the
// quotes or brackets.
func fieldsOf(message string) []string {
	var fields []string
	for message = strings.TrimSpace(message); message != ""; message = strings.TrimLeft(message, " \t\r\n") {
		ends := map[byte]string{'"': `"`, '[': "]"}[message[0]]
		if ends != "" {
			if i := strings.Index(message[1:], ends); i >= 0 {
				fields, message = append(fields, message[1:1+i]), message[2+i:]
				continue
			}
		}
		i := strings.IndexAny(message, " \t\r\n")
		if i < 0 {
			i = len(message)
		}
		fields, message = append(fields, message[:i]), message[i:]
	}
	return fields
}
