package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"stepback/outbox"
)

type fake func(ctx context.Context) (outbox.Drained, error)

func (f fake) Drain(ctx context.Context) (outbox.Drained, error) { return f(ctx) }

func TestAnInvocationEndsBeforeItsTimeout(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	opened := 0
	h := handler{open: func(context.Context) (relay, error) {
		if opened++; opened == 1 {
			return nil, errors.New("the database is not there yet")
		}
		return fake(func(ctx context.Context) (outbox.Drained, error) {
			if got, ok := ctx.Deadline(); !ok || !got.Equal(deadline.Add(-margin)) {
				t.Errorf("sending ends at %v, %v; want %v before the timeout", got, ok, margin)
			}
			return outbox.Drained{Sent: 2, Failed: 1}, nil
		}), nil
	}}
	if _, err := h.handle(ctx); err == nil {
		t.Error("an invocation without a database succeeds")
	}
	for range 2 {
		if got, err := h.handle(ctx); err != nil || got != (answer{Sent: 2, Failed: 1}) {
			t.Errorf("answer %+v, %v", got, err)
		}
	}
	if opened != 2 {
		t.Errorf("opened %d times, want 2", opened)
	}
}

func TestTheEnvironmentIsChecked(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"no sink":      {"DATABASE_URL": "postgres://127.0.0.1:1/db"},
		"wrong sink":   {"DATABASE_URL": "postgres://127.0.0.1:1/db", "SINK": "ftp://host"},
		"short secret": {"DATABASE_URL": "postgres://127.0.0.1:1/db", "SINK": "https://host", "WEBHOOK_SECRETS": "x"},
		"no database":  {"SINK": "https://host"},
		"a file":       {"SINK": "https://host", "DATABASE_URL": "sqlite:/tmp/x.db"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, key := range []string{"DATABASE_URL", "SINK", "WEBHOOK_SECRETS"} {
				t.Setenv(key, env[key])
			}
			if _, err := openRelay(t.Context()); err == nil {
				t.Error("no error")
			}
		})
	}
}
