package documents

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// busy is the rate above which many clients count as writing at once: batches per millisecond for which callers
	// wait. A single client waits for the disk between its batches and stays below.
	busy = 4
	// gathering is the pause after a sync while many clients write, so that one sync serves more of them.
	gathering = 300 * time.Microsecond
)

// pace determines the pause between two syncs: none while few clients write, and a short one while many do, so that
// their batches share a sync.
type pace struct {
	applied atomic.Int64 // batches with waiting callers since the store was opened

	mu   sync.Mutex
	seen int64
	at   time.Time
	rest time.Duration
}

// interval implements pebble.Config.WALMinSyncInterval, which is called after each sync.
func (p *pace) interval(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	passed := now.Sub(p.at)
	if passed < time.Millisecond {
		return p.rest
	}
	n := p.applied.Load()
	p.rest = 0
	if n-p.seen >= busy*passed.Milliseconds() && passed < time.Second {
		p.rest = gathering
	}
	p.seen, p.at = n, now
	return p.rest
}
