package logs

import (
	"context"
	"math"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

type getLogEventsRequest struct {
	groupRequest
	Stream    string `json:"logStreamName"`
	Start     int64  `json:"startTime"`
	End       *int64 `json:"endTime"`
	FromHead  bool   `json:"startFromHead"`
	Limit     int    `json:"limit"`
	NextToken string `json:"nextToken"`
}

type outputEvent struct {
	Time      int64  `json:"timestamp"`
	Message   string `json:"message"`
	Ingestion int64  `json:"ingestionTime"`
}

type getLogEventsResponse struct {
	Events   []outputEvent `json:"events"`
	Forward  string        `json:"nextForwardToken"`
	Backward string        `json:"nextBackwardToken"`
}

func (s *Service) getLogEvents(_ context.Context, scope aws.Scope, r *getLogEventsRequest) (*getLogEventsResponse,
	error) {
	group, err := r.name()
	if err != nil {
		return nil, err
	}
	streams, err := s.store.Streams(in(scope), group, r.Stream)
	if err != nil {
		return nil, err
	}
	if len(streams) == 0 || streams[0].Name != r.Stream {
		return nil, errNoStream
	}
	events, err := s.store.Read(in(scope), group, func(name string) bool { return name == r.Stream }, r.Start,
		until(r.End))
	if err != nil {
		return nil, err
	}
	events, before, after, err := r.cut(events)
	if err != nil {
		return nil, err
	}
	out := &getLogEventsResponse{Events: make([]outputEvent, len(events)), Forward: "f/" + after + "/s",
		Backward: "b/" + before + "/s"}
	for i, e := range events {
		out.Events[i] = outputEvent{e.Time, e.Message, e.Ingestion}
	}
	return out, nil
}

// until returns the exclusive end time of a request; nil means no end.
func until(end *int64) int64 {
	if end == nil {
		return math.MaxInt64
	}
	return *end
}

// cut selects the events of a page. The token f/ID/s stands for the events after an event, b/ID/s for those before
// it. The tokens are returned unchanged if there are no more events.
func (r *getLogEventsRequest) cut(events []logstore.Event) (cut []logstore.Event, before, after string, err error) {
	head, at := r.FromHead, ""
	if r.NextToken != "" {
		direction, rest, ok := strings.Cut(strings.TrimSuffix(r.NextToken, "/s"), "/")
		if !ok || direction != "f" && direction != "b" || len(rest) != idLength {
			return nil, "", "", errToken
		}
		head, at = direction == "f", rest
		n, found := slices.BinarySearchFunc(events, at,
			func(e logstore.Event, id string) int { return strings.Compare(idOf(&e), id) })
		if head && found {
			n++
		}
		if head {
			events = events[n:]
		} else {
			events = events[:n]
		}
	}
	events = fitting(events, r.Limit, head)
	if len(events) == 0 {
		if at == "" {
			at = strings.Repeat("0", idLength)
		}
		return nil, at, at, nil
	}
	return events, idOf(&events[0]), idOf(&events[len(events)-1]), nil
}

// maxAnswer is the maximum size of the events in a response, in bytes.
const maxAnswer = 1 << 20

// fitting returns as many of the first or the last events as a response may contain, but at least one.
func fitting(events []logstore.Event, limit int, first bool) []logstore.Event {
	if limit == 0 {
		limit = maxEvents
	}
	n, size := 0, 0
	for n < min(limit, len(events)) {
		e := &events[n]
		if !first {
			e = &events[len(events)-1-n]
		}
		size += len(e.Message) + overhead
		if n > 0 && size > maxAnswer {
			break
		}
		n++
	}
	if first {
		return events[:n]
	}
	return events[len(events)-n:]
}
