package otlptraces

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// Exporter sends the traces of ended executions to a collector. It never delays an execution: traces that cannot be
// sent in time are dropped and counted.
type Exporter struct {
	url     string
	client  *http.Client
	log     *slog.Logger
	queue   chan []byte
	done    sync.WaitGroup
	dropped atomic.Int64
	stop    context.CancelFunc
	lineage lineage
}

// waiting is the maximum number of traces waiting to be sent; patience is how long one request may take.
const (
	waiting  = 1000
	patience = 10 * time.Second
)

// New starts an exporter to a collector at a base address such as http://localhost:4318. Close stops it.
func New(endpoint string, log *slog.Logger) *Exporter {
	ctx, stop := context.WithCancel(context.Background())
	e := &Exporter{url: strings.TrimSuffix(endpoint, "/") + "/v1/traces", client: &http.Client{Timeout: patience}, log: log,
		queue: make(chan []byte, waiting), stop: stop}
	e.done.Add(1)
	go func() {
		defer e.done.Done()
		e.send(ctx)
	}()
	return e
}

// Look sets the store of executions and Map Runs, so that executions started by others appear in the traces of these.
// Executions observed before have separate traces.
func (e *Exporter) Look(k Kept) {
	e.lineage.mu.Lock()
	defer e.lineage.mu.Unlock()
	e.lineage.kept = k
}

// Observe queues the trace of an ended execution with its whole history. It is quick and never waits.
func (e *Exporter) Observe(x *journal.Execution, events []history.Event) {
	if len(e.queue) == cap(e.queue) {
		e.dropped.Add(1)
		return
	}
	body, err := Encode(x, events, e.lineage.place(x))
	if err != nil {
		return // a value that JSON cannot represent; histories contain none
	}
	select {
	case e.queue <- body:
	default:
		e.dropped.Add(1)
	}
}

// Dropped returns the number of traces that were not accepted or could not be sent.
func (e *Exporter) Dropped() int64 { return e.dropped.Load() }

// send sends traces until the queue is closed.
func (e *Exporter) send(ctx context.Context) {
	said := false
	for body := range e.queue {
		if err := e.post(ctx, body); err != nil {
			if e.dropped.Add(1); !said {
				e.log.Warn("traces cannot be sent; later ones are tried, and not told of", "endpoint", e.url, "error", err)
				said = true
			}
		}
	}
}

func (e *Exporter) post(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := e.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	const most = 1 << 16
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, most))
	if answer.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("it answers %s", answer.Status)
	}
	return nil
}

// Close sends the waiting traces, for as long as the context allows, and stops the exporter. Observe must not be
// called afterwards.
func (e *Exporter) Close(ctx context.Context) {
	stopped := context.AfterFunc(ctx, e.stop)
	defer stopped()
	close(e.queue)
	e.done.Wait()
	e.stop()
}
