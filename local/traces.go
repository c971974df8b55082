package local

import (
	"context"
	"path/filepath"

	"stepback/local/endpoint"
	"stepback/local/services/xray"
	"stepback/local/tracing"
)

// openTraces opens X-Ray and the tracer that sends it the segments of executions and invocations.
func (p *Platform) openTraces(ctx context.Context) error {
	p.traces = xray.New(xray.Options{Store: p.Documents, Now: p.Clock.Now, Scope: p.Scope, Log: p.cfg.Log})
	p.tracer = tracing.New(ctx, p.traces, p.Scope, p.Clock.Now, p.cfg.Log)
	p.onClose(p.tracer.Close)
	return nil
}

// offerTraces serves X-Ray.
func (p *Platform) offerTraces(context.Context) error {
	p.offer(served{model: "xray", about: "segments of executions, functions and programs; in " +
		filepath.Join(p.Dir, "documents"),
		Service: endpoint.Service{Name: "X-Ray", Signing: "xray", Handler: lazily(p.traces.Handler)}})
	return nil
}
