package cloudwatch

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"stepback/aws"
)

// query is the query of a SEARCH: {Namespace,Dimension,…} terms.
type query struct {
	namespace string
	schema    []string // the names of the dimensions; nil for any
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
	schemaForm = regexp.MustCompile(`^\{([^}]*)\}`)
	tokenForm  = regexp.MustCompile(`^(?:(\()|(\))|(AND|OR|NOT)\b|(?:(?:"([^"]+)"|([\w:./-]+))\s*=\s*)?(?:"([^"]*)"|([^\s()"]+)))`)
)

// parseQuery parses the query of a SEARCH.
func parseQuery(text string) (*query, error) {
	q := &query{}
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
	terms, rest, err := parseTerms(rest, 0)
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
// hold; OR binds more loosely.
func parseTerms(text string, depth int) (all []term, rest string, err error) {
	const deepest = 20
	if depth > deepest {
		return nil, "", errors.New("nested too deeply")
	}
	var alternatives [][]term
	not := false
	for {
		text = strings.TrimSpace(text)
		m := tokenForm.FindStringSubmatch(text)
		if m == nil || m[2] != "" {
			break
		}
		text = text[len(m[0]):]
		switch {
		case m[1] != "":
			inner, after, err := parseTerms(text, depth+1)
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
			t := term{property: m[4] + m[5], words: m[6] + m[7], exact: strings.HasSuffix(m[0], `"`), not: not}
			all = append(all, t)
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

// finds reports whether a metric matches the query.
func (q *query) finds(m *Metric) bool {
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

var wordForm = regexp.MustCompile(`[A-Z]+(?:[a-z]+)?|[a-z]+|[0-9]+`)

// words returns the parts of a name, in lower case.
func words(text string) []string {
	all := wordForm.FindAllString(text, -1)
	for i, part := range all {
		all[i] = strings.ToLower(part)
	}
	return all
}

// search returns the metrics that match a SEARCH query, at most 500.
func (s *Service) search(scope aws.Scope, text string) ([]Metric, error) {
	const most = 500
	q, err := parseQuery(text)
	if err != nil {
		return nil, err
	}
	found, err := s.find(scope, func(k *known) bool { return q.finds(&k.Metric) })
	return found[:min(len(found), most)], err
}
