package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"stepback/aws"
)

// Failures of an operation's backend are logged as errors only if the server is at fault, not the client.
func TestClientsFailuresAreNoErrorsOfTheServer(t *testing.T) {
	t.Parallel()
	missing := errors.New("there is no such thing")
	for _, c := range []struct {
		failure error
		want    bool
	}{{missing, false}, {errors.New("broken"), true}} {
		var log strings.Builder
		s := serve(t, Config{
			Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError})),
			Operations: map[string]Operation{
				"Wave": Handle(func(context.Context, aws.Scope, *struct{}) (*struct{}, error) {
					return nil, c.failure
				}),
			},
			Failure: func(err error) *aws.Error {
				if errors.Is(err, missing) {
					return &aws.Error{Code: "ResourceNotFoundException"}
				}
				return nil
			},
		})
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "Greeter.Wave")
		s.ServeHTTP(httptest.NewRecorder(), r)
		if got := log.Len() > 0; got != c.want {
			t.Errorf("%v is logged as an error: %v, want %v: %s", c.failure, got, c.want, log.String())
		}
	}
}
