package handlers

import (
	"context"
	"log/slog"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// executed is an input that names the execution it belongs to.
type executed interface {
	// ExecutionName returns the execution's name, or "".
	ExecutionName() string
}

// WithRequest returns a log handler that adds the ID of the Lambda request to each line logged with the request's
// context.
func WithRequest(h slog.Handler) slog.Handler { return requestHandler{h} }

type requestHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h requestHandler) Handle(ctx context.Context, r slog.Record) error {
	if lc, ok := lambdacontext.FromContext(ctx); ok && lc.AwsRequestID != "" {
		r.AddAttrs(slog.String("requestId", lc.AwsRequestID))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h requestHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h requestHandler) WithGroup(name string) slog.Handler {
	return requestHandler{h.Handler.WithGroup(name)}
}

// origin returns a log attribute for the execution that an input belongs to: its ARN if the function's own ARN and
// STATE_MACHINE supply the missing parts, otherwise its name.
func origin(ctx context.Context, in any) []slog.Attr {
	e, ok := in.(executed)
	if !ok || e.ExecutionName() == "" {
		return nil
	}
	machine := os.Getenv("STATE_MACHINE")
	lc, ok := lambdacontext.FromContext(ctx)
	if ok && machine != "" {
		// arn:aws:lambda:REGION:ACCOUNT:function:NAME
		if own := strings.Split(lc.InvokedFunctionArn, ":"); len(own) > 5 {
			return []slog.Attr{slog.String("executionArn", strings.Join([]string{own[0], own[1], "states", own[3], own[4],
				"execution", machine, e.ExecutionName()}, ":"))}
		}
	}
	return []slog.Attr{slog.String("execution", e.ExecutionName())}
}
