// Package resilienceotel records OpenTelemetry spans for the calls of an executor: one for each call, and below it one
// for each attempt, which links to the attempt that it repeats. The attributes are those of package retry; see
// docs/retry-traces.md.
package resilienceotel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"stepback/resilience"
	"stepback/retry"
)

// Spans returns an observer that starts spans of kind internal, named after the service ("call payments"), with a child
// of kind client for each attempt ("attempt payments"). Spans that the operation starts under its context become children
// of the call's span. The span of an attempt is recorded when the attempt ends.
func Spans(tracer trace.Tracer) resilience.Observer { return spans{tracer} }

type spans struct{ tracer trace.Tracer }

// call is the state of one call in progress. The executor reports its events one after another.
type call struct {
	previous trace.SpanContext // of the last attempt
	reason   string            // of the next attempt
	delay    time.Duration
	budget   *float64
}

type callKey struct{}

func (s spans) Begin(ctx context.Context, service string) context.Context {
	ctx, _ = s.tracer.Start(ctx, named("call", service)) // CallEnded ends it
	return context.WithValue(ctx, callKey{}, &call{})
}

func named(what, service string) string {
	if service == "" {
		return what
	}
	return what + " " + service
}

func (s spans) Observe(ctx context.Context, e resilience.Event) {
	span := trace.SpanFromContext(ctx)
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return // not a context of Begin
	}
	switch e.Kind {
	case resilience.AttemptEnded:
		s.attempt(ctx, c, e)
	case resilience.RetryScheduled:
		c.reason, c.delay, c.budget = e.Classification.Error, e.Delay, e.Budget
	case resilience.HedgeStarted:
		span.AddEvent(e.Kind.String(), trace.WithAttributes(attribute.Int(retry.AttributeAttempt, e.Attempt),
			attribute.Float64(retry.AttributeDelay, e.Delay.Seconds())))
	case resilience.CallEnded:
		end := retry.EndSucceeded
		if e.Err != nil {
			end = retry.EndGivenUp
			if failed, ok := errors.AsType[*resilience.Error](e.Err); ok {
				end = failed.End()
			}
			span.SetStatus(codes.Error, e.Err.Error())
		}
		span.SetAttributes(attribute.Int(retry.AttributeAttempts, e.Attempt), attribute.String(retry.AttributeEnd, end))
		span.End()
	}
}

// attempt records the span of an attempt that has ended.
func (s spans) attempt(ctx context.Context, c *call, e resilience.Event) {
	now := time.Now()
	attributes := []attribute.KeyValue{attribute.Int(retry.AttributeAttempt, e.Attempt)}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(now.Add(-e.Duration))}
	if e.Attempt > 1 {
		attributes = append(attributes, attribute.String(retry.AttributeReason, c.reason),
			attribute.Float64(retry.AttributeDelay, c.delay.Seconds()))
		if c.budget != nil {
			attributes = append(attributes, attribute.Float64(retry.AttributeBudget, *c.budget))
		}
		options = append(options, trace.WithLinks(trace.Link{SpanContext: c.previous,
			Attributes: []attribute.KeyValue{attribute.String(retry.AttributeLink, retry.LinkPrevious)}}))
	}
	if e.Err != nil {
		attributes = append(attributes, attribute.String("error.type", e.Classification.Error),
			attribute.String("error.class", string(e.Classification.Class)))
	}
	_, span := s.tracer.Start(ctx, named("attempt", e.Service), append(options, trace.WithAttributes(attributes...))...)
	if e.Err != nil {
		span.SetStatus(codes.Error, e.Err.Error())
	}
	c.previous = span.SpanContext()
	span.End(trace.WithTimestamp(now))
}
