package xray

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/aws"
	"stepback/internal/lazyregexp"
	"stepback/local/services/documents"
)

// segment holds the members of a segment or subsegment document that are used.
type segment struct {
	ID          string         `json:"id"`
	TraceID     string         `json:"trace_id"`
	ParentID    string         `json:"parent_id"`
	Name        string         `json:"name"`
	Origin      string         `json:"origin"`
	Namespace   string         `json:"namespace"`
	Type        string         `json:"type"`
	Start       *float64       `json:"start_time"` // seconds since 1970
	End         *float64       `json:"end_time"`
	InProgress  bool           `json:"in_progress"`
	Error       bool           `json:"error"`
	Fault       bool           `json:"fault"`
	Throttle    bool           `json:"throttle"`
	User        string         `json:"user"`
	ARN         string         `json:"resource_arn"`
	Annotations map[string]any `json:"annotations"`
	HTTP        struct {
		Request struct {
			Method    string `json:"method"`
			URL       string `json:"url"`
			UserAgent string `json:"user_agent"`
			ClientIP  string `json:"client_ip"`
		} `json:"request"`
		Response struct {
			Status int `json:"status"`
		} `json:"response"`
	} `json:"http"`
	AWS struct {
		AccountID string `json:"account_id"`
	} `json:"aws"`
	Subsegments []segment `json:"subsegments"`

	document string
}

func (g *segment) duration() float64 {
	if g.Start == nil || g.End == nil {
		return 0
	}
	return *g.End - *g.Start
}

// each calls f for the segment and all its subsegments, recursively.
func (g *segment) each(f func(*segment)) {
	f(g)
	for i := range g.Subsegments {
		g.Subsegments[i].each(f)
	}
}

type putRequest struct {
	Documents []string `json:"TraceSegmentDocuments"`
}

type unprocessed struct {
	ID        string `json:"Id,omitempty"`
	ErrorCode string
	Message   string
}

type putAnswer struct {
	UnprocessedTraceSegments []unprocessed
}

var (
	traceID   = lazyregexp.New(`^1-[0-9a-f]{8}-[0-9a-f]{24}$`)
	segmentID = lazyregexp.New(`^[0-9a-f]{16}$`)
)

const (
	maxDocument = 64 << 10
	maxName     = 200
)

// flaw returns the error code of an invalid document, or "" if it is valid.
func (g *segment) flaw(err error, size int) string {
	switch {
	case err != nil:
		return "ParseError"
	case size > maxDocument:
		return "SegmentTooLarge"
	case g.ID == "":
		return "MissingId"
	case !segmentID.MatchString(g.ID):
		return "InvalidId"
	case g.TraceID == "":
		return "MissingTraceId"
	case !traceID.MatchString(g.TraceID):
		return "InvalidTraceId"
	case g.Name == "" || len(g.Name) > maxName:
		return "InvalidName"
	case g.Start == nil:
		return "MissingStartTime"
	case g.End == nil && !g.InProgress:
		return "MissingEndTime"
	case g.End != nil && *g.End < *g.Start:
		return "InvalidEndTime"
	case g.Type == "subsegment" && g.ParentID == "":
		return "MissingParentId"
	}
	return ""
}

func (s *Service) putTraceSegments(_ context.Context, scope aws.Scope, in *putRequest) (*putAnswer, error) {
	out := &putAnswer{UnprocessedTraceSegments: []unprocessed{}}
	return out, s.o.Store.Write(func(b *documents.Batch) error {
		if err := s.prune(b, scope); err != nil && !errors.Is(err, errEnough) {
			return err
		}
		for _, text := range in.Documents {
			var g segment
			err := json.Unmarshal([]byte(text), &g)
			if flaw := g.flaw(err, len(text)); flaw != "" {
				out.UnprocessedTraceSegments = append(out.UnprocessedTraceSegments,
					unprocessed{g.ID, flaw, "Invalid segment. ErrorCode: " + flaw})
				continue
			}
			b.Put(s.segments, prefix(scope)+g.TraceID+"/"+g.ID, []byte(text))
		}
		return nil
	})
}

func (s *Service) putTelemetryRecords(context.Context, aws.Scope, *none) (*none, error) {
	return &none{}, nil
}

// trace is a trace with its segments, ordered by ID.
type trace struct {
	id       string
	segments []*segment
}

// read returns the traces whose keys start at from or later, up to the first trace that started after end.
func (s *Service) read(scope aws.Scope, from string, end time.Time) (all []*trace, err error) {
	before := prefix(scope)
	err = s.segments.ScanFrom(before, before+from, func(key string, text []byte) error {
		id, _, _ := strings.Cut(key[len(before):], "/")
		if began, ok := beganAt(id); !ok || began.After(end) {
			return errEnough
		}
		g := &segment{document: string(text)}
		if err := json.Unmarshal(text, g); err != nil {
			return err
		}
		if len(all) == 0 || all[len(all)-1].id != id {
			all = append(all, &trace{id: id})
		}
		last := all[len(all)-1]
		last.segments = append(last.segments, g)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return all, err
}

// between returns the traces that started in a time range.
func (s *Service) between(scope aws.Scope, start, end time.Time) ([]*trace, error) {
	if end.Before(start) {
		return nil, invalid("StartTime must be before EndTime")
	}
	const longest = 24 * time.Hour
	if end.Sub(start) > longest {
		return nil, invalid("Time range cannot be longer than 24 hours")
	}
	return s.read(scope, fmt.Sprintf("1-%08x", max(0, start.Unix())), end)
}

type tracesRequest struct {
	TraceIDs  []string `json:"TraceIds"`
	NextToken string
}

type shownSegment struct {
	ID       string `json:"Id"`
	Document string
}

type shownTrace struct {
	ID            string `json:"Id"`
	Duration      float64
	LimitExceeded bool
	Segments      []shownSegment
}

type tracesAnswer struct {
	Traces              []shownTrace
	UnprocessedTraceIDs []string `json:"UnprocessedTraceIds"`
	NextToken           string   `json:",omitempty"`
}

// named returns the traces with the given IDs. IDs without a trace are skipped.
func (s *Service) named(scope aws.Scope, ids []string) (all []*trace, err error) {
	for _, id := range ids {
		t := &trace{id: id}
		if err := s.segments.Scan(prefix(scope)+id+"/", func(_ string, text []byte) error {
			g := &segment{document: string(text)}
			t.segments = append(t.segments, g)
			return json.Unmarshal(text, g)
		}); err != nil {
			return nil, err
		}
		if len(t.segments) > 0 {
			all = append(all, t)
		}
	}
	return all, nil
}

func (s *Service) batchGetTraces(_ context.Context, scope aws.Scope, in *tracesRequest) (*tracesAnswer, error) {
	found, err := s.named(scope, in.TraceIDs)
	out := &tracesAnswer{Traces: []shownTrace{}, UnprocessedTraceIDs: []string{}}
	for _, t := range found {
		start, end := t.bounds()
		shown := shownTrace{ID: t.id, Duration: end - start, Segments: []shownSegment{}}
		for _, g := range t.segments {
			shown.Segments = append(shown.Segments, shownSegment{g.ID, g.document})
		}
		out.Traces = append(out.Traces, shown)
	}
	return out, err
}

// bounds returns the time at which the first segment started, and the time at which the last one ended.
func (t *trace) bounds() (start, end float64) {
	for i, g := range t.segments {
		last := *g.Start
		if g.End != nil {
			last = *g.End
		}
		if i == 0 || *g.Start < start {
			start = *g.Start
		}
		end = max(end, last)
	}
	return start, end
}

// root returns the first segment without a parent, or nil if the parents of all segments are missing.
func (t *trace) root() *segment {
	var found *segment
	for _, g := range t.segments {
		if g.ParentID == "" && (found == nil || *g.Start < *found.Start) {
			found = g
		}
	}
	return found
}
