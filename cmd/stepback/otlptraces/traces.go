// Package otlptraces exports executions to OpenTelemetry collectors, as OTLP over HTTP in JSON. An execution is a
// trace, each visit of a state a span in it, each attempt a span below that, and the wait for a retry an event of the
// visit. Each Map Run is a span in the trace of its execution, with its children below it. An execution whose input
// names the one that started it (AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID) also belongs to that one's trace. IDs
// are derived from ARNs and events, so sending an execution twice produces the same IDs.
//
// Encode is pure; Exporter sends in the background, within limits, and drops what a collector does not accept.
package otlptraces

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/timeline"
)

// attribute is a key with its value.
type attribute struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

type event struct {
	Time       string      `json:"timeUnixNano"`
	Name       string      `json:"name"`
	Attributes []attribute `json:"attributes,omitempty"`
}

type status struct {
	Code    int    `json:"code,omitempty"` // 1 is ok, 2 an error
	Message string `json:"message,omitempty"`
}

type span struct {
	Trace      string      `json:"traceId"`
	ID         string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"` // 1 is internal, 3 a client
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes,omitempty"`
	Events     []event     `json:"events,omitempty"`
	Status     status      `json:"status"`
}

func text(key, value string) attribute { return attribute{key, map[string]any{"stringValue": value}} }

func whole(key string, n int64) attribute {
	return attribute{key, map[string]any{"intValue": strconv.FormatInt(n, 10)}}
}

// idOf returns the first n bytes of a text's hash, in hexadecimal.
func idOf(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:n])
}

// TraceID returns the ID of the trace that starts with an execution.
func TraceID(arn string) string { return idOf(arn, 16) }

// Place is the position of an execution in an existing trace. The zero Place means a separate trace.
type Place struct {
	Trace  string // its ID
	Parent string // the ID of the span around it
}

// below returns the place, in a trace, of what an execution or a Map Run has started.
func below(trace, arn string) Place { return Place{trace, idOf(arn, spanBytes)} }

const spanBytes = 8

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// Encode returns the ExportTraceServiceRequest of an ended execution with its whole history. Inputs, outputs and
// causes are left out, since they may be secret.
func Encode(x *journal.Execution, events []history.Event, in Place) ([]byte, error) {
	t := timeline.Read(events)
	trace := cmp.Or(in.Trace, TraceID(x.ARN))
	root := idOf(x.ARN, spanBytes)
	ended := func(at time.Time) time.Time {
		if at.IsZero() {
			return x.Stop
		}
		return at
	}
	spans := []span{{
		Trace: trace, ID: root, Parent: in.Parent, Name: nameIn(x.MachineARN), Kind: 1,
		Start: nanos(x.Start), End: nanos(ended(x.Stop)),
		Attributes: []attribute{
			text("aws.stepfunctions.execution.arn", x.ARN), text("aws.stepfunctions.state_machine.arn", x.MachineARN),
			text("stepback.execution.name", x.Name), text("stepback.execution.status", string(x.Status)),
		}, Status: statusOf(x.Status == history.Succeeded, x.Failure),
	}}
	if x.MapRunARN != "" {
		spans[0].Attributes = append(spans[0].Attributes, text("stepback.map_run.arn", x.MapRunARN))
	}
	id := func(v *timeline.Visit) string {
		if v == nil {
			return root
		}
		return idOf(x.ARN+" visit "+strconv.FormatInt(v.Entry, 10), spanBytes)
	}
	for _, v := range t.Visits {
		s := span{
			Trace: trace, ID: id(v), Parent: id(v.Parent), Name: v.State, Kind: 1, Start: nanos(v.Entered),
			End: nanos(ended(v.Left)), Attributes: []attribute{text("stepback.state.type", v.Type),
				text("stepback.state.outcome", string(v.Outcome)), whole("stepback.state.attempts", int64(len(v.Attempts)))},
			Status: statusOf(!v.Outcome.Bad(), history.Failure{}),
		}
		for _, w := range v.Waits() {
			s.Events = append(s.Events, event{nanos(w.From), "retry wait", []attribute{whole("stepback.retry", int64(w.Retry)),
				{"stepback.wait_seconds", map[string]any{"doubleValue": ended(w.Until).Sub(w.From).Seconds()}}}})
		}
		spans = append(spans, s)
		for i := range v.Attempts {
			a := &v.Attempts[i]
			one := span{
				Trace: trace, ID: idOf(x.ARN+" attempt "+strconv.FormatInt(a.First, 10), spanBytes), Parent: id(v),
				Name: v.State + " attempt " + strconv.Itoa(a.Number), Kind: 3, Start: nanos(a.Scheduled), End: nanos(ended(a.Ended)),
				Attributes: []attribute{whole("stepback.attempt", int64(a.Number))},
				Status:     statusOf(!a.Outcome.Bad(), a.Failure),
			}
			if a.Failure.HasName() {
				one.Attributes = append(one.Attributes, text("error.type", a.Failure.Name))
			}
			spans = append(spans, one)
		}
	}
	spans = append(spans, mapRuns(trace, x, events, func(e int64) string { return id(t.Of(e)) })...)
	return json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{
		"resource":   map[string]any{"attributes": []attribute{text("service.name", nameIn(x.MachineARN))}},
		"scopeSpans": []any{map[string]any{"scope": map[string]string{"name": "stepback"}, "spans": spans}},
	}}})
}

// mapRuns returns the spans of an execution's Map Runs.
func mapRuns(trace string, x *journal.Execution, events []history.Event, visit func(event int64) string) []span {
	var spans []span
	open := map[string]int{} // indexes into spans, by visit
	for i := range events {
		e := &events[i]
		switch e.Type {
		case history.MapRunStarted:
			if e.More == nil || e.More.MapRunARN == "" {
				continue
			}
			v := visit(e.ID)
			open[v] = len(spans)
			spans = append(spans, span{Trace: trace, ID: idOf(e.More.MapRunARN, spanBytes), Parent: v, Name: "Map Run", Kind: 1,
				Start: nanos(e.At()), End: nanos(x.Stop), Attributes: []attribute{text("stepback.map_run.arn", e.More.MapRunARN)},
				Status: statusOf(false, x.Failure)})
		case history.MapRunSucceeded, history.MapRunFailed, history.MapRunAborted:
			n, ok := open[visit(e.ID)]
			if !ok {
				continue
			}
			spans[n].End = nanos(e.At())
			spans[n].Status = statusOf(e.Type == history.MapRunSucceeded, history.Failure{})
		default:
		}
	}
	return spans
}

func statusOf(ok bool, f history.Failure) status {
	if ok {
		return status{Code: 1}
	}
	return status{2, f.Name}
}

// nameIn returns the name at the end of an ARN.
func nameIn(arn string) string {
	for i := len(arn) - 1; i >= 0; i-- {
		if arn[i] == ':' {
			return arn[i+1:]
		}
	}
	return arn
}
