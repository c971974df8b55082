package events

import (
	"context"
	"errors"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/jsonvalue"
	"stepback/local/services/dispatch"
)

// MaxEntryBytes is the maximum total size of the entries of a PutEvents request, in bytes (since January 2026:
// https://aws.amazon.com/blogs/compute/more-room-to-build-serverless-services-now-support-payloads-up-to-1-mb).
const MaxEntryBytes = 1 << 20

// maxRequestBytes is the maximum size of a PutEvents request in which every character of the entries is escaped.
const maxRequestBytes = 6*MaxEntryBytes + 64<<10

// putEventsOperation is PutEvents with its own limit of the request's size.
func (s *Service) putEventsOperation() server.Operation {
	o := server.Handle(s.putEvents)
	o.MaxBody, o.TooLarge = maxRequestBytes, entriesTooLarge
	return o
}

var entriesTooLarge = &aws.Error{Code: "ValidationException",
	Message: "Total size of the entries in the request is over the limit."}

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
		return nil, entriesTooLarge
	}
	answer := &putEventsAnswer{Entries: make([]putEntry, len(in.Entries))}
	sent := make([]arrival, 0, len(in.Entries))
	var at []int // indexes of the entries in sent
	now := s.now()
	for i := range in.Entries {
		e := &in.Entries[i]
		made, code, message := e.event(scope, now)
		if trace, ok := aws.TraceOf(ctx); ok && made != nil && made.trace == "" {
			made.trace = trace.String()
		}
		if code != "" {
			answer.Entries[i] = putEntry{ErrorCode: code, ErrorMessage: message}
			answer.FailedEntryCount++
			continue
		}
		answer.Entries[i].EventID = made.id
		sent, at = append(sent, arrival{keyOf(scope, e.EventBusName), made}), append(at, i)
	}
	err := s.arrive(ctx, sent)
	if !isFull(err) {
		return answer, err
	}
	for n, i := range at { // some of them may have targets that can take more
		switch err := s.arrive(ctx, sent[n:n+1]); {
		case isFull(err):
			answer.Entries[i] = putEntry{ErrorCode: "ThrottlingException", ErrorMessage: err.Error()}
			answer.FailedEntryCount++
		case err != nil:
			return nil, err
		}
	}
	return answer, nil
}

// isFull reports whether err says that too many messages wait for a target.
func isFull(err error) bool {
	_, full := errors.AsType[*dispatch.FullError](err)
	return full
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
