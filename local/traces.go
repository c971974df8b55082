package local

import (
	"context"
	"path/filepath"

	"stepback/local/endpoint"
	"stepback/services/xray"
)

// openTraces opens X-Ray.
func (p *Platform) openTraces(context.Context) error {
	s := xray.New(xray.Options{Store: p.Documents, Now: p.Clock.Now, Scope: p.Scope, Log: p.cfg.Log})
	p.offer(served{model: "xray", about: "segments of programs that trace themselves; in " + filepath.Join(p.Dir, "documents"),
		Service: endpoint.Service{Name: "X-Ray", Signing: "xray", Handler: lazily(s.Handler)}})
	return nil
}
