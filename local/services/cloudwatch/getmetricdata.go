package cloudwatch

import (
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
