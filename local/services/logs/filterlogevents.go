package logs

import (
	"context"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

type filterLogEventsRequest struct {
	groupRequest
	Streams   []string `json:"logStreamNames"`
	Prefix    string   `json:"logStreamNamePrefix"`
	Start     int64    `json:"startTime"`
	End       *int64   `json:"endTime"`
	Pattern   string   `json:"filterPattern"`
	NextToken string   `json:"nextToken"`
	Limit     int      `json:"limit"`
}

type filteredEvent struct {
	Stream    string `json:"logStreamName"`
	Time      int64  `json:"timestamp"`
	Message   string `json:"message"`
	Ingestion int64  `json:"ingestionTime"`
	ID        string `json:"eventId"`
}

type searchedStream struct {
	Name       string `json:"logStreamName"`
	Completely bool   `json:"searchedCompletely"`
}

type filterLogEventsResponse struct {
	Events    []filteredEvent  `json:"events"`
	Searched  []searchedStream `json:"searchedLogStreams"`
	NextToken string           `json:"nextToken,omitempty"`
}

func (s *Service) filterLogEvents(_ context.Context, scope aws.Scope,
	r *filterLogEventsRequest) (*filterLogEventsResponse, error) {
	group, err := r.name()
	if err != nil {
		return nil, err
	}
	if len(r.Streams) > 0 && r.Prefix != "" {
		return nil, invalid("LogStream names and LogStream name prefix are mutually exclusive parameters.")
	}
	if r.NextToken != "" && !eventID.MatchString(r.NextToken) {
		return nil, errToken
	}
	matches, err := parsePattern(r.Pattern)
	if err != nil {
		return nil, err
	}
	events, err := s.store.Read(in(scope), group, r.selects, r.Start, until(r.End))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(events, func(a, b logstore.Event) int { return strings.Compare(idOf(&a), idOf(&b)) })
	events = slices.DeleteFunc(events, func(e logstore.Event) bool {
		return r.NextToken != "" && idOf(&e) <= r.NextToken || !matches(e.Message)
	})
	out := &filterLogEventsResponse{Events: []filteredEvent{}, Searched: []searchedStream{}}
	page := fitting(events, r.Limit, true)
	for i := range page {
		e := &page[i]
		out.Events = append(out.Events, filteredEvent{e.Stream, e.Time, e.Message, e.Ingestion, idOf(e)})
	}
	if len(page) < len(events) {
		out.NextToken = out.Events[len(page)-1].ID
	}
	return out, nil
}

// selects reports whether a request includes a stream, by its name.
func (r *filterLogEventsRequest) selects(stream string) bool {
	if len(r.Streams) > 0 {
		return slices.Contains(r.Streams, stream)
	}
	return strings.HasPrefix(stream, r.Prefix)
}
