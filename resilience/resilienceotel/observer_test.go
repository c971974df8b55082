package resilienceotel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"stepback/resilience"
	"stepback/resilience/resilienceotel"
	"stepback/retry"
)

func TestSpans(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		recorder := tracetest.NewSpanRecorder()
		tracer := trace.NewTracerProvider(trace.WithSpanProcessor(recorder)).Tracer("test")
		policy := retry.Policy{Interval: time.Second, Rate: 2, MaxAttempts: 1}
		e, err := resilience.New(policy, resilience.WithName("payments"), resilience.WithObserver(resilienceotel.Spans(tracer)))
		if err != nil {
			t.Fatal(err)
		}
		down := resilience.Mark(errors.New("503"), retry.Transient, retry.ServiceUnavailableError)
		_ = e.Run(t.Context(), func(ctx context.Context) error {
			_, inner := tracer.Start(ctx, "inner")
			inner.End()
			return down
		})
		ended := recorder.Ended()
		if len(ended) != 3 || ended[0].Parent().SpanID() != ended[2].SpanContext().SpanID() {
			t.Fatalf("%d spans", len(ended))
		}
		span := ended[2]
		var events []string
		for _, event := range span.Events() {
			line := event.Name
			for _, a := range event.Attributes {
				line += fmt.Sprint(" ", a.Key, "=", a.Value.AsInterface())
			}
			events = append(events, line)
		}
		failed := "error.type=ServiceUnavailableError error.class=transient error.message=503"
		want := "attempt_ended resilience.attempt=1 resilience.duration_seconds=0 " + failed +
			"\nretry_attempt resilience.attempt=1 resilience.delay_seconds=1 " + failed +
			"\nattempt_ended resilience.attempt=2 resilience.duration_seconds=0 " + failed
		if got := strings.Join(events, "\n"); got != want {
			t.Errorf("events %s\nwant %s", got, want)
		}
		if span.Name() != "call payments" || span.Status().Code != codes.Error ||
			span.EndTime().Sub(span.StartTime()) != time.Second {
			t.Errorf("%s, %v, %s", span.Name(), span.Status(), span.EndTime().Sub(span.StartTime()))
		}
	})
}
