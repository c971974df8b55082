// Package otlptraces tells OpenTelemetry collectors of executions, as OTLP over HTTP in JSON: an execution is a trace,
// each visit of a state a span in it, each attempt a span below that, and the wait for a retry an event of the visit.
// IDs come from ARNs and events, so that what is sent twice is the same.
//
// Encode is pure; Exporter sends in the background, within bounds, and drops what a collector does not take.
package otlptraces

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/timeline"
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

// idOf is the first n bytes of a text's hash, in hexadecimal digits.
func idOf(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:n])
}

// TraceID is the ID of an execution's trace: that of the execution whose Map Run a child execution belongs to cannot be
// told from its ARN, so that a child has a trace of its own.
func TraceID(arn string) string { return idOf(arn, 16) }

const spanBytes = 8

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// Encode is the ExportTraceServiceRequest of an execution that has ended, with its whole history. Inputs, outputs and
// causes are not in it: they may be secret.
func Encode(x *journal.Execution, events []history.Event) ([]byte, error) {
	t := timeline.Read(events)
	trace := TraceID(x.ARN)
	root := idOf(x.ARN, spanBytes)
	ended := func(at time.Time) time.Time {
		if at.IsZero() {
			return x.Stop
		}
		return at
	}
	spans := []span{{
		Trace: trace, ID: root, Name: nameIn(x.MachineARN), Kind: 1, Start: nanos(x.Start), End: nanos(ended(x.Stop)),
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
	return json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{
		"resource":   map[string]any{"attributes": []attribute{text("service.name", nameIn(x.MachineARN))}},
		"scopeSpans": []any{map[string]any{"scope": map[string]string{"name": "stepback"}, "spans": spans}},
	}}})
}

func statusOf(ok bool, f history.Failure) status {
	if ok {
		return status{Code: 1}
	}
	return status{2, f.Name}
}

// nameIn is the name at the end of an ARN.
func nameIn(arn string) string {
	for i := len(arn) - 1; i >= 0; i-- {
		if arn[i] == ':' {
			return arn[i+1:]
		}
	}
	return arn
}
