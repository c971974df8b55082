package policy

import "strings"

// matches reports whether a text is of a pattern, in which * stands for any text and ? for any character.
func matches(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// filled puts the values of policy variables into a pattern: ${aws:username}, ${aws:PrincipalTag/team, 'none'}. ok is
// false when one has no value. ${*}, ${?} and ${$} are these characters; the pattern takes the first two as wildcards.
func filled(pattern string, context Context) (made string, ok bool) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "${")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			b.WriteString("${" + rest)
			return b.String(), true
		}
		name, usual, hasUsual := strings.Cut(name, ",")
		name = strings.TrimSpace(name)
		values := context.get(name)
		switch {
		case name == "*" || name == "?" || name == "$":
			b.WriteString(name)
		case len(values) == 1:
			b.WriteString(values[0])
		case hasUsual:
			b.WriteString(strings.Trim(strings.TrimSpace(usual), "'"))
		default:
			return "", false
		}
		pattern = after
	}
}

// anyOf reports whether one of some patterns matches a text.
func (p *Policy) anyOf(patterns []string, text string, context Context) bool {
	for _, pattern := range patterns {
		if p.Version == "2012-10-17" && strings.Contains(pattern, "${") { // older policies have no variables
			made, ok := filled(pattern, context)
			if !ok {
				continue
			}
			pattern = made
		}
		if matches(pattern, text) {
			return true
		}
	}
	return false
}
