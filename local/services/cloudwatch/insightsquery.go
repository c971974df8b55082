package cloudwatch

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"stepback/internal/lazyregexp"
	"stepback/local/services/cloudwatch/datapoints"
	"stepback/retrymetrics/metricmath"
)

// insightsQuery is a Metrics Insights query: SELECT FUNCTION(metric) FROM namespace …, as CloudWatch's reference of its
// syntax describes it.
type insightsQuery struct {
	function, metric string
	namespace        string
	schema           []string // the names of a metric's dimensions; nil means any
	where            []insightsCondition
	groupBy          []string
	order            string // the function of ORDER BY; empty means none
	descending       bool
	limit            int
}

// insightsCondition is a term of WHERE.
type insightsCondition struct {
	name, value string
	not         bool
}

// insightsStatistics maps the functions to statistics.
var insightsStatistics = map[string]string{
	"AVG":   "Average",
	"COUNT": "SampleCount",
	"MAX":   "Maximum",
	"MIN":   "Minimum",
	"SUM":   "Sum",
}

// insightsMost is the maximum number of series that a query returns.
const insightsMost = 500

// isInsights reports whether an expression is a Metrics Insights query.
func isInsights(expression string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(expression), " ")
	return strings.EqualFold(word, "SELECT")
}

// insightsToken matches a token: a quoted name, a quoted value, a word, or a sign.
var insightsToken = lazyregexp.New(`^\s*("(?:[^"]|"")*"|'(?:[^']|'')*'|!=|[(),=]|[^\s(),=!"']+)`)

// insightsParser reads a query from left to right.
type insightsParser struct {
	tokens []string
	at     int
}

func (p *insightsParser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

// takes skips the words if they come next, in any case.
func (p *insightsParser) takes(words ...string) bool {
	for i, w := range words {
		if p.at+i >= len(p.tokens) || !strings.EqualFold(p.tokens[p.at+i], w) {
			return false
		}
	}
	p.at += len(words)
	return true
}

func (p *insightsParser) expected(what string) error {
	found := "the end"
	if t := p.peek(); t != "" {
		found = t
	}
	return fmt.Errorf("the Metrics Insights query has %s where %s is expected", found, what)
}

// name reads a name: a word, or any text in double quotes.
func (p *insightsParser) name(what string) (string, error) {
	t := p.peek()
	if t == "" || strings.ContainsAny(t[:1], "'(),=!") {
		return "", p.expected(what)
	}
	p.at++
	if t[0] == '"' {
		return strings.ReplaceAll(t[1:len(t)-1], `""`, `"`), nil
	}
	if strings.Contains(t, ".") && (strings.HasPrefix(t, "AWS.") || strings.HasPrefix(t, "tag.")) {
		return "", fmt.Errorf("%s is not available in Metrics Insights queries here; use the names of dimensions", t)
	}
	return t, nil
}

// function reads a function with its argument, which is empty in ORDER BY.
func (p *insightsParser) function() (function, argument string, err error) {
	function = strings.ToUpper(p.peek())
	if insightsStatistics[function] == "" {
		return "", "", p.expected("AVG, COUNT, MAX, MIN or SUM")
	}
	p.at++
	if !p.takes("(") {
		return "", "", p.expected("(")
	}
	if p.takes(")") {
		return function, "", nil
	}
	if argument, err = p.name("a metric's name"); err == nil && !p.takes(")") {
		err = p.expected(")")
	}
	return function, argument, err
}

// names reads names separated by commas.
func (p *insightsParser) names(what string) (all []string, err error) {
	for {
		name, err := p.name(what)
		if err != nil {
			return nil, err
		}
		if all = append(all, name); !p.takes(",") {
			return all, nil
		}
	}
}

// parseInsights parses a query. Its error says what was found where something else is expected.
func parseInsights(text string) (*insightsQuery, error) {
	p := &insightsParser{}
	for rest := text; strings.TrimSpace(rest) != ""; {
		m := insightsToken.FindStringSubmatchIndex(rest)
		if m == nil {
			return nil, fmt.Errorf("the Metrics Insights query cannot be read from %q on", strings.TrimSpace(rest))
		}
		p.tokens, rest = append(p.tokens, rest[m[2]:m[3]]), rest[m[1]:]
	}
	q := &insightsQuery{limit: insightsMost}
	var err error
	if !p.takes("SELECT") {
		return nil, p.expected("SELECT")
	}
	if q.function, q.metric, err = p.function(); err != nil {
		return nil, err
	}
	if q.metric == "" {
		return nil, errors.New("the Metrics Insights query selects no metric: write SELECT " + q.function + "(METRIC)")
	}
	if !p.takes("FROM") {
		return nil, p.expected("FROM")
	}
	if p.takes("SCHEMA", "(") {
		all, err := p.names("a name")
		if err != nil {
			return nil, err
		}
		if q.namespace, q.schema = all[0], all[1:]; !p.takes(")") {
			return nil, p.expected(")")
		}
	} else if q.namespace, err = p.name("a namespace"); err != nil {
		return nil, err
	}
	return q, p.clauses(q)
}

// clauses reads what follows FROM.
func (p *insightsParser) clauses(q *insightsQuery) (err error) {
	if p.takes("WHERE") {
		for again := true; again; again = p.takes("AND") {
			c := insightsCondition{}
			if c.name, err = p.name("a dimension"); err != nil {
				return err
			}
			if c.not = p.takes("!="); !c.not && !p.takes("=") {
				return p.expected("= or !=")
			}
			value := p.peek()
			if value == "" || value[0] != '\'' {
				return p.expected("a value in single quotes")
			}
			p.at++
			c.value = strings.ReplaceAll(value[1:len(value)-1], "''", "'")
			q.where = append(q.where, c)
		}
	}
	if p.takes("GROUP", "BY") {
		if q.groupBy, err = p.names("a dimension"); err != nil {
			return err
		}
	}
	if p.takes("ORDER", "BY") {
		if q.order, _, err = p.function(); err != nil {
			return err
		}
		if q.descending = p.takes("DESC"); !q.descending {
			p.takes("ASC")
		}
	}
	if p.takes("LIMIT") {
		n, err := strconv.Atoi(p.peek())
		if err != nil || n < 1 || n > insightsMost {
			return p.expected(fmt.Sprintf("a number from 1 to %d", insightsMost))
		}
		p.at++
		q.limit = n
	}
	if p.peek() != "" {
		return p.expected("the end")
	}
	return nil
}

// matches reports whether a metric is selected. A metric that lacks a dimension of GROUP BY is not.
func (q *insightsQuery) matches(m *Metric) bool {
	if m.Namespace != q.namespace || m.Name != q.metric {
		return false
	}
	has := func(name string) bool {
		_, ok := m.dimension(name)
		return ok
	}
	if q.schema != nil && (len(m.Dimensions) != len(q.schema) || slices.ContainsFunc(q.schema,
		func(n string) bool { return !has(n) })) {
		return false
	}
	for _, c := range q.where {
		value, ok := m.dimension(c.name)
		if !ok || (value == c.value) == c.not {
			return false
		}
	}
	return !slices.ContainsFunc(q.groupBy, func(n string) bool { return !has(n) })
}

// insights evaluates a Metrics Insights query: one series, or one for each group, labelled with its values.
func (v *view) insights(text string, grid metricmath.Grid) (all []metricmath.Labelled, several bool, err error) {
	q, err := parseInsights(text)
	if err != nil {
		return nil, false, err
	}
	found, err := v.service.find(v.scope, func(k *known) bool { return q.matches(&k.Metric) })
	if err != nil {
		return nil, false, err
	}
	groups := map[string][]datapoints.Summary{}
	for i := range found {
		var values []string
		for _, name := range q.groupBy {
			value, _ := found[i].dimension(name)
			values = append(values, value)
		}
		if err := v.spend(grid); err != nil {
			return nil, false, err
		}
		read, err := v.summaries(&metricStat{Metric: found[i]}, grid)
		if err != nil {
			return nil, false, err
		}
		label := strings.Join(values, " ")
		if groups[label] == nil {
			groups[label] = make([]datapoints.Summary, grid.Len)
		}
		for j := range read {
			groups[label][j].Merge(&read[j])
		}
	}
	statistic, err := datapoints.ParseStatistic(insightsStatistics[q.function])
	if err != nil {
		return nil, false, err
	}
	type ranked struct {
		metricmath.Labelled
		rank float64
	}
	var series []ranked
	for label, summaries := range groups {
		values, whole := make(metricmath.Series, grid.Len), datapoints.Summary{}
		for j := range summaries {
			values[j] = statistic.Of(&summaries[j])
			whole.Merge(&summaries[j])
		}
		if whole.Count == 0 && len(q.groupBy) > 0 {
			continue // a group without data in the time range
		}
		r := ranked{Labelled: metricmath.Labelled{Label: label, Values: values}}
		if q.order != "" {
			order, err := datapoints.ParseStatistic(insightsStatistics[q.order])
			if err != nil {
				return nil, false, err
			}
			if r.rank = order.Of(&whole); q.descending {
				r.rank = -r.rank
			}
		}
		series = append(series, r)
	}
	slices.SortFunc(series, func(a, b ranked) int {
		if !math.IsNaN(a.rank) && !math.IsNaN(b.rank) && a.rank != b.rank {
			return cmp.Compare(a.rank, b.rank)
		}
		return cmp.Compare(a.Label, b.Label)
	})
	for _, r := range series[:min(len(series), q.limit)] {
		all = append(all, r.Labelled)
	}
	return all, len(q.groupBy) > 0, nil
}
