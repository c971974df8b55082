// Package otlptraces exports executions to OpenTelemetry collectors, as OTLP over HTTP in JSON.
//
// Each execution is a trace. Each visit of a state is a span in it, with a span for each attempt below it; the wait for
// a retry is an event of the visit's span. Each Map Run is a span in the trace of its execution, with its children
// below it. An execution of a durable function has a span for each operation, below that of its context, and one for
// each attempt of a step; a chained invoke links the trace of the execution that it started. If an execution's input
// names the execution that started it (AWS_STEP_FUNCTIONS_STARTED_BY_EXECUTION_ID), it belongs to the trace of that
// execution. IDs are derived from ARNs and events, so sending an execution twice produces the same IDs.
//
// Spans is pure; Exporter sends in the background, within limits, and drops what a collector does not accept.
package otlptraces

import (
	"crypto/sha256"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/timeline"
	"stepback/retry"
)

// TraceID returns the ID of the trace that begins with an execution: the start of the SHA-256 of its ARN.
func TraceID(arn string) trace.TraceID {
	sum := sha256.Sum256([]byte(arn))
	return trace.TraceID(sum[:len(trace.TraceID{})])
}

// spanID returns the start of the SHA-256 of a text.
func spanID(of string) trace.SpanID {
	sum := sha256.Sum256([]byte(of))
	return trace.SpanID(sum[:len(trace.SpanID{})])
}

// Place is the position of an execution in an existing trace. The zero Place means a separate trace.
type Place struct {
	Trace  trace.TraceID
	Parent trace.SpanID // the span around it
}

// below returns the place, in a trace, of the executions that the execution or Map Run arn has started.
func below(in trace.TraceID, arn string) Place { return Place{in, spanID(arn)} }

// traced collects the spans of one execution. They are stubs from the SDK's package tracetest, because stubs take
// IDs and times as given; a Tracer would generate IDs and limit the events of a span.
type traced struct {
	trace    trace.TraceID
	resource *resource.Resource
	stop     time.Time // of the execution, where a span has no end of its own
	spans    tracetest.SpanStubs
}

// add adds a span and returns it. The result is valid until the next call of add.
func (t *traced) add(id, parent trace.SpanID, name string, kind trace.SpanKind, from, to time.Time,
	status sdktrace.Status, attributes ...attribute.KeyValue,
) *tracetest.SpanStub {
	if to.IsZero() {
		to = t.stop
	}
	s := tracetest.SpanStub{
		Name: name, SpanKind: kind, SpanContext: t.context(id), StartTime: from, EndTime: to, Attributes: attributes,
		Status: status, Resource: t.resource, InstrumentationScope: instrumentation.Scope{Name: "stepback"},
	}
	if parent.IsValid() {
		s.Parent = t.context(parent)
	}
	t.spans = append(t.spans, s)
	return &t.spans[len(t.spans)-1]
}

func (t *traced) context(id trace.SpanID) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t.trace, SpanID: id, TraceFlags: trace.FlagsSampled})
}

// Spans returns the spans of an execution that has ended; the execution's own span is the first. events is the
// complete history. Inputs, outputs and causes are left out of the spans, because they may be secret.
func Spans(x *journal.Execution, events []history.Event, in Place) []sdktrace.ReadOnlySpan {
	line := timeline.Read(events)
	t := &traced{trace: in.Trace, stop: x.Stop, resource: resource.NewSchemaless(attribute.String("service.name", nameIn(x.MachineARN)))}
	if !t.trace.IsValid() {
		t.trace = TraceID(x.ARN)
	}
	root, status := spanID(x.ARN), string(x.Status)
	if line.Durable && x.Status == history.Aborted {
		status = durable.Stopped
	}
	whole := t.add(root, in.Parent, nameIn(x.MachineARN), trace.SpanKindInternal, x.Start, x.Stop,
		statusOf(x.Status == history.Succeeded, x.Failure),
		attribute.String("stepback.execution.name", x.Name), attribute.String("stepback.execution.status", status))
	if line.Durable {
		whole.Attributes = append(whole.Attributes, attribute.String("stepback.durable_execution.arn", x.ARN),
			attribute.String("aws.lambda.invoked_arn", x.VersionARN))
	} else {
		whole.Attributes = append(whole.Attributes, attribute.String("aws.stepfunctions.execution.arn", x.ARN),
			attribute.String("aws.stepfunctions.state_machine.arn", x.MachineARN))
	}
	if x.MapRunARN != "" {
		whole.Attributes = append(whole.Attributes, attribute.String("stepback.map_run.arn", x.MapRunARN))
	}
	id := func(v *timeline.Visit) trace.SpanID {
		if v == nil {
			return root
		}
		return spanID(x.ARN + " visit " + strconv.FormatInt(v.Entry, 10))
	}
	for _, v := range line.Visits {
		t.visit(v, id(v), id(v.Parent), x.ARN, &events[v.Entry-events[0].ID])
	}
	t.mapRuns(x, events, func(e int64) trace.SpanID { return id(line.Of(e)) })
	return t.spans.Snapshots()
}

// visit adds the spans of a visit of a state and of its attempts. entry is the event with which it began.
func (t *traced) visit(v *timeline.Visit, id, parent trace.SpanID, arn string, entry *history.Event) {
	s := t.add(id, parent, v.State, trace.SpanKindInternal, v.Entered, v.Left,
		statusOf(!v.Outcome.Bad(), history.Failure{}))
	if v.Operation == "" {
		s.Attributes = append(s.Attributes, attribute.String("stepback.state.type", v.Type),
			attribute.String("stepback.state.outcome", string(v.Outcome)))
	} else {
		s.Attributes = append(s.Attributes, attribute.String("stepback.operation.type", v.Type),
			attribute.String("stepback.operation.outcome", string(v.Outcome)))
	}
	if v.Type == durable.TypeChainedInvoke {
		calls(s, entry)
	}
	if len(v.Attempts) > 0 {
		s.Attributes = append(s.Attributes, attribute.Int(retry.AttributeAttempts, len(v.Attempts)),
			attribute.String(retry.AttributeEnd, endOf(v)))
	}
	for _, w := range v.Waits() {
		until := w.Until
		if until.IsZero() {
			until = t.stop
		}
		s.Events = append(s.Events, sdktrace.Event{Name: "retry wait", Time: w.From, Attributes: []attribute.KeyValue{
			attribute.Int(retry.AttributeAttempt, w.Retry+1), attribute.Float64(retry.AttributeDelay,
				until.Sub(w.From).Seconds()),
		}})
	}
	for i := range v.Attempts {
		a := &v.Attempts[i]
		one := t.add(attemptID(arn, a), id, v.State+" attempt "+strconv.Itoa(a.Number),
			trace.SpanKindClient, a.Scheduled, a.Ended, statusOf(!a.Outcome.Bad(), a.Failure),
			attribute.Int(retry.AttributeAttempt, a.Number))
		if i > 0 {
			t.repeats(one, &v.Attempts[i-1], a, arn)
		}
		if a.Failure.HasName() {
			one.Attributes = append(one.Attributes, attribute.String("error.type", a.Failure.Name))
		}
	}
}

// calls links the span of a chained invoke to the trace of the durable execution that it has started, if any. entry is
// the event with which the visit began.
func calls(s *tracetest.SpanStub, entry *history.Event) {
	d, err := durable.DetailsOf(entry)
	if err != nil || d.Execution == "" {
		return
	}
	s.Links = append(s.Links, sdktrace.Link{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: TraceID(d.Execution), SpanID: spanID(d.Execution), TraceFlags: trace.FlagsSampled})})
}

// attemptID returns the ID of an attempt's span.
func attemptID(arn string, a *timeline.Attempt) trace.SpanID {
	return spanID(arn + " attempt " + strconv.FormatInt(a.First, 10))
}

// repeats adds to the span of an attempt what it repeats and why. The time between a failure and a redrive is no delay.
func (t *traced) repeats(one *tracetest.SpanStub, previous, a *timeline.Attempt, arn string) {
	if previous.Failure.HasName() {
		one.Attributes = append(one.Attributes, attribute.String(retry.AttributeReason, previous.Failure.Name))
	}
	if previous.Redrive == a.Redrive {
		one.Attributes = append(one.Attributes,
			attribute.Float64(retry.AttributeDelay, a.Scheduled.Sub(previous.Ended).Seconds()))
	}
	one.Links = append(one.Links, sdktrace.Link{SpanContext: t.context(attemptID(arn, previous)),
		Attributes: []attribute.KeyValue{attribute.String(retry.AttributeLink, retry.LinkPrevious)}})
}

// endOf returns why a visit made no further attempt. A history does not say whether a Retry block was exhausted or did
// not match.
func endOf(v *timeline.Visit) string {
	switch v.Outcome {
	case timeline.Succeeded:
		return retry.EndSucceeded
	case timeline.Aborted:
		return retry.EndCancelled
	default:
		return retry.EndGivenUp
	}
}

// mapRuns adds the spans of an execution's Map Runs. visit returns the span of the state that an event belongs to.
func (t *traced) mapRuns(x *journal.Execution, events []history.Event, visit func(event int64) trace.SpanID) {
	open := map[trace.SpanID]int{} // indexes into t.spans, by visit
	for i := range events {
		e := &events[i]
		switch e.Type {
		case history.MapRunStarted:
			if e.More == nil || e.More.MapRunARN == "" {
				continue
			}
			v := visit(e.ID)
			open[v] = len(t.spans)
			t.add(spanID(e.More.MapRunARN), v, "Map Run", trace.SpanKindInternal, e.At(), x.Stop, statusOf(false, x.Failure),
				attribute.String("stepback.map_run.arn", e.More.MapRunARN))
		case history.MapRunSucceeded, history.MapRunFailed, history.MapRunAborted:
			n, ok := open[visit(e.ID)]
			if !ok {
				continue
			}
			t.spans[n].EndTime = e.At()
			t.spans[n].Status = statusOf(e.Type == history.MapRunSucceeded, history.Failure{})
		default:
		}
	}
}

func statusOf(ok bool, f history.Failure) sdktrace.Status {
	if ok {
		return sdktrace.Status{Code: codes.Ok}
	}
	return sdktrace.Status{Code: codes.Error, Description: f.Name}
}

// nameIn returns the name at the end of an ARN.
func nameIn(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }
