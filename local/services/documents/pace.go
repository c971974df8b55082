package documents

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// busy is how many batches a millisecond are waited for while many clients write at once. One client alone waits
	// for the disk between its batches and stays below.
	busy = 4
	// gathering is how long the disk is left alone after a sync while many write, so that one sync is for more of them.
	gathering = 300 * time.Microsecond
)

// pace tells how long the disk rests between two syncs: not at all while few clients write, and for a while when there
// are many, whose batches then share a sync.
type pace struct {
	applied atomic.Int64 // batches that are waited for since the store was opened

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
