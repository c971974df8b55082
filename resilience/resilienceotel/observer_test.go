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

	"stepback/adaptive/budget"
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
		tokens, err := budget.New(budget.Config{Policy: budget.SDK(retry.SDK2026())})
		if err != nil {
			t.Fatal(err)
		}
		e, err := resilience.New(policy, resilience.WithName("payments"), resilience.WithBudget(tokens), resilience.WithObserver(resilienceotel.Spans(tracer)))
		if err != nil {
			t.Fatal(err)
		}
		down := resilience.Mark(errors.New("503"), retry.Transient, retry.ServiceUnavailableError)
		_ = e.Run(t.Context(), func(ctx context.Context) error {
			_, inner := tracer.Start(ctx, "inner")
			inner.End()
			return down
		})
		ended := recorder.Ended() // the operation's own span, then the attempt's, twice, and the call's
		if len(ended) != 5 {
			t.Fatalf("%d spans, want 5", len(ended))
		}
		span := ended[4]
		for i, want := range []string{"inner", "attempt payments", "inner", "attempt payments"} {
			if ended[i].Name() != want || ended[i].Parent().SpanID() != span.SpanContext().SpanID() {
				t.Errorf("span %d is %s below %s, want %s below the call", i, ended[i].Name(), ended[i].Parent().SpanID(), want)
			}
		}
		failed := "error.type=ServiceUnavailableError error.class=transient"
		for i, want := range map[int]string{
			1: "retry.attempt=1 " + failed,
			3: "retry.attempt=2 retry.reason=ServiceUnavailableError retry.delay=1 retry.budget.remaining=486 " + failed,
			4: "retry.attempts=2 retry.end=exhausted",
		} {
			var got []string
			for _, a := range ended[i].Attributes() {
				got = append(got, fmt.Sprint(a.Key, "=", a.Value.AsInterface()))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("span %d has %s, want %s", i, strings.Join(got, " "), want)
			}
		}
		if links := ended[3].Links(); len(ended[1].Links()) != 0 || len(links) != 1 ||
			links[0].SpanContext.SpanID() != ended[1].SpanContext().SpanID() {
			t.Errorf("the second attempt links to %v, want the first", links)
		}
		if span.Name() != "call payments" || span.Status().Code != codes.Error ||
			span.EndTime().Sub(span.StartTime()) != time.Second ||
			ended[3].StartTime().Sub(ended[1].EndTime()) != time.Second {
			t.Errorf("%s, %v, %s", span.Name(), span.Status(), span.EndTime().Sub(span.StartTime()))
		}
	})
}
