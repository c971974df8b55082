// Package resilienceotel records an OpenTelemetry span for each call of an executor, with one event for each attempt,
// retry and hedge.
package resilienceotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"stepback/resilience"
)

// Spans returns an observer that starts spans of kind internal, named after the service ("call payments"). Spans that
// the operation starts under its context become their children.
func Spans(tracer trace.Tracer) resilience.Observer { return spans{tracer} }

type spans struct{ tracer trace.Tracer }

func (s spans) Begin(ctx context.Context, service string) context.Context {
	name := "call"
	if service != "" {
		name += " " + service
	}
	ctx, _ = s.tracer.Start(ctx, name) // CallEnded ends it
	return ctx
}

func (s spans) Observe(ctx context.Context, e resilience.Event) {
	span := trace.SpanFromContext(ctx)
	if e.Kind == resilience.CallEnded {
		span.SetAttributes(attribute.Int("resilience.attempts", e.Attempt))
		if e.Err != nil {
			span.SetStatus(codes.Error, e.Err.Error())
		}
		span.End()
		return
	}
	attributes := []attribute.KeyValue{attribute.Int("resilience.attempt", e.Attempt)}
	if e.Kind == resilience.AttemptEnded {
		attributes = append(attributes, attribute.Float64("resilience.duration_seconds", e.Duration.Seconds()))
	} else {
		attributes = append(attributes, attribute.Float64("resilience.delay_seconds", e.Delay.Seconds()))
	}
	if e.Err != nil {
		attributes = append(attributes, attribute.String("error.type", e.Classification.Error),
			attribute.String("error.class", string(e.Classification.Class)),
			attribute.String("error.message", e.Err.Error()))
	}
	span.AddEvent(e.Kind.String(), trace.WithAttributes(attributes...))
}
