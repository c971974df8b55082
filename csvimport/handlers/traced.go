package handlers

import (
	"context"
	"encoding/json"
	"strings"

	"stepback/retry"
)

// Tracer records attempts in a trace. *xray.Tracer implements it.
type Tracer interface {
	Attempt(ctx context.Context, state string, annotations map[string]any) (context.Context, func(failure error,
		more map[string]any))
}

// Traced returns a function that records each invocation as an attempt of the state that its event names, with the
// attributes of docs/retry-traces.md that a function knows: retry_attempt, error_type of a failure, and retry_end if
// the function decides that no further attempt is made. X-Ray allows no dots in names, so they have underscores, as the
// OpenTelemetry Collector's exporter for X-Ray writes them. An event that does not say which attempt it is is not
// recorded.
func Traced[Output any](t Tracer, f Func[Output]) Func[Output] {
	return func(ctx context.Context, event json.RawMessage) (out Output, err error) {
		try, known := attemptOf(event)
		if !known {
			return f(ctx, event)
		}
		ctx, end := t.Attempt(ctx, try.State, map[string]any{annotation(retry.AttributeAttempt): try.Retries + 1})
		more := map[string]any{}
		defer func() { end(err, more) }()
		out, err = f(ctx, event)
		switch name, _ := nameAndMessage(err); {
		case err == nil:
			more[annotation(retry.AttributeEnd)] = retry.EndSucceeded
		case name != "":
			more[annotation("error.type")] = name
			if name == retry.RetryNotWorthwhile {
				more[annotation(retry.AttributeEnd)] = retry.EndGivenUp
			}
		}
		return out, err
	}
}

// annotation returns the name of an attribute in X-Ray.
func annotation(attribute string) string { return strings.ReplaceAll(attribute, ".", "_") }
