package logs

import (
	"regexp"
	"strings"

	"stepback/internal/lazyregexp"
)

var errPattern = invalid("Invalid filter pattern")

// parsePattern compiles a filter pattern. An empty pattern matches all messages. { $.type = "x" && … } matches JSON
// objects. [ip, user, status = 4*] matches the space-separated fields of an event. %…% is a regular expression.
// Anything else is a list of terms that must occur (-term: must not occur; ?term ?term: at least one must occur).
func parsePattern(text string) (func(message string) bool, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return func(string) bool { return true }, nil
	case strings.HasPrefix(text, "{"):
		return parseJSONPattern(text)
	case strings.HasPrefix(text, "["):
		return parseSpacePattern(text)
	case len(text) > 1 && strings.HasPrefix(text, "%") && strings.HasSuffix(text, "%"):
		re, err := regexp.Compile(text[1 : len(text)-1])
		if err != nil {
			return nil, errPattern
		}
		return re.MatchString, nil
	}
	return parseTerms(text)
}

// terms holds the words of a pattern.
type terms struct{ all, some, none []string }

var term = lazyregexp.New(`^([-?]?)(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))\s*`)

func parseTerms(text string) (func(string) bool, error) {
	var t terms
	for text != "" {
		m := term.FindStringSubmatch(text)
		if m == nil {
			return nil, errPattern
		}
		text = text[len(m[0]):]
		word := strings.ReplaceAll(m[2], `\"`, `"`) + m[3]
		switch m[1] {
		case "-":
			t.none = append(t.none, word)
		case "?":
			t.some = append(t.some, word)
		default:
			t.all = append(t.all, word)
		}
	}
	return t.match, nil
}

func (t *terms) match(message string) bool {
	for _, w := range t.none {
		if strings.Contains(message, w) {
			return false
		}
	}
	for _, w := range t.all {
		if !strings.Contains(message, w) {
			return false
		}
	}
	for _, w := range t.some {
		if strings.Contains(message, w) {
			return true
		}
	}
	return len(t.some) == 0
}
