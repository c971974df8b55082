package documents

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"stepback/internal/pebbleguard"
)

// settling syncs what nobody waits for. One goroutine does, while there is something.
type settling struct {
	sync.WaitGroup

	mu      sync.Mutex
	running bool
	again   bool // something was applied after the sync under way had begun
}

// ApplyLater has the changes take effect, in the order of the calls, and returns at once. They are on the disk soon,
// with whatever is synced next; a failure of the disk is that of the next batch that is waited for.
func (b *Batch) ApplyLater() error {
	if b.err == nil && b.batch.Len() <= emptyBatch {
		return b.batch.Close()
	}
	err := b.err
	if err == nil {
		err = pebbleguard.Call(func() error { return b.store.apply(b.batch, pebble.NoSync) })
	}
	if err != nil {
		return b.store.breaks(err)
	}
	b.store.settle()
	return b.batch.Close()
}

// settle has what was applied synced in the background.
func (s *Store) settle() {
	c := &s.settling
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		c.again = true
		return
	}
	c.running = true
	c.Go(func() {
		for s.sync() == nil && c.more() {
		}
	})
}

// more reports whether another sync is needed; if not, the goroutine ends.
func (c *settling) more() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.again = c.again, false
	return c.running
}

// sync waits until all that was applied is on the disk.
func (s *Store) sync() error {
	b, err := s.Begin()
	if err != nil {
		return err
	}
	b.Sync()
	return b.Apply()()
}
