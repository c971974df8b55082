package pebble

import (
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"stepback/engine/journal"
	"stepback/internal/pebbleguard"
	"stepback/internal/pebblestore"
)

const (
	// groupBytes is the size at which a group is complete and the next one is started.
	groupBytes = 4 << 20
	// syncing is the number of groups that may wait for the disk at a time: one is synced while the next is applied.
	syncing = 2
)

// group is a set of records that are synced together.
type group struct {
	batch *pebble.Batch
	done  []func(error)
}

// committer writes groups of records one after the other, each with one sync. It has two goroutines, which stop waits
// for: one applies a group while the other waits until the previous one is on the disk. Adding a record waits for
// neither.
type committer struct {
	db       *pebblestore.Store
	ended    sync.WaitGroup
	synced   chan *group
	tell     func(error) // called with the first failure; may be nil
	volatile bool        // there is no log to wait for

	mu     sync.Mutex
	more   sync.Cond
	queue  []*group // the last one is being filled
	idle   []*group
	closed bool
	broken error // why nothing more can be committed
}

// startCommitter starts a committer.
func startCommitter(db *pebblestore.Store, tell func(error), volatile bool) *committer {
	c := &committer{db: db, synced: make(chan *group, syncing-1), tell: tell, volatile: volatile}
	c.more.L = &c.mu
	c.ended.Go(c.apply)
	c.ended.Go(c.reportSynced)
	return c
}

// add puts operations into the open group. done may be nil.
func (c *committer) add(fill func(*pebble.Batch) error, done func(error)) {
	c.mu.Lock()
	err := c.refusal()
	if err == nil {
		g := c.open()
		if err = fill(g.batch); err == nil && done != nil {
			g.done = append(g.done, done)
		}
	}
	c.mu.Unlock()
	if err == nil {
		c.more.Signal()
	} else if done != nil {
		done(err)
	}
}

// refusal returns the reason why no records are accepted, or nil.
func (c *committer) refusal() error {
	if c.broken == nil && c.closed {
		return journal.ErrClosed
	}
	return c.broken
}

// backlog returns the number of bytes waiting to be applied.
func (c *committer) backlog() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	bytes := 0
	for _, g := range c.queue {
		bytes += g.batch.Len()
	}
	return bytes
}

// open returns the group that receives the next record: the last one in the queue, or a new one if that one is
// complete.
func (c *committer) open() *group {
	if n := len(c.queue); n > 0 && c.queue[n-1].batch.Len() < groupBytes {
		return c.queue[n-1]
	}
	var g *group
	if n := len(c.idle); n > 0 {
		g = c.idle[n-1]
		c.idle = c.idle[:n-1]
	} else {
		g = &group{batch: c.db.NewBatch(pebble.WithInitialSizeBytes(64<<10),
			pebble.WithMaxRetainedSizeBytes(2*groupBytes))}
	}
	c.queue = append(c.queue, g)
	return g
}

// take waits for the next group. It returns nil once the committer is closed and the queue is empty.
func (c *committer) take() *group {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 {
		if c.closed {
			return nil
		}
		c.more.Wait()
	}
	g := c.queue[0]
	c.queue = append(c.queue[:0], c.queue[1:]...)
	return g
}

// apply applies the groups in order.
func (c *committer) apply() {
	defer close(c.synced)
	for g := c.take(); g != nil; g = c.take() {
		if err := c.write(g.batch); err != nil {
			c.fail(g, err)
			continue
		}
		c.synced <- g
	}
}

// write applies a batch. After the first error no more batches are applied, since Pebble cannot continue without its
// log.
func (c *committer) write(b *pebble.Batch) error {
	c.mu.Lock()
	err := c.broken
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return pebbleguard.Call(func() error {
		if c.volatile {
			return c.db.Apply(b, pebble.NoSync)
		}
		return c.db.ApplyNoSyncWait(b, pebble.Sync)
	})
}

// reportSynced waits for each group's sync, in order, and reports the group as durable.
func (c *committer) reportSynced() {
	for g := range c.synced {
		if err := c.wait(g.batch); err != nil {
			c.fail(g, err)
			continue
		}
		for i, done := range g.done {
			done(nil)
			g.done[i] = nil
		}
		g.done = g.done[:0]
		g.batch.Reset()
		c.mu.Lock()
		c.idle = append(c.idle, g)
		c.mu.Unlock()
	}
}

// wait waits until an applied batch is on the disk.
func (c *committer) wait(b *pebble.Batch) error {
	if c.volatile {
		return nil
	}
	err := b.SyncWait()
	if err == nil {
		c.db.Synced(b)
	}
	return err
}

// fail refuses a group and all later ones.
func (c *committer) fail(g *group, err error) {
	c.mu.Lock()
	first := c.broken == nil
	if first {
		c.broken = fmt.Errorf("%w: %w", journal.ErrBroken, err)
	}
	err = c.broken
	c.mu.Unlock()
	if first && c.tell != nil {
		c.tell(err)
	}
	for _, done := range g.done {
		done(err)
	}
}

// stop writes the waiting groups and ends the goroutines. It returns an error if something could not be written.
func (c *committer) stop() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.more.Broadcast()
	c.ended.Wait()
	for _, g := range c.idle {
		_ = g.batch.Close() // returns its memory; nothing of it is left to write
	}
	return c.broken
}
