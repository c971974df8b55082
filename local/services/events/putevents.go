package events

import (
	"context"
	"strings"
	"time"

	"stepback/aws"
	"stepback/jsonvalue"
)

// MaxEntryBytes is the maximum total size of the entries of a PutEvents request.
const MaxEntryBytes = 256 << 10

type entry struct {
	Source, DetailType, Detail *string
	Time                       *float64 // seconds since 1970
	Resources                  []string
	EventBusName               string
	TraceHeader                string
}

// size returns the number of bytes that count towards the limit.
func (e *entry) size() int {
	n := 0
	if e.Time != nil {
		n += 14
	}
	for _, text := range []*string{e.Source, e.DetailType, e.Detail} {
		if text != nil {
			n += len(*text)
		}
	}
	for _, r := range e.Resources {
		n += len(r)
	}
	return n
}

type putEventsRequest struct {
	Entries    []entry
	EndpointID string `json:"EndpointId"`
}

type putEntry struct {
	EventID      string `json:"EventId,omitempty"`
	ErrorCode    string `json:",omitempty"`
	ErrorMessage string `json:",omitempty"`
}

type putEventsAnswer struct {
	FailedEntryCount int
	Entries          []putEntry
}

func (s *Service) putEvents(ctx context.Context, scope aws.Scope, in *putEventsRequest) (*putEventsAnswer, error) {
	if err := rejectUnsupported(map[string]bool{"EndpointId": in.EndpointID != ""}); err != nil {
		return nil, err
	}
	size := 0
	for i := range in.Entries {
		size += in.Entries[i].size()
	}
	if size > MaxEntryBytes {
		return nil, invalid("Total size of the entries in the request is over the limit.")
	}
	answer := &putEventsAnswer{Entries: make([]putEntry, len(in.Entries))}
	sent := make([]arrival, 0, len(in.Entries))
	now := s.now()
	for i := range in.Entries {
		e := &in.Entries[i]
		made, code, message := e.event(scope, now)
		if code != "" {
			answer.Entries[i] = putEntry{ErrorCode: code, ErrorMessage: message}
			answer.FailedEntryCount++
			continue
		}
		answer.Entries[i].EventID = made.id
		sent = append(sent, arrival{keyOf(scope, e.EventBusName), made})
	}
	return answer, s.arrive(ctx, sent)
}

// event converts an entry to an event. code and message are the entry's error if it is invalid.
func (e *entry) event(scope aws.Scope, now time.Time) (made *event, code, message string) {
	for _, required := range []struct {
		name  string
		value *string
	}{{"Source", e.Source}, {"DetailType", e.DetailType}, {"Detail", e.Detail}} {
		if required.value == nil || *required.value == "" {
			return nil, "InvalidArgument", "Parameter " + required.name + " is not valid. Reason: " + required.name +
				" is a required argument."
		}
	}
	if strings.HasPrefix(*e.Source, "aws.") {
		return nil, "NotAuthorizedForSource", "Not authorized for the source."
	}
	detail, err := jsonvalue.Parse(*e.Detail)
	if err != nil || detail.Kind() != jsonvalue.Object {
		return nil, "MalformedDetail", "Detail is malformed."
	}
	at := now
	if e.Time != nil {
		at = time.UnixMilli(int64(*e.Time * 1000))
	}
	made = newEvent(scope, *e.Source, *e.DetailType, at, e.Resources, detail)
	made.trace, made.ingested = e.TraceHeader, now
	return made, "", ""
}
