package resilience

import (
	"context"
	"log/slog"
)

// LogRetries returns an observer that logs one structured line for each retry, at level Warn, with the attributes
// event, service, attempt, max_retries, delay_ms, error_type, error_class and error_message. Nothing else is logged.
func LogRetries(to *slog.Logger) Observer { return retryLog{to} }

type retryLog struct{ logger *slog.Logger }

func (retryLog) Begin(ctx context.Context, _ string) context.Context { return ctx }

func (l retryLog) Observe(ctx context.Context, e Event) {
	if e.Kind != RetryScheduled {
		return
	}
	l.logger.LogAttrs(ctx, slog.LevelWarn, "retry",
		slog.String("event", e.Kind.String()),
		slog.String("service", e.Service),
		slog.Int("attempt", e.Attempt),
		slog.Int("max_retries", e.MaxRetries),
		slog.Int64("delay_ms", e.Delay.Milliseconds()),
		slog.String("error_type", e.Classification.Error),
		slog.String("error_class", string(e.Classification.Class)),
		slog.String("error_message", e.Err.Error()))
}
