package local

import (
	"context"
	"net/http"

	"stepback/engine/journal"
	"stepback/local/console"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

// Console configures what the console at the platform's address shows and permits.
type Console struct {
	// Off disables the console.
	Off bool
	// ReadOnly disables actions.
	ReadOnly bool
	// Redact lists members of payloads that it never shows; see console.Config.
	Redact []string
	// LetterStores returns the current sources of dead letters; nil means none. Their owner closes them.
	LetterStores func(context.Context, *Platform) ([]console.LetterStore, error)
	// Who is recorded as the author of actions on dead letters.
	Who string
}

// console returns the console of the platform; nil if it is off.
func (p *Platform) console() http.Handler {
	if p.cfg.Console.Off {
		return nil
	}
	c := p.cfg.Console
	var letterStores func(context.Context) ([]console.LetterStore, error)
	if c.LetterStores != nil {
		letterStores = func(ctx context.Context) ([]console.LetterStore, error) { return c.LetterStores(ctx, p) }
	}
	return console.New(console.Config{
		Engine: func() (console.Engine, error) { return p.Engine() },
		Definition: func(ctx context.Context, x *journal.Execution) (*journal.Definition, error) {
			return journal.DefinitionOf(ctx, p.Journal, x)
		},
		Durable:      p.Durable,
		Call:         p.calling().call,
		CloudWatch:   p.calling().cloudWatch(),
		Changes:      p.changes.watch,
		Points:       p.points,
		Complete:     func() { <-p.metrics.recounted },
		LetterStores: letterStores, Who: c.Who, ReadOnly: c.ReadOnly, Redact: c.Redact, Scope: p.Scope,
		Version: p.cfg.Version, Now: p.Clock.Now, Log: p.cfg.Log,
		Services: p.shown(), Faults: consoleFaults{p.Chaos}, Pacing: consolePacing{p},
	})
}

// points returns the stored metric data and those still being counted.
func (p *Platform) points() ([]retrymetrics.Point, error) {
	p.metrics.keeping.Lock() // no points are on their way to the file
	defer p.metrics.keeping.Unlock()
	kept, err := metricsfile.Read(p.Dir)
	if err != nil {
		return nil, err
	}
	return retrymetrics.Merge(append(kept, p.metrics.Points()...)), nil
}
