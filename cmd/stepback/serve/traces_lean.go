//go:build lean

package serve

import (
	"errors"
	"log/slog"
)

// exportTraces returns an error: the build tag lean leaves the OpenTelemetry SDK out.
func exportTraces(string, *slog.Logger) (exporter, error) {
	return nil, errors.New("--otlp: this build of stepback leaves out OpenTelemetry; build it with make build")
}
