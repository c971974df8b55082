package otlptraces

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// Exporter sends the traces of ended executions to a collector. It never delays an execution: traces that cannot be
// sent in time are dropped and counted.
type Exporter struct {
	endpoint string
	to       *otlptrace.Exporter
	log      *slog.Logger
	queue    chan []sdktrace.ReadOnlySpan
	done     sync.WaitGroup
	dropped  atomic.Int64
	stop     context.CancelFunc
	lineage  lineage
}

// waiting is the maximum number of traces that wait to be sent. patience is the time limit of one request.
const (
	waiting  = 1000
	patience = 10 * time.Second
)

// New starts an exporter that sends to a collector at a base address such as http://localhost:4318. The SDK's
// environment variables apply (OTEL_EXPORTER_OTLP_HEADERS, …_CERTIFICATE and so on). Close stops the exporter.
func New(endpoint string, log *slog.Logger) *Exporter {
	ctx, stop := context.WithCancel(context.Background())
	e := &Exporter{
		endpoint: endpoint, log: log, queue: make(chan []sdktrace.ReadOnlySpan, waiting), stop: stop,
		// The client does not retry, because later traces would have to wait. It accepts traces of any size,
		// because executions have any size.
		to: otlptrace.NewUnstarted(otlptracehttp.NewClient(
			otlptracehttp.WithEndpointURL(strings.TrimSuffix(endpoint, "/")+"/v1/traces"),
			otlptracehttp.WithEncoding(otlptracehttp.EncodingJSON), otlptracehttp.WithTimeout(patience),
			otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}), otlptracehttp.WithMaxRequestSize(0))),
	}
	e.done.Add(1)
	go func() {
		defer e.done.Done()
		e.send(ctx)
	}()
	return e
}

// Look sets the store in which the exporter looks up executions and Map Runs. From then on, an execution that was
// started by another one appears in that one's trace. Executions observed earlier have separate traces.
func (e *Exporter) Look(k Kept) {
	e.lineage.mu.Lock()
	defer e.lineage.mu.Unlock()
	e.lineage.kept = k
}

// Observe queues the trace of an ended execution. events is its complete history. Observe is quick and never waits:
// if the queue is full, it drops the trace.
func (e *Exporter) Observe(x *journal.Execution, events []history.Event) {
	if len(e.queue) == cap(e.queue) {
		e.dropped.Add(1)
		return
	}
	select {
	case e.queue <- Spans(x, events, e.lineage.place(x)):
	default:
		e.dropped.Add(1)
	}
}

// Dropped returns the number of traces that were not accepted or could not be sent.
func (e *Exporter) Dropped() int64 { return e.dropped.Load() }

// send sends traces until the queue is closed.
func (e *Exporter) send(ctx context.Context) {
	if err := e.to.Start(ctx); err != nil {
		e.log.Warn("the trace exporter's configuration is not valid", "endpoint", e.endpoint, "error", err)
	}
	said := false
	for spans := range e.queue {
		if err := e.to.ExportSpans(ctx, spans); err != nil {
			if e.dropped.Add(1); !said {
				e.log.Warn("traces cannot be sent; further failures will not be logged", "endpoint", e.endpoint, "error", err)
				said = true
			}
		}
	}
}

// Close sends the waiting traces, for as long as the context allows, and stops the exporter. Observe must not be
// called afterwards.
func (e *Exporter) Close(ctx context.Context) {
	stopped := context.AfterFunc(ctx, e.stop)
	defer stopped()
	close(e.queue)
	e.done.Wait()
	_ = e.to.Shutdown(ctx) // nothing is on its way any more
	e.stop()
}
