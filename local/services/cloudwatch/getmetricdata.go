package cloudwatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/internal/budgets"
	"stepback/internal/lazyregexp"
	"stepback/local/services/cloudwatch/datapoints"
	"stepback/retrymetrics/metricmath"
)

// metricStat is a statistic of a metric.
type metricStat struct {
	Metric Metric
	Period int64
	Stat   string
	Unit   string `json:",omitempty"`
}

// metricQuery is a metric or an expression in a request or an alarm.
type metricQuery struct {
	ID         string      `json:"Id"`
	MetricStat *metricStat `json:",omitempty"`
	Expression string      `json:",omitempty"`
	Label      string      `json:",omitempty"`
	Return     *bool       `json:"ReturnData,omitempty"`
	Period     int64       `json:",omitempty"`
	Account    string      `json:"AccountId,omitempty"`
}

func (q *metricQuery) returns() bool { return q.Return == nil || *q.Return }

type getMetricDataRequest struct {
	Queries       []metricQuery `json:"MetricDataQueries"`
	Start         float64       `json:"StartTime"`
	End           float64       `json:"EndTime"`
	ScanBy        string
	MaxDatapoints int
	NextToken     string
}

type metricDataResult struct {
	ID         string `json:"Id"`
	Label      string
	Timestamps []server.Time
	Values     []float64
	Status     string    `json:"StatusCode"`
	Messages   []message `json:",omitempty"`
}

type message struct{ Code, Value string }

type getMetricDataAnswer struct {
	Results   []metricDataResult `json:"MetricDataResults"`
	NextToken string             `json:",omitempty"`
	Messages  []message
}

var idForm = lazyregexp.New(`^[a-z][a-zA-Z0-9_]*$`)

// checkQueries rejects queries that CloudWatch rejects. what is the prefix of their members' names in errors.
func checkQueries(what string, queries []metricQuery) error {
	const most = 500
	if len(queries) > most {
		return invalid("The collection %s must not have a size greater than %d.", what, most)
	}
	seen := map[string]bool{}
	for i := range queries {
		q := &queries[i]
		switch {
		case !idForm.MatchString(q.ID):
			return &aws.Error{Code: "ValidationError", Message: fmt.Sprintf("The value %s for parameter %s.member.%d.Id is not matching "+
				"the expected pattern ^[a-z][a-zA-Z0-9_]*$.", q.ID, what, i+1)}
		case seen[q.ID]:
			return &aws.Error{Code: "ValidationError", Message: fmt.Sprintf("The values for parameter Id in %s are not unique.", what)}
		case (q.MetricStat == nil) == (q.Expression == ""):
			return &aws.Error{Code: "ValidationError", Message: fmt.Sprintf("Exactly one of the parameters %s.member.%d.MetricStat and "+
				"%s.member.%d.Expression must be given.", what, i+1, what, i+1)}
		}
		seen[q.ID] = true
		if q.MetricStat != nil {
			q.MetricStat.Metric.sorted()
			if err := checkPeriod(q.MetricStat.Period); err != nil {
				return err
			}
			if _, err := datapoints.ParseStatistic(q.MetricStat.Stat); err != nil {
				return &aws.Error{Code: "ValidationError", Message: fmt.Sprintf("The value %s for parameter %s.member.%d.MetricStat.Stat "+
					"is not supported.", q.MetricStat.Stat, what, i+1)}
			}
		}
	}
	return nil
}

// checkPeriod rejects periods that metrics cannot have.
func checkPeriod(seconds int64) error {
	if seconds > 0 && seconds%60 == 0 || slices.Contains([]int64{1, 5, 10, 20, 30}, seconds) {
		return nil
	}
	return invalid("The parameter Period must be 1, 5, 10, 20, 30, or a multiple of 60.")
}

func timeOf(seconds float64) time.Time { return time.UnixMilli(int64(seconds * 1000)).UTC() }

func (s *Service) getMetricData(_ context.Context, scope aws.Scope, in *getMetricDataRequest) (*getMetricDataAnswer, error) {
	if err := checkQueries("MetricDataQueries", in.Queries); err != nil {
		return nil, err
	}
	start, end := timeOf(in.Start), timeOf(in.End)
	if !start.Before(end) {
		return nil, &aws.Error{Code: "ValidationError", Message: "The parameter StartTime must be less than the parameter EndTime."}
	}
	if err := s.measure(); err != nil {
		return nil, err
	}
	v := s.view(scope, in.Queries, start, end)
	for i := range in.Queries { // refuses what is too large before anything is computed
		if q := &in.Queries[i]; q.returns() {
			if err := s.view(scope, in.Queries, start, end).spend(v.gridOf(v.period(q))); err != nil {
				return nil, err
			}
		}
	}
	answer := &getMetricDataAnswer{Results: []metricDataResult{}, Messages: []message{}}
	total := 0
	for i := range in.Queries {
		q := &in.Queries[i]
		if !q.returns() {
			continue
		}
		v.several = nil
		grid, all, err := v.query(q)
		var refused *aws.Error
		if errors.As(err, &refused) {
			return nil, err
		}
		if err != nil {
			return nil, &aws.Error{Code: "ValidationError", Message: fmt.Sprintf("Error in expression '%s': %s", q.ID, err)}
		}
		for _, l := range all {
			if q.MetricStat != nil {
				l.Label = distinguished(in.Queries, q.MetricStat)
			}
			r := metricDataResult{ID: q.ID, Label: metricmath.Label(q.Label, l), Status: "Complete", Timestamps: []server.Time{}, Values: []float64{}}
			for j, x := range l.Values {
				if !math.IsNaN(x) {
					r.Timestamps, r.Values = append(r.Timestamps, server.Time(grid.At(j))), append(r.Values, x)
				}
			}
			if in.ScanBy != "TimestampAscending" {
				slices.Reverse(r.Timestamps)
				slices.Reverse(r.Values)
			}
			if q.MetricStat != nil && v.several != nil {
				r.Messages = []message{{"MultipleUnits", "Multiple units returned: '[" + strings.Join(v.several, ", ") + "]'"}}
			}
			total += len(r.Values)
			answer.Results = append(answer.Results, r)
		}
	}
	return answer, answer.cut(s.opts.Clock.Now(), scope, in, total)
}

// mostDatapoints is the maximum number of datapoints in a response.
const mostDatapoints = 100_800

// cut reduces the answer to the requested page, in the order of the results: at most MaxDatapoints datapoints. A result
// of which some follow has the status PartialData, and one without any on the page is left out.
func (a *getMetricDataAnswer) cut(now time.Time, scope aws.Scope, in *getMetricDataRequest, total int) error {
	size, begin := mostDatapoints, 0
	if in.MaxDatapoints > 0 {
		size = min(in.MaxDatapoints, mostDatapoints)
	}
	request, err := json.Marshal(in.Queries)
	if err != nil {
		return err
	}
	listing := aws.NewListing(now, "GetMetricData", scope.Account, scope.Region, string(request), fmt.Sprint(in.Start, in.End),
		in.ScanBy)
	if in.NextToken != "" {
		place, ok := listing.Place(in.NextToken)
		if begin, err = strconv.Atoi(place); !ok || err != nil {
			return &aws.Error{Code: "InvalidNextToken", Message: "The next token is not valid for this request."}
		}
	}
	end := begin + size
	if end < total {
		a.NextToken = listing.Token(strconv.Itoa(end))
	}
	if begin == 0 && end >= total {
		return nil
	}
	shown, at := a.Results[:0], 0
	for _, r := range a.Results {
		from, to := at, at+len(r.Values)
		at = to
		low, high := max(from, begin), min(to, end)
		if low >= high && (begin > 0 || from != to || from > end) {
			continue
		}
		if high < to {
			r.Status = "PartialData"
		}
		r.Timestamps, r.Values = r.Timestamps[low-from:high-from], r.Values[low-from:high-from]
		shown = append(shown, r)
	}
	a.Results = shown
	return nil
}

// view evaluates the queries of a request over a time range.
type view struct {
	service    *Service
	scope      aws.Scope
	queries    []metricQuery
	start, end time.Time
	depth      int
	grid       metricmath.Grid // start, period and number of periods of the evaluated expression
	several    []string        // the units in which the most recently read metric has data
	cells      *int            // values that may still be computed
}

func (s *Service) view(scope aws.Scope, queries []metricQuery, start, end time.Time) *view {
	cells := budgets.MetricCells.Value
	return &view{service: s, scope: scope, queries: queries, start: start, end: end, cells: &cells}
}

// perSeries is the work of a series apart from its values, in values.
const perSeries = 50

// spend takes the work of computing a series over a grid. It returns an error if the request computes too much.
func (v *view) spend(grid metricmath.Grid) error {
	if *v.cells -= grid.Len + perSeries; *v.cells < 0 {
		return &aws.Error{Code: "ValidationError", Message: fmt.Sprintf("The request computes more than %d values; ask for less by a "+
			"longer Period, a shorter time or fewer expressions.", budgets.MetricCells.Value)}
	}
	return nil
}

// gridOf returns the periods that the view covers. As on AWS, they follow each other from the start, rounded down to a
// minute.
func (v *view) gridOf(seconds int64) metricmath.Grid {
	from := v.start.Unix() - v.start.Unix()%min(seconds, 60)
	n := (v.end.Unix() - from + seconds - 1) / seconds
	return metricmath.Grid{Start: time.Unix(from, 0).UTC(), Period: time.Duration(seconds) * time.Second,
		Len: int(min(n, math.MaxInt32))}
}

// period returns the period of a query: its own, or the longest of the metrics.
func (v *view) period(q *metricQuery) int64 {
	if q.MetricStat != nil {
		return q.MetricStat.Period
	}
	if q.Period != 0 {
		return q.Period
	}
	longest := int64(0)
	for i := range v.queries {
		if m := v.queries[i].MetricStat; m != nil {
			longest = max(longest, m.Period)
		}
	}
	if m := searched.FindStringSubmatch(q.Expression); longest == 0 && m != nil {
		if _, err := fmt.Sscan(m[1], &longest); err != nil {
			longest = 0
		}
	}
	const usual = 300
	return cmp.Or(longest, usual)
}

// searched matches a SEARCH and captures its period.
var searched = lazyregexp.New(`SEARCH\(.*,\s*(\d+)\s*\)`)

// query evaluates a query.
func (v *view) query(q *metricQuery) (metricmath.Grid, []metricmath.Labelled, error) {
	grid := v.gridOf(v.period(q))
	if q.MetricStat != nil {
		l, err := v.metric(q.MetricStat, grid)
		return grid, []metricmath.Labelled{l}, err
	}
	if id, deviations, ok := bandOf(q.Expression); ok {
		all, err := v.band(id, deviations, grid)
		return grid, all, err
	}
	if err := v.spend(grid); err != nil {
		return grid, nil, err
	}
	if isInsights(q.Expression) {
		all, several, err := v.insights(q.Expression, grid)
		if err == nil && !several && len(all) == 1 {
			all[0].Label = q.ID
		}
		return grid, all, err
	}
	before := v.grid
	v.grid = grid
	all, _, err := metricmath.Evaluate(q.Expression, grid, v)
	v.grid = before
	if err == nil && *v.cells < 0 { // METRICS() leaves out what cannot be read
		err = v.spend(grid)
	}
	for i := range all {
		all[i].Label = cmp.Or(all[i].Label, q.ID)
		if len(all) == 1 {
			all[i].Label = q.ID
		}
	}
	return grid, all, err
}

// metric returns a statistic of a metric over a grid.
func (v *view) metric(m *metricStat, grid metricmath.Grid) (metricmath.Labelled, error) {
	statistic, err := datapoints.ParseStatistic(m.Stat)
	if err != nil {
		return metricmath.Labelled{}, err
	}
	if err := v.spend(grid); err != nil {
		return metricmath.Labelled{}, err
	}
	all, err := v.summaries(m, grid)
	if err != nil {
		return metricmath.Labelled{}, err
	}
	values := make(metricmath.Series, len(all))
	for i := range all {
		values[i] = statistic.Of(&all[i])
	}
	return metricmath.Labelled{Label: m.Metric.Name, Values: values}, nil
}

// summaries returns the data of a metric. If the metric has data in several units and the query names none, the first
// unit is used.
func (v *view) summaries(m *metricStat, grid metricmath.Grid) ([]datapoints.Summary, error) {
	units, err := v.service.units(v.scope, &m.Metric, m.Unit)
	if err != nil || len(units) < 2 { // the most common case by far
		units = []string{m.Unit}
	}
	var first []datapoints.Summary
	var there []string
	for _, unit := range units {
		all, err := v.service.read(v.scope, &m.Metric, unit, grid.Start, grid.Period, grid.Len)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(s datapoints.Summary) bool { return s.Count > 0 }) {
			there = append(there, unit)
		}
		if first == nil || len(there) == 1 && there[0] == unit {
			first = all
		}
	}
	if len(there) > 1 {
		v.several = there
	}
	return first, nil
}

// distinguished returns the label of a metric: its name, with the statistic and the period if other queries for the
// same name differ in them.
func distinguished(queries []metricQuery, m *metricStat) string {
	label, statistic, period := m.Metric.Name, false, false
	for i := range queries {
		if o := queries[i].MetricStat; o != nil && o.Metric.Name == m.Metric.Name && queries[i].returns() {
			statistic, period = statistic || o.Stat != m.Stat, period || o.Period != m.Period
		}
	}
	if statistic {
		label += " " + m.Stat
	}
	if period {
		label += fmt.Sprintf(" %d", m.Period)
	}
	return label
}

// Term implements metricmath.Terms.
func (v *view) Term(id string) ([]metricmath.Labelled, bool, error) {
	for i := range v.queries {
		q := &v.queries[i]
		if q.ID != id {
			continue
		}
		if q.MetricStat != nil {
			l, err := v.metric(q.MetricStat, v.grid)
			return []metricmath.Labelled{l}, false, err
		}
		const deepest = 50
		if v.depth++; v.depth > deepest {
			return nil, false, errors.New("the expressions refer to each other in a circle")
		}
		defer func() { v.depth-- }()
		if err := v.spend(v.grid); err != nil {
			return nil, false, err
		}
		if isInsights(q.Expression) {
			return v.insights(q.Expression, v.grid)
		}
		return metricmath.Evaluate(q.Expression, v.grid, v)
	}
	return nil, false, fmt.Errorf("no metric or expression has the id %s", id)
}

// Metrics implements metricmath.Terms.
func (v *view) Metrics(part string) (all []metricmath.Labelled) {
	for i := range v.queries {
		q := &v.queries[i]
		if q.MetricStat == nil || !strings.Contains(q.ID, part) {
			continue
		}
		if l, err := v.metric(q.MetricStat, v.grid); err == nil {
			all = append(all, l)
		}
	}
	return all
}

// Search implements metricmath.Terms.
func (v *view) Search(query, statistic string, _ time.Duration) ([]metricmath.Labelled, error) {
	found, labels, err := v.service.search(v.scope, query)
	if err != nil {
		return nil, err
	}
	all := make([]metricmath.Labelled, 0, len(found))
	for i, m := range found {
		l, err := v.metric(&metricStat{Metric: m, Stat: statistic}, v.grid)
		if err != nil {
			return nil, err
		}
		l.Label = labels[i]
		all = append(all, l)
	}
	return all, nil
}

// Period implements metricmath.Terms.
func (v *view) Period(id string) (time.Duration, bool) {
	for i := range v.queries {
		if q := &v.queries[i]; q.ID == id {
			return time.Duration(v.period(q)) * time.Second, true
		}
	}
	return 0, false
}
