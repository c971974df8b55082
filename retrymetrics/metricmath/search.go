package metricmath

import (
	"errors"
	"slices"
	"strings"

	"stepback/internal/lazyregexp"
)

// Metric identifies a metric by its namespace, name and dimensions. The order of the dimensions has no meaning.
type Metric struct {
	Namespace, Name string
	Dimensions      []Dimension
}

// Dimension is a dimension of a metric.
type Dimension struct{ Name, Value string }

// dimension returns the value of a dimension. ok is false if the metric does not have it.
func (m *Metric) dimension(name string) (value string, ok bool) {
	for _, d := range m.Dimensions {
		if d.Name == name {
			return d.Value, true
		}
	}
	return "", false
}

// Search is the query of a SEARCH expression: {Namespace,Dimension,…} followed by terms.
type Search struct {
	namespace string
	schema    []string // the names of the dimensions, sorted; it is checked only with a namespace
	terms     []term
}

// term is one condition; with any, at least one of its terms must hold.
type term struct {
	any      []term
	property string // Namespace, MetricName or the name of a dimension; empty for any of them
	words    string
	exact    bool
	not      bool
}

var (
	schemaForm   = lazyregexp.New(`^\{([^}]*)\}`)
	propertyForm = lazyregexp.New(`^(?:"([^"]+)"|([\w:./-]+))\s*=\s*`)
	tokenForm    = lazyregexp.New(`^(?:(\()|(\))|(AND|OR|NOT)\b|(?:"([^"]*)"|([^\s()"]+)))`)
)

// ParseSearch parses the query of a SEARCH expression.
func ParseSearch(text string) (*Search, error) {
	q := &Search{}
	rest := strings.TrimSpace(text)
	if m := schemaForm.FindStringSubmatch(rest); m != nil {
		names := splitNames(m[1])
		if len(names) == 0 || names[0] == "" {
			return nil, errors.New("the braces hold a namespace and names of dimensions")
		}
		q.namespace, q.schema = names[0], names[1:]
		slices.Sort(q.schema)
		rest = rest[len(m[0]):]
	}
	terms, rest, err := parseTerms(rest, "", 0)
	if err == nil && strings.TrimSpace(rest) != "" {
		err = errors.New("a parenthesis closes that none opened")
	}
	q.terms = terms
	return q, err
}

// splitNames splits names at commas; names with spaces are quoted.
func splitNames(text string) (names []string) {
	for part := range strings.SplitSeq(text, ",") {
		names = append(names, strings.Trim(strings.TrimSpace(part), `"`))
	}
	return names
}

// parseTerms parses conditions up to the end or a closing parenthesis: adjacent ones and those joined by AND must all
// hold; OR binds more loosely. property applies to terms that name none, as in MetricName=(Errors OR Throttles).
func parseTerms(text, property string, depth int) (all []term, rest string, err error) {
	const deepest = 20
	if depth > deepest {
		return nil, "", errors.New("nested too deeply")
	}
	var alternatives [][]term
	not := false
	for {
		text = strings.TrimSpace(text)
		of, after := property, text
		if m := propertyForm.FindStringSubmatch(text); m != nil {
			of, after = m[1]+m[2], text[len(m[0]):]
		}
		m := tokenForm.FindStringSubmatch(after)
		if m == nil || m[2] != "" {
			break
		}
		text = after[len(m[0]):]
		switch {
		case m[1] != "":
			inner, after, err := parseTerms(text, of, depth+1)
			if err != nil {
				return nil, "", err
			}
			after, ok := strings.CutPrefix(strings.TrimSpace(after), ")")
			if !ok {
				return nil, "", errors.New("a parenthesis is not closed")
			}
			text = after
			all = append(all, term{any: []term{{any: inner, property: "all"}}, not: not})
			not = false
		case m[3] == "OR":
			alternatives = append(alternatives, all)
			all = nil
		case m[3] == "NOT":
			not = true
		case m[3] == "AND":
		default:
			all = append(all, term{property: of, words: m[4] + m[5], exact: strings.HasSuffix(m[0], `"`), not: not})
			not = false
		}
	}
	if alternatives == nil {
		return all, text, nil
	}
	either := term{}
	for _, a := range append(alternatives, all) {
		either.any = append(either.any, term{any: a, property: "all"})
	}
	return []term{either}, text, nil
}

// Exact returns the namespace and the metric name that every match has. Each is empty if the query does not require a
// certain one.
func (q *Search) Exact() (namespace, name string) {
	namespace = q.namespace
	for _, t := range q.terms {
		if t.any != nil || !t.exact || t.not {
			continue
		}
		switch t.property {
		case "Namespace":
			namespace = t.words
		case "MetricName":
			name = t.words
		}
	}
	return namespace, name
}

// Matches reports whether a metric matches the query.
func (q *Search) Matches(m *Metric) bool {
	if q.namespace != "" {
		names := make([]string, 0, len(m.Dimensions))
		for _, d := range m.Dimensions {
			names = append(names, d.Name)
		}
		slices.Sort(names)
		if m.Namespace != q.namespace || !slices.Equal(names, q.schema) {
			return false
		}
	}
	return allHold(q.terms, m)
}

// Labels returns a label for each of the metrics that the query found: their names and values of dimensions, without
// those that the query fixes or that are the same for all.
func (q *Search) Labels(found []Metric) []string {
	labels := make([]string, len(found))
	for i := range found {
		parts := q.free(&found[i])
		if len(found) > 1 {
			parts = slices.DeleteFunc(slices.Clone(parts), func(p part) bool {
				return !slices.ContainsFunc(found, func(o Metric) bool { return !slices.Contains(q.free(&o), p) })
			})
		}
		var words []string
		for _, p := range parts {
			words = append(words, p.value)
		}
		if labels[i] = strings.Join(words, " "); labels[i] == "" {
			labels[i] = found[i].Name
		}
	}
	return labels
}

// part is the name of a metric or the value of one of its dimensions, by its property.
type part struct{ property, value string }

// free returns the parts of a metric that the query does not fix: its name first, then its dimensions by name.
func (q *Search) free(m *Metric) []part {
	dimensions := make([]part, 0, len(m.Dimensions))
	for _, d := range m.Dimensions {
		dimensions = append(dimensions, part{d.Name, d.Value})
	}
	slices.SortFunc(dimensions, func(a, b part) int { return strings.Compare(a.property, b.property) })
	return slices.DeleteFunc(append([]part{{"MetricName", m.Name}}, dimensions...), func(p part) bool {
		return slices.ContainsFunc(q.terms, func(t term) bool {
			return t.any == nil && t.exact && !t.not && t.property == p.property
		})
	})
}

func allHold(terms []term, m *Metric) bool {
	return !slices.ContainsFunc(terms, func(t term) bool { return t.holds(m) == t.not })
}

// holds reports whether the condition holds, ignoring not.
func (t *term) holds(m *Metric) bool {
	if t.any != nil {
		if t.property == "all" {
			return allHold(t.any, m)
		}
		return slices.ContainsFunc(t.any, func(o term) bool { return allHold([]term{o}, m) })
	}
	switch t.property {
	case "Namespace":
		return t.matches(m.Namespace)
	case "MetricName":
		return t.matches(m.Name)
	case "":
	default:
		value, ok := m.dimension(t.property)
		return ok && t.matches(value)
	}
	if t.matches(m.Namespace) || t.matches(m.Name) {
		return true
	}
	return slices.ContainsFunc(m.Dimensions, func(d Dimension) bool { return t.matches(d.Name) || t.matches(d.Value) })
}

// matches reports whether a text equals the quoted text, or contains all words of an unquoted one.
func (t *term) matches(text string) bool {
	if t.exact {
		return text == t.words
	}
	have := words(text)
	return !slices.ContainsFunc(words(t.words), func(w string) bool { return !slices.Contains(have, w) })
}

var wordForm = lazyregexp.New(`[A-Z]+(?:[a-z]+)?|[a-z]+|[0-9]+`)

// words returns the parts of a name, in lower case.
func words(text string) []string {
	all := wordForm.FindAllString(text, -1)
	for i, part := range all {
		all[i] = strings.ToLower(part)
	}
	return all
}
