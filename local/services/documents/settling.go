package documents

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"stepback/internal/pebbleguard"
)

// settling syncs batches for which no caller waits. One goroutine runs while there are such batches.
type settling struct {
	sync.WaitGroup

	mu      sync.Mutex
	running bool
	again   bool // something was applied after the running sync had started
}

// ApplyLater makes the changes visible, in the order of the calls, and returns immediately. They reach the disk
// soon, with the next sync. If the disk fails, the next batch that is waited for reports the error.
func (b *Batch) ApplyLater() error {
	if b.Empty() {
		return b.batch.Close()
	}
	b.store.unsynced.Add(1)
	defer b.store.unsynced.Add(-1) // settle counts it
	err := b.err
	if err == nil {
		err = pebbleguard.Call(func() error { return apply(b.store, b.batch, pebble.NoSync) })
	}
	if err != nil {
		return b.store.breaks(err)
	}
	if !b.store.disk.Volatile {
		b.store.settle()
	}
	return b.batch.Close()
}

// settle starts a background sync of everything applied so far.
func (s *Store) settle() {
	c := &s.settling
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		c.again = true
		return
	}
	c.running = true
	s.unsynced.Add(1)
	c.Go(func() {
		defer s.unsynced.Add(-1)
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

// sync waits until everything that was applied is on disk.
func (s *Store) sync() error {
	b, err := s.Begin()
	if err != nil {
		return err
	}
	b.Sync()
	return b.Apply()()
}
