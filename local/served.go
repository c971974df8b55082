package local

import (
	"context"
	"iter"
	"net/http"
	"path/filepath"
	"sync"

	"stepback/aws/server"
	"stepback/local/chaos"
	"stepback/local/console"
	"stepback/local/endpoint"
	"stepback/local/services/documents"
)

// served is a service of the platform.
type served struct {
	endpoint.Service
	// model is the name of its API model, by which tasks call it (aws-sdk:MODEL:action).
	model string
	// store is the folder of the data directory that it writes to; empty means documents.
	store string
	// about describes in the console what it does and where it stores its data.
	about string
	// own is true if tasks call this platform's service even if Config.Beside names another platform.
	own bool
	// covers returns the operations it implements, if Handler does not report them itself.
	covers func() server.Coverage
}

// offer adds a service, which is served, called by tasks, and shown on the console.
func (p *Platform) offer(s served) { p.offered = append(p.offered, s) }

// offeredBy returns the handler of a service by its signing name.
func (p *Platform) offeredBy(signing string) http.Handler {
	for _, s := range p.offered {
		if s.Signing == signing {
			return s.Handler
		}
	}
	return http.NotFoundHandler()
}

// lazy is a handler created on its first request.
type lazy[H http.Handler] struct{ made func() H }

// lazily returns a handler that is created on its first request, so that an unused service does not load its model.
func lazily[H http.Handler](made func() H) lazy[H] { return lazy[H]{sync.OnceValue(made)} }

// ServeHTTP implements http.Handler.
func (l lazy[H]) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.made().ServeHTTP(w, r) }

// coverage returns the coverage of the handler; false if it does not report it.
func (l lazy[H]) coverage() (server.Coverage, bool) {
	c, ok := any(l.made()).(coverer)
	if !ok {
		return server.Coverage{}, false
	}
	return c.Coverage(), true
}

// coverer is a service that reports which operations of its model it implements.
type coverer interface{ Coverage() server.Coverage }

// coverage lists the operations that a service implements. It returns false if the service has no API model.
func (s *served) coverage() (server.Coverage, bool) {
	if s.covers != nil {
		return s.covers(), true
	}
	switch h := s.Handler.(type) {
	case interface {
		coverage() (server.Coverage, bool)
	}:
		return h.coverage()
	case coverer:
		return h.Coverage(), true
	}
	return server.Coverage{}, false
}

// Coverage lists the operations that each service implements, in the console's order. Service names are those of the
// address (DynamoDB Streams), not those of the models.
func (p *Platform) Coverage() []server.Coverage {
	all := make([]server.Coverage, 0, len(p.offered))
	for i := range p.offered {
		if c, ok := p.offered[i].coverage(); ok {
			c.Service = p.offered[i].Name
			all = append(all, c)
		}
	}
	return all
}

// Services yields the names of all services: "Step Functions", "S3".
func (p *Platform) Services() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range p.offered {
			if !yield(p.offered[i].Name) {
				return
			}
		}
	}
}

// openDocuments opens the store of the services' documents. It creates nothing before the first document is stored.
func (p *Platform) openDocuments(context.Context) (err error) {
	p.Documents, err = documents.OpenOn(filepath.Join(p.Dir, documentsDir), p.disk())
	if err == nil {
		p.onClose(p.Documents.Close)
	}
	return err
}

// services returns the handler of all services at one address, and makes them the default targets of tasks.
func (p *Platform) services() http.Handler {
	h := &endpoint.Handler{
		Log:     p.cfg.Log,
		Control: http.HandlerFunc(p.control), Metrics: p.cfg.Metrics,
		Health: p.health,
	}
	named := make([]chaos.Service, len(p.offered))
	for i, s := range p.offered {
		named[i] = chaos.Service{Model: s.model, Signing: s.Signing}
	}
	p.Chaos = chaos.New(p.Clock, named)
	h.Console = p.console()
	for _, s := range p.offered {
		s.Handler = p.Chaos.Front(s.model, s.Handler)
		front := s.Service
		front.Handler = p.admitting(s.model, s.Handler)
		h.Services = append(h.Services, front)
		if p.cfg.Beside != nil && !s.own {
			p.around.reach(s.model, p.cfg.Beside.Endpoint)
			continue
		}
		p.around.embed(s.model, s.Handler)
	}
	if p.cfg.Public { // a machine does not know all its names
		h.Hosts = []string{"*"}
	}
	return h
}

// healthName returns the name that LocalStack's health page uses for a service, given its signing name.
func healthName(signing string) string {
	switch signing {
	case "states":
		return "stepfunctions"
	case "monitoring":
		return "cloudwatch"
	}
	return signing
}

// shown returns the services as the console shows them.
func (p *Platform) shown() []console.Service {
	all := make([]console.Service, len(p.offered))
	troubles := p.troubles()
	for i, s := range p.offered {
		all[i] = console.Service{Name: s.Name, Status: s.state(troubles), About: s.about, Model: s.model}
	}
	return all
}
