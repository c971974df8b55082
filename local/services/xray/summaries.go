package xray

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

type summariesRequest struct {
	StartTime, EndTime          float64 // seconds since 1970
	FilterExpression, NextToken string
}

type serviceID struct {
	Name      string
	Names     []string
	AccountID string `json:"AccountId,omitempty"`
	Type      string `json:",omitempty"`
}

type httpSummary struct {
	HTTPURL    string `json:"HttpURL,omitempty"`
	HTTPStatus int    `json:"HttpStatus,omitempty"`
	HTTPMethod string `json:"HttpMethod,omitempty"`
	UserAgent  string `json:",omitempty"`
	ClientIP   string `json:"ClientIp,omitempty"`
}

// summary is a trace as GetTraceSummaries returns it.
type summary struct {
	ID                     string `json:"Id"`
	StartTime              server.Time
	Duration, ResponseTime float64
	HasFault, HasError     bool
	HasThrottle, IsPartial bool
	HTTP                   *httpSummary `json:"Http,omitempty"`
	Annotations            map[string]json.RawMessage
	Users                  []json.RawMessage
	ServiceIDs             []serviceID       `json:"ServiceIds"`
	ResourceARNs           []json.RawMessage `json:",omitempty"`
	InstanceIDs            []json.RawMessage `json:"InstanceIds,omitempty"`
	AvailabilityZones      []json.RawMessage `json:",omitempty"`
	EntryPoint             *serviceID        `json:",omitempty"`
	FaultRootCauses        []json.RawMessage `json:",omitempty"`
	ErrorRootCauses        []json.RawMessage `json:",omitempty"`
	ResponseTimeRootCauses []json.RawMessage `json:",omitempty"`
	Revision               int
	MatchedEventTime       *server.Time `json:",omitempty"`
}

type summariesAnswer struct {
	TraceSummaries       []summary
	ApproximateTime      server.Time
	TracesProcessedCount int
	NextToken            string `json:",omitempty"`
}

func moment(seconds float64) time.Time {
	return time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()
}

func (g *segment) service() serviceID {
	return serviceID{Name: g.Name, Names: []string{g.Name}, AccountID: g.AWS.AccountID, Type: g.Origin}
}

func raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil { // it was parsed from JSON
		return json.RawMessage("null")
	}
	return text
}

// summarise returns the summary of a trace's segments.
func (t *trace) summarise() summary {
	start, end := t.bounds()
	out := summary{ID: t.id, StartTime: server.Time(moment(start)), Duration: end - start,
		Annotations: map[string]json.RawMessage{},
		Users:       []json.RawMessage{}, ServiceIDs: []serviceID{}, Revision: len(t.segments)}
	annotations := map[string][]any{}
	services := map[serviceKey]bool{}
	users := map[string]bool{}
	for _, g := range t.segments {
		own := g.service()
		if k := (serviceKey{g.Name, g.Origin}); g.Type != "subsegment" && !services[k] {
			services[k] = true
			out.ServiceIDs = append(out.ServiceIDs, own)
		}
		g.each(func(inner *segment) {
			out.HasFault, out.HasError = out.HasFault || inner.Fault, out.HasError || inner.Error
			out.HasThrottle, out.IsPartial = out.HasThrottle || inner.Throttle, out.IsPartial || inner.InProgress
			for name, value := range inner.Annotations {
				annotations[name] = append(annotations[name], map[string]any{"AnnotationValue": annotationValue(value),
					"ServiceIds": []serviceID{own}})
			}
			if inner.User != "" && !users[inner.User] {
				users[inner.User] = true
				out.Users = append(out.Users, raw(map[string]any{"UserName": inner.User, "ServiceIds": []serviceID{own}}))
			}
		})
		if g.ARN != "" {
			out.ResourceARNs = append(out.ResourceARNs, raw(map[string]string{"ARN": g.ARN}))
		}
	}
	for name, values := range annotations {
		out.Annotations[name] = raw(values)
	}
	root := t.root()
	if root == nil {
		out.IsPartial = true
		return out
	}
	entry := root.service()
	out.EntryPoint, out.ResponseTime = &entry, root.duration()
	r := root.HTTP
	if r.Request.Method != "" || r.Response.Status != 0 {
		out.HTTP = &httpSummary{r.Request.URL, r.Response.Status, r.Request.Method, r.Request.UserAgent,
			r.Request.ClientIP}
	}
	return out
}

func annotationValue(v any) map[string]any {
	switch x := v.(type) {
	case bool:
		return map[string]any{"BooleanValue": x}
	case float64:
		return map[string]any{"NumberValue": x}
	}
	return map[string]any{"StringValue": fmt.Sprint(v)}
}

const summariesPage = 100

func (s *Service) getTraceSummaries(_ context.Context, scope aws.Scope, in *summariesRequest) (*summariesAnswer, error) {
	matches, err := filterOf(in.FilterExpression)
	if err != nil {
		return nil, err
	}
	traces, err := s.between(scope, moment(in.StartTime), moment(in.EndTime))
	if err != nil {
		return nil, err
	}
	all := []summary{}
	for _, t := range traces {
		if one := t.summarise(); matches(t, &one) {
			all = append(all, one)
		}
	}
	part, next, ok := aws.Page(aws.NewListing(s.o.Now(), "GetTraceSummaries", scope.Account, scope.Region, fmt.Sprint(in.StartTime),
		fmt.Sprint(in.EndTime), in.FilterExpression), in.NextToken, summariesPage, all,
		func(t summary) string { return t.ID })
	if !ok {
		return nil, invalid("Invalid NextToken")
	}
	return &summariesAnswer{part, server.Time(s.o.Now()), len(traces), next}, nil
}

// condition is a condition of a filter expression.
type condition func(t *trace, of *summary) bool

// filterOf parses a filter expression: conditions joined by AND.
func filterOf(text string) (condition, error) {
	var all []condition
	for part := range strings.SplitSeq(text, " AND ") {
		part = strings.TrimSpace(part)
		if part == "" {
			if strings.TrimSpace(text) != "" {
				return nil, invalid("Invalid filter expression: %s", text)
			}
			continue
		}
		c, err := conditionOf(part)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return func(t *trace, of *summary) bool {
		return !slices.ContainsFunc(all, func(c condition) bool { return !c(t, of) })
	}, nil
}

var flags = map[string]condition{
	"fault":    func(_ *trace, of *summary) bool { return of.HasFault },
	"error":    func(_ *trace, of *summary) bool { return of.HasError },
	"throttle": func(_ *trace, of *summary) bool { return of.HasThrottle },
	"partial":  func(_ *trace, of *summary) bool { return of.IsPartial },
	"ok":       func(_ *trace, of *summary) bool { return !of.HasFault && !of.HasError && !of.HasThrottle },
}

func conditionOf(text string) (condition, error) {
	name, negated := strings.CutPrefix(text, "!")
	if c, ok := flags[strings.ToLower(name)]; ok {
		return func(t *trace, of *summary) bool { return c(t, of) != negated }, nil
	}
	if rest, ok := strings.CutPrefix(text, "service("); ok && strings.HasSuffix(rest, ")") {
		want, err := strconv.Unquote(strings.TrimSuffix(rest, ")"))
		if err != nil {
			return nil, invalid("Invalid filter expression: %s", text)
		}
		return func(_ *trace, of *summary) bool {
			return slices.ContainsFunc(of.ServiceIDs, func(s serviceID) bool { return s.Name == want })
		}, nil
	}
	for _, operator := range []string{"!=", ">=", "<=", "=", ">", "<", " CONTAINS ", " BEGINSWITH ", " ENDSWITH "} {
		left, right, ok := strings.Cut(text, operator)
		if !ok {
			continue
		}
		return comparison(strings.TrimSpace(left), strings.TrimSpace(operator), strings.TrimSpace(right))
	}
	return nil, invalid("The filter expression %s is not understood here: conditions are joined by AND", text)
}

// values returns a function that evaluates a keyword of a filter expression. It returns false for an unknown
// keyword.
func values(keyword string) (func(t *trace, of *summary) []any, bool) {
	one := func(f func(of *summary) any) func(*trace, *summary) []any {
		return func(_ *trace, of *summary) []any { return []any{f(of)} }
	}
	ofHTTP := func(f func(h *httpSummary) any) func(*trace, *summary) []any {
		return func(_ *trace, of *summary) []any {
			if of.HTTP == nil {
				return nil
			}
			return []any{f(of.HTTP)}
		}
	}
	switch keyword {
	case "responsetime":
		return one(func(of *summary) any { return of.ResponseTime }), true
	case "duration":
		return one(func(of *summary) any { return of.Duration }), true
	case "http.status":
		return ofHTTP(func(h *httpSummary) any { return float64(h.HTTPStatus) }), true
	case "http.url":
		return ofHTTP(func(h *httpSummary) any { return h.HTTPURL }), true
	case "http.method":
		return ofHTTP(func(h *httpSummary) any { return h.HTTPMethod }), true
	}
	name, ok := strings.CutPrefix(keyword, "annotation.")
	if !ok && strings.HasPrefix(keyword, "annotation[") && strings.HasSuffix(keyword, "]") {
		name, ok = keyword[len("annotation["):len(keyword)-1], true
	}
	return func(t *trace, _ *summary) (found []any) {
		for _, g := range t.segments {
			g.each(func(inner *segment) {
				if v, there := inner.Annotations[name]; there {
					found = append(found, v)
				}
			})
		}
		return found
	}, ok
}

func comparison(keyword, operator, literal string) (condition, error) {
	of, ok := values(keyword)
	if !ok {
		return nil, invalid("The filter expression's keyword %s is not served here: %s are", keyword,
			strings.Join(append(slices.Sorted(maps.Keys(flags)), "service(\"…\")", "annotation.NAME", "responsetime", "duration",
				"http.status", "http.url", "http.method"), ", "))
	}
	var want any
	if text, err := strconv.Unquote(literal); err == nil {
		want = text
	} else if json.Unmarshal([]byte(literal), &want) != nil {
		return nil, invalid("Invalid filter expression: %s %s %s", keyword, operator, literal)
	}
	return func(t *trace, s *summary) bool {
		return slices.ContainsFunc(of(t, s), func(v any) bool { return compares(v, operator, want) })
	}, nil
}

func compares(v any, operator string, want any) bool {
	if a, ok := v.(float64); ok {
		b, ok := want.(float64)
		return ok && (operator == "=" && a == b || operator == "!=" && a != b || operator == ">" && a > b ||
			operator == "<" && a < b || operator == ">=" && a >= b || operator == "<=" && a <= b)
	}
	text, ok := v.(string)
	other, both := want.(string)
	switch operator {
	case "=":
		return v == want
	case "!=":
		return v != want
	case "CONTAINS":
		return ok && both && strings.Contains(text, other)
	case "BEGINSWITH":
		return ok && both && strings.HasPrefix(text, other)
	case "ENDSWITH":
		return ok && both && strings.HasSuffix(text, other)
	}
	return false
}
