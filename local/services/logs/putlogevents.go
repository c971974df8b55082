package logs

import (
	"context"
	"fmt"
	"time"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

type inputEvent struct {
	Time    int64  `json:"timestamp"`
	Message string `json:"message"`
}

type putLogEventsRequest struct {
	logStreamRequest
	Events []inputEvent `json:"logEvents"`
}

// rejected reports which events are too old or too new.
type rejected struct {
	TooNewFrom *int `json:"tooNewLogEventStartIndex,omitempty"`
	TooOldTo   *int `json:"tooOldLogEventEndIndex,omitempty"`
}

type putLogEventsResponse struct {
	SequenceToken string    `json:"nextSequenceToken"`
	Rejected      *rejected `json:"rejectedLogEventsInfo,omitempty"`
}

// The limits for an event: its maximum size including a fixed overhead, its maximum age, and the maximum distance
// of its time in the future. The events of a request may have maxUpload bytes, with the overhead of each, and those
// that are neither too old nor too new may be maxSpan apart.
const (
	maxEvent  = 1 << 20
	maxUpload = 1 << 20
	maxSpan   = 24 * time.Hour
	overhead  = 26
	maxAge    = 14 * 24 * time.Hour
	maxAhead  = 2 * time.Hour
)

func (s *Service) putLogEvents(_ context.Context, scope aws.Scope, r *putLogEventsRequest) (*putLogEventsResponse,
	error) {
	streams, err := s.store.Streams(in(scope), r.Group, r.Stream)
	if err != nil {
		return nil, err
	}
	if len(streams) == 0 || streams[0].Name != r.Stream {
		return nil, errNoStream
	}
	events, refused, err := s.acceptable(r.Events)
	if err != nil {
		return nil, err
	}
	return &putLogEventsResponse{sequenceToken, refused}, s.store.Put(in(scope), r.Group, r.Stream, events)
}

// acceptable returns the events that are neither too old nor too new.
func (s *Service) acceptable(given []inputEvent) (events []logstore.Event, refused *rejected, err error) {
	now := s.now()
	oldest, newest := now.Add(-maxAge).UnixMilli(), now.Add(maxAhead).UnixMilli()
	upload := 0
	for _, e := range given {
		upload += len(e.Message) + overhead
	}
	if upload > maxUpload && len(given) > 1 { // a single one is reported as an event
		return nil, nil, invalid(fmt.Sprintf("Upload too large: %d bytes exceeds limit of %d", upload, maxUpload))
	}
	var r rejected
	for i, e := range given {
		if size := len(e.Message) + overhead; size > maxEvent {
			return nil, nil, invalid(fmt.Sprintf("Log event too large: %d bytes exceeds limit of %d", size, maxEvent))
		}
		switch {
		case i > 0 && e.Time < given[i-1].Time:
			return nil, nil, invalid("Log events in a single PutLogEvents request must be in chronological order.")
		case e.Time < oldest:
			end := i + 1
			r.TooOldTo = &end
		case e.Time > newest:
			if r.TooNewFrom == nil {
				r.TooNewFrom = &i
			}
		default:
			events = append(events, logstore.Event{Time: e.Time, Message: e.Message})
		}
	}
	if len(events) > 0 && events[len(events)-1].Time-events[0].Time > maxSpan.Milliseconds() {
		return nil, nil, invalid("The batch of log events in a single PutLogEvents request cannot span more than 24 hours.")
	}
	if r == (rejected{}) {
		return events, nil, nil
	}
	return events, &r, nil
}
