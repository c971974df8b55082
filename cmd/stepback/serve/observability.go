package serve

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local"
	"stepback/retrymetrics/exposition"
)

// exporter sends the traces of ended executions to a collector; otlptraces.Exporter documents the methods.
type exporter interface {
	Look(journal.Journal)
	Observe(*journal.Execution, []history.Event)
	Close(context.Context)
}

// tellOthers makes the platform serve its metrics to Prometheus and, if a trace collector is named, send its
// executions to the collector. The caller passes the opened platform to opened, and calls stop after the platform
// has been closed. It fails if this build cannot send traces.
func (c *Serve) tellOthers(ctx context.Context, cfg *local.Config) (opened func(*local.Platform), stop func(), err error) {
	counted := &exposition.Exposition{}
	registry := prometheus.NewRegistry()
	registry.MustRegister(counted, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	cfg.Metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	cfg.Counts = append(cfg.Counts, counted.Counts())
	if c.OTLP == "" {
		return func(*local.Platform) {}, func() {}, nil
	}
	//nolint:contextcheck // it ends after the context, with what is left to send
	traces, err := exportTraces(c.OTLP, cfg.Log)
	if err != nil {
		return nil, nil, err
	}
	cfg.Observe = traces.Observe
	return func(p *local.Platform) { traces.Look(p.Journal) }, func() {
		const grace = 3 * time.Second
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		traces.Close(ctx)
	}, nil
}
