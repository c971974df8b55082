package policy

import (
	"strings"

	"stepback/aws"
)

// expandVariables replaces policy variables in a pattern by their values: ${aws:username}, ${aws:PrincipalTag/team,
// 'none'}. ok is false if a variable has no value. ${*}, ${?} and ${$} stand for these characters; the first two then
// act as wildcards in the pattern.
func expandVariables(pattern string, context Context) (made string, ok bool) {
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

// anyOf reports whether any of the patterns matches text.
func (p *Policy) anyOf(patterns []string, text string, context Context) bool {
	for _, pattern := range patterns {
		if p.Version == "2012-10-17" && strings.Contains(pattern, "${") { // older policy versions have no variables
			made, ok := expandVariables(pattern, context)
			if !ok {
				continue
			}
			pattern = made
		}
		if aws.Matches(pattern, text) {
			return true
		}
	}
	return false
}
