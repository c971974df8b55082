package local

import (
	"context"
	"net/http"

	"stepback/engine/journal"
	"stepback/local/console"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

// Console says what the console at the platform's address shows and lets people do.
type Console struct {
	// Off serves no console.
	Off bool
	// ReadOnly serves one without actions.
	ReadOnly bool
	// Redact are members of payloads that it never shows; see console.Config.
	Redact []string
	// Rooms are where dead letters are, as they are now; nil means nowhere. Whoever opened them closes them.
	Rooms func(context.Context, *Platform) ([]console.Room, error)
	// Who is recorded with what is done to dead letters.
	Who string
}

// console makes the console of the platform; nil when there is none.
func (p *Platform) console() http.Handler {
	if p.cfg.Console.Off {
		return nil
	}
	c := p.cfg.Console
	var rooms func(context.Context) ([]console.Room, error)
	if c.Rooms != nil {
		rooms = func(ctx context.Context) ([]console.Room, error) { return c.Rooms(ctx, p) }
	}
	return console.New(console.Config{
		Engine: func() (console.Engine, error) { return p.Engine() },
		Definition: func(ctx context.Context, x *journal.Execution) (*journal.Definition, error) {
			return journal.DefinitionOf(ctx, p.Journal, x)
		},
		Call:    p.calling().call,
		Changes: p.changes.watch,
		Points:  p.points,
		Rooms:   rooms, Who: c.Who, ReadOnly: c.ReadOnly, Redact: c.Redact, Scope: p.Scope,
		Version: p.cfg.Version, Now: p.Clock.Now, Log: p.cfg.Log,
		Services: p.shown(), Faults: consoleFaults{p.Chaos},
	})
}

// points are the metric data that are kept and those that are being counted.
func (p *Platform) points() ([]retrymetrics.Point, error) {
	kept, err := metricsfile.Read(p.Dir)
	if err != nil {
		return nil, err
	}
	return retrymetrics.Merge(append(kept, p.metrics.Points()...)), nil
}
