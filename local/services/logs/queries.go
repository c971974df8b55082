package logs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/internal/budgets"
	"stepback/local/services/logs/insights"
	"stepback/local/services/logs/logstore"
)

// queryRun is a CloudWatch Logs Insights query that was started. It has finished by the time StartQuery returns.
type queryRun struct {
	scope     aws.Scope
	id, query string
	groups    []string
	created   time.Time
	answer    *insights.Answer
	statistic queryStatistics
}

// queryRuns holds the latest queries in memory. A restart loses them.
type queryRuns struct {
	mu   sync.Mutex
	runs []*queryRun // latest last
}

// mostRuns is the maximum number of queries that are kept.
const mostRuns = 100

type startQueryRequest struct {
	Language    string   `json:"queryLanguage"`
	Group       string   `json:"logGroupName"`
	Groups      []string `json:"logGroupNames"`
	Identifiers []string `json:"logGroupIdentifiers"`
	Start       int64    `json:"startTime"` // seconds since 1970
	End         int64    `json:"endTime"`
	Query       string   `json:"queryString"`
	Limit       int      `json:"limit"`
}

type startQueryResponse struct {
	ID string `json:"queryId"`
}

// cwli is the Logs Insights query language; OpenSearch PPL and SQL are not supported.
const cwli = "CWLI"

// groups returns the names of a query's log groups.
func (r *startQueryRequest) groups() ([]string, error) {
	given := 0
	for _, n := range []int{len(r.Group), len(r.Groups), len(r.Identifiers)} {
		if n > 0 {
			given++
		}
	}
	if given != 1 {
		return nil, invalid("Exactly one of logGroupName, logGroupNames and logGroupIdentifiers must be given.")
	}
	names := append([]string{}, r.Groups...)
	if r.Group != "" {
		names = append(names, r.Group)
	}
	for _, id := range r.Identifiers {
		if a, ok := aws.ParseARN(id); ok {
			id = strings.TrimSuffix(strings.TrimPrefix(a.Resource, "log-group:"), ":*")
		}
		names = append(names, id)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (s *Service) startQuery(ctx context.Context, scope aws.Scope, r *startQueryRequest) (*startQueryResponse, error) {
	if l := cmp.Or(r.Language, cwli); l != cwli {
		return nil, invalid("Queries in " + l + " are not supported here; queryLanguage is " + cwli + ".")
	}
	groups, text, ok, err := s.sourceGroups(scope, r.Query)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		if groups, err = r.groups(); err != nil {
			return nil, err
		}
	case r.Group != "" || len(r.Groups)+len(r.Identifiers) > 0:
		return nil, invalid("The query selects its log groups with SOURCE; logGroupName, logGroupNames and logGroupIdentifiers must not be given.")
	}
	if r.End < r.Start {
		return nil, invalid("End time should not be before the start time.")
	}
	q, err := insights.Parse(text)
	if err != nil {
		return nil, malformedQuery(err)
	}
	const thousand = 1000
	run := &queryRun{scope: in(scope), id: aws.NewID(), query: shownQuery(r, groups), groups: groups, created: s.now()}
	var events []insights.Event
	for _, group := range groups {
		every := func(string) bool { return true }
		found, err := s.store.ReadUpTo(ctx, in(scope), group, every, r.Start*thousand, (r.End+1)*thousand,
			budgets.InsightsScan.Value-int(run.statistic.Bytes))
		if err != nil {
			if errors.Is(err, logstore.ErrTooLarge) {
				return nil, queryLimit(&insights.LimitError{Exceeded: fmt.Sprintf("scans more than %d bytes", budgets.InsightsScan.Value)})
			}
			if errors.Is(err, logstore.ErrNoGroup) {
				return nil, &aws.Error{Code: errNoGroup.Code,
					Message: "Log group '" + group + "' does not exist for account ID '" + scope.Account + "'"}
			}
			return nil, err
		}
		for i := range found {
			e := &found[i]
			run.statistic.Bytes += float64(len(e.Message))
			events = append(events, insights.Event{Time: e.Time, Ingestion: e.Ingestion, Message: e.Message,
				Stream: e.Stream, Log: scope.Account + ":" + group, Pointer: idOf(e)})
		}
	}
	slices.SortStableFunc(events, func(a, b insights.Event) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), strings.Compare(b.Pointer, a.Pointer))
	})
	run.statistic.Scanned, run.statistic.Groups = float64(len(events)), float64(len(groups))
	if run.answer, err = q.Run(ctx, events, r.Limit, insights.Limits{Work: budgets.InsightsWork.Value,
		Memory: budgets.InsightsMemory.Value, Text: budgets.InsightsText.Value,
		Result: budgets.InsightsResult.Value}); err != nil {
		return nil, queryLimit(err)
	}
	run.statistic.Matched = float64(run.answer.Matched)
	s.runs.keep(run)
	return &startQueryResponse{run.id}, nil
}

// queryLimit returns the API error for a query that exceeded a limit, and other errors unchanged.
func queryLimit(err error) error {
	var exceeded *insights.LimitError
	if errors.As(err, &exceeded) {
		return &aws.Error{Code: "LimitExceededException", Message: exceeded.Error()}
	}
	return err
}

// shownQuery returns a query as DescribeQueries shows it. The query's log groups and time range come first.
func shownQuery(r *startQueryRequest, groups []string) string {
	return fmt.Sprintf("SOURCE \"%s\" START=%d000 END=%d999 | %s", strings.Join(groups, `" "`), r.Start, r.End, r.Query)
}

func malformedQuery(err error) error {
	var wrong *insights.Error
	if !errors.As(err, &wrong) {
		return err
	}
	return &aws.Error{Code: "MalformedQueryException", Message: wrong.Message, Members: map[string]any{
		"queryCompileError": map[string]any{"message": wrong.Message, "location": map[string]any{
			"startCharOffset": wrong.Start, "endCharOffset": wrong.End}}}}
}

func (q *queryRuns) keep(run *queryRun) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.runs = append(q.runs, run)
	size, first := 0, len(q.runs)
	for first > 0 && len(q.runs)-first < mostRuns {
		if size += q.runs[first-1].size(); size > budgets.InsightsKept.Value && first < len(q.runs) {
			break
		}
		first--
	}
	q.runs = slices.Delete(q.runs, 0, first)
}

// size returns the bytes of a query's results.
func (r *queryRun) size() int {
	n := len(r.query)
	for _, row := range r.answer.Rows {
		for _, c := range row {
			n += len(c.Field) + len(c.Value)
		}
	}
	return n
}

// find returns a query of an account and region.
func (q *queryRuns) find(scope aws.Scope, id string) (*queryRun, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.runs {
		if r.id == id && r.scope == in(scope) {
			return r, nil
		}
	}
	return nil, &aws.Error{Code: "ResourceNotFoundException", Message: "Query " + id + " does not exist."}
}

type queryRequest struct {
	ID string `json:"queryId"`
}

type resultField struct {
	Field string `json:"field"`
	Value string `json:"value"`
}

type queryStatistics struct {
	Matched float64 `json:"recordsMatched"`
	Scanned float64 `json:"recordsScanned"`
	Bytes   float64 `json:"bytesScanned"`
	Groups  float64 `json:"logGroupsScanned"`
}

type queryResultsResponse struct {
	Language   string          `json:"queryLanguage"`
	Results    [][]resultField `json:"results"`
	Statistics queryStatistics `json:"statistics"`
	Status     string          `json:"status"`
}

// complete is the status of finished queries.
const complete = "Complete"

func (s *Service) getQueryResults(_ context.Context, scope aws.Scope, r *queryRequest) (*queryResultsResponse, error) {
	run, err := s.runs.find(scope, r.ID)
	if err != nil {
		return nil, err
	}
	out := &queryResultsResponse{cwli, make([][]resultField, len(run.answer.Rows)), run.statistic, complete}
	for i, row := range run.answer.Rows {
		out.Results[i] = make([]resultField, len(row))
		for k, c := range row {
			out.Results[i][k] = resultField(c)
		}
	}
	return out, nil
}

type stopQueryResponse struct {
	Success bool `json:"success"`
}

// stopQuery always returns an error, because no query is still running.
func (s *Service) stopQuery(_ context.Context, scope aws.Scope, r *queryRequest) (*stopQueryResponse, error) {
	if _, err := s.runs.find(scope, r.ID); err != nil {
		return nil, err
	}
	return nil, invalid("Query is not running")
}

type describeQueriesRequest struct {
	Group     string `json:"logGroupName"`
	Status    string `json:"status"`
	Max       int    `json:"maxResults"`
	NextToken string `json:"nextToken"`
	Language  string `json:"queryLanguage"`
}

type describedQuery struct {
	Language string `json:"queryLanguage"`
	ID       string `json:"queryId"`
	Query    string `json:"queryString"`
	Status   string `json:"status"`
	Created  int64  `json:"createTime"`
	Group    string `json:"logGroupName"`
}

type describeQueriesResponse struct {
	Queries   []describedQuery `json:"queries"`
	NextToken string           `json:"nextToken,omitempty"`
}

func (s *Service) describeQueries(_ context.Context, scope aws.Scope, r *describeQueriesRequest) (*describeQueriesResponse,
	error) {
	s.runs.mu.Lock()
	defer s.runs.mu.Unlock()
	out := &describeQueriesResponse{Queries: []describedQuery{}}
	begun := r.NextToken == ""
	const usual = 1000
	for i := len(s.runs.runs) - 1; i >= 0; i-- {
		run := s.runs.runs[i]
		switch {
		case run.scope != in(scope) || r.Status != "" && r.Status != complete || r.Language != "" && r.Language != cwli,
			r.Group != "" && !slices.Contains(run.groups, r.Group):
			continue
		case !begun:
			begun = run.id == r.NextToken
			continue
		case len(out.Queries) == cmp.Or(r.Max, usual):
			out.NextToken = out.Queries[len(out.Queries)-1].ID
			return out, nil
		}
		out.Queries = append(out.Queries, describedQuery{cwli, run.id, run.query, complete, run.created.UnixMilli(),
			run.groups[0]})
	}
	if !begun {
		return nil, errToken
	}
	return out, nil
}
