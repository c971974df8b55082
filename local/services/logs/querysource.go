package logs

import (
	"slices"
	"strings"

	"stepback/aws"
	"stepback/internal/lazyregexp"
)

// sourceCommand matches SOURCE logGroups(…) at the beginning of a query and captures its arguments.
var sourceCommand = lazyregexp.New(`(?is)^\s*SOURCE\s+logGroups\s*\(([^)]*)\)\s*(?:\||$)\s*`)

// sourceArgument matches an argument of logGroups: its name, and its list or its single value.
var sourceArgument = lazyregexp.New(`(?s)^\s*(\w+)\s*:\s*(\[[^\]]*\]|'[^']*'|"[^"]*")\s*(?:,|$)`)

// sourceGroups returns the names of the log groups that the command SOURCE logGroups(namePrefix: […]) selects, and the
// query without the command. ok is false if the query does not begin with it. Log groups of other accounts, and of the
// class INFREQUENT_ACCESS, are rejected by name.
func (s *Service) sourceGroups(scope aws.Scope, query string) (groups []string, rest string, ok bool, err error) {
	m := sourceCommand.FindStringSubmatch(query)
	if m == nil {
		return nil, query, false, nil
	}
	var prefixes []string
	for left := m[1]; strings.TrimSpace(left) != ""; {
		a := sourceArgument.FindStringSubmatch(left)
		if a == nil {
			return nil, "", true, invalid(
				"SOURCE logGroups cannot be read from " + strings.TrimSpace(
					left,
				) + " on; it is logGroups(namePrefix: ['PREFIX']).",
			)
		}
		left = left[len(a[0]):]
		values := sourceValues(a[2])
		switch {
		case strings.EqualFold(a[1], "namePrefix"):
			prefixes = append(prefixes, values...)
		case strings.EqualFold(a[1], "class") && len(values) == 1 && values[0] == "STANDARD":
		default:
			return nil, "", true, invalid(
				"SOURCE logGroups with " + a[1] + ": " + a[2] + " is not supported here; namePrefix and class: ['STANDARD'] are.",
			)
		}
	}
	const most, shortest = 5, 3
	if len(prefixes) < 1 || len(prefixes) > most || slices.ContainsFunc(prefixes,
		func(p string) bool { return len(p) < shortest }) {
		return nil, "", true, invalid(
			"SOURCE logGroups takes a namePrefix with one to five prefixes of three or more characters.",
		)
	}
	for _, g := range s.store.Groups(in(scope), func(name string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}) {
		groups = append(groups, g.Name)
	}
	const mostGroups = 50
	if len(groups) > mostGroups {
		groups = groups[:mostGroups]
	}
	return groups, query[len(m[0]):], true, nil
}

// sourceValues returns the texts of a list or of a single value.
func sourceValues(text string) []string {
	var all []string
	for v := range strings.SplitSeq(strings.Trim(text, "[]"), ",") {
		if v = strings.Trim(strings.TrimSpace(v), `'"`); v != "" {
			all = append(all, v)
		}
	}
	return all
}
