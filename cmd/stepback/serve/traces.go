//go:build !lean

package serve

import (
	"log/slog"

	"stepback/cmd/stepback/otlptraces"
	"stepback/engine/journal"
)

// exportTraces starts an exporter that sends traces to the collector at endpoint.
func exportTraces(endpoint string, log *slog.Logger) (exporter, error) {
	return lookingExporter{otlptraces.New(endpoint, log)}, nil
}

// lookingExporter implements exporter.
type lookingExporter struct{ *otlptraces.Exporter }

// Look sets the journal in which the exporter looks up executions and Map Runs.
func (e lookingExporter) Look(j journal.Journal) { e.Exporter.Look(j) }
