package simulation

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"stepback/engine/journal"
)

// enough is the number of commits after which a process stops its execution, because it must be looping; the stop
// is repeated after every further enough commits. Every events events count as one more commit, because an
// execution that loops without waiting may produce 25,000 events in one commit.
const (
	enough = 1500
	events = 100
)

// committing is the journal of a process. Records passed to it wait until the world lets them proceed, in order. It
// records which of them were acknowledged.
type committing struct {
	journal.Journal
	world   *world
	acks    *acknowledged
	tooMany func() // called after enough commits

	mu      sync.Mutex
	count   int
	ordered []taken // the records taken before the last moment of rest, in the order in which they proceed
	fresh   []taken // those taken since
}

// taken is a record passed to the journal.
type taken struct {
	key string
	on  func()
}

// Commit implements journal.Journal.
func (c *committing) Commit(r *journal.Record, done func(error)) {
	x := *r.Execution
	kept := *r // the caller may change its own copy
	kept.Execution, kept.Signals = &x, slices.Clone(r.Signals)
	kept.History, kept.All = slices.Clone(r.History), slices.Clone(r.All)
	c.take(fmt.Sprintf("commit %s %d %s %d", x.MachineARN, x.FirstItem, x.Name, r.Step), func() {
		before := c.count
		if c.count += 1 + len(kept.History)/events; c.count/enough > before/enough {
			go func() {
				if c.world.wait("stop") {
					c.tooMany()
				}
			}()
		}
		c.Journal.Commit(&kept, func(err error) {
			if err == nil {
				c.acks.add(&kept)
			}
			done(err)
		})
	})
}

// PutMapRun implements journal.Journal.
func (c *committing) PutMapRun(r *journal.MapRun, done func(error)) {
	kept := *r
	c.take("a map run "+r.ARN, func() { c.Journal.PutMapRun(&kept, done) })
}

// take queues a record until its turn. Records become durable in the order in which they were passed in. If
// goroutines pass in several at the same time, that order is random, so their keys decide: a Map Run comes before its
// child executions, which it starts without waiting for the disk.
func (c *committing) take(key string, on func()) {
	c.mu.Lock()
	c.fresh = append(c.fresh, taken{key, on})
	c.mu.Unlock()
	c.world.later("journal", func() {
		c.mu.Lock()
		slices.SortStableFunc(c.fresh, func(a, b taken) int { return strings.Compare(a.key, b.key) })
		c.ordered, c.fresh = append(c.ordered, c.fresh...), nil
		next := c.ordered[0]
		c.ordered = c.ordered[1:]
		c.mu.Unlock()
		c.world.note("  %s", next.key)
		next.on()
	})
}
