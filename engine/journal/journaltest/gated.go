package journaltest

import (
	"context"
	"iter"
	"strings"

	"stepback/engine/journal"
)

// Gated is a journal that stops a recovery after its first execution until the gate opens, and then fails with Err, if
// that is not nil. A recovery is a call of Unfinished with a prefix that ends in Of. It tests what a service does while
// its recovery reads.
type Gated struct {
	journal.Journal
	Of  string
	Err error

	gate chan struct{}
}

// NewGated returns a journal whose gate is closed.
func NewGated(j journal.Journal, of string) *Gated {
	return &Gated{Journal: j, Of: of, gate: make(chan struct{})}
}

// Open opens the gate.
func (g *Gated) Open() { close(g.gate) }

// Unfinished implements journal.Journal.
func (g *Gated) Unfinished(ctx context.Context, prefix string) iter.Seq2[*journal.Unfinished, error] {
	all := g.Journal.Unfinished(ctx, prefix)
	if !strings.HasSuffix(prefix, g.Of) {
		return all
	}
	return func(yield func(*journal.Unfinished, error) bool) {
		first := true
		for u, err := range all {
			if !yield(u, err) {
				return
			}
			if !first {
				continue
			}
			first = false
			select {
			case <-g.gate:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
			if g.Err != nil {
				yield(nil, g.Err)
				return
			}
		}
	}
}
