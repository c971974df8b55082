package local

import (
	"sync"
	"sync/atomic"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// changes tells who looks at executions that they have made a step. The engine never waits for it: what has been told
// and not been looked at yet is not told again.
type changes struct {
	watched atomic.Int64 // how many look; nothing is done while nobody does
	mu      sync.Mutex
	of      map[string]map[chan struct{}]bool // by execution; all under ""
	over    bool
}

// watch returns a channel that receives after a step of an execution, or of any when the ARN is empty. It is closed
// when the platform closes.
func (c *changes) watch(arn string) (changed <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		close(ch)
		return ch, func() {}
	}
	if c.of == nil {
		c.of = map[string]map[chan struct{}]bool{}
	}
	if c.of[arn] == nil {
		c.of[arn] = map[chan struct{}]bool{}
	}
	c.of[arn][ch] = true
	c.mu.Unlock()
	c.watched.Add(1)
	return ch, func() {
		c.watched.Add(-1)
		c.mu.Lock()
		delete(c.of[arn], ch)
		if len(c.of[arn]) == 0 {
			delete(c.of, arn)
		}
		c.mu.Unlock()
	}
}

// follow is told of every step. Those of a Map Run's child executions change its execution's page, too, whose ARN they
// do not have: they are told to those who look at everything.
func (c *changes) follow(x *journal.Execution, _ []history.Event) {
	if c.watched.Load() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	tell(c.of[x.ARN])
	tell(c.of[""])
}

// end tells all who look that there is nothing more to come.
func (c *changes) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range c.of {
		for ch := range of {
			close(ch)
		}
	}
	c.of, c.over = nil, true
}

func tell(who map[chan struct{}]bool) {
	for ch := range who {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
