package local

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/console"
)

// changes notifies open pages when an execution has made a step. The engine never waits for it. For a page that was
// notified and has not asked again, changes does next to nothing.
type changes struct {
	armed    atomic.Int64                          // number of watchers to be notified
	watchers atomic.Pointer[map[string][]*watcher] // by ARN of an execution or a Map Run; all under ""
	mu       sync.Mutex                            // guards updates of the map, which is replaced as a whole
	ended    chan struct{}
	end      func()
}

func newChanges() *changes {
	c := &changes{ended: make(chan struct{})}
	c.end = sync.OnceFunc(func() { close(c.ended) })
	c.watchers.Store(&map[string][]*watcher{})
	return c
}

// watcher is an open page that watches executions.
type watcher struct {
	changed chan struct{} // capacity of one
	told    atomic.Bool
}

// watch registers a page for steps of the given executions and of all child executions of the given Map Runs. If no
// ARN is given, the page is registered for all executions.
func (c *changes) watch(of []string) console.Watch {
	if len(of) == 0 {
		of = []string{""}
	}
	w := &watcher{changed: make(chan struct{}, 1)}
	c.change(func(m map[string][]*watcher) {
		for _, arn := range of {
			m[arn] = append(slices.Clone(m[arn]), w)
		}
	})
	c.armed.Add(1)
	return console.Watch{Changed: w.changed, Ended: c.ended,
		Again: func() {
			if w.told.CompareAndSwap(true, false) {
				c.armed.Add(1)
			}
		},
		Stop: func() {
			if w.told.CompareAndSwap(false, true) {
				c.armed.Add(-1)
			}
			c.change(func(m map[string][]*watcher) {
				for _, arn := range of {
					m[arn] = slices.DeleteFunc(slices.Clone(m[arn]), func(other *watcher) bool { return other == w })
					if len(m[arn]) == 0 {
						delete(m, arn)
					}
				}
			})
		}}
}

func (c *changes) change(do func(map[string][]*watcher)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := maps.Clone(*c.watchers.Load())
	do(m)
	c.watchers.Store(&m)
}

// follow notifies the pages that watch an execution. Workers of the engine call it for every step.
func (c *changes) follow(x *journal.Execution, _ []history.Event) {
	if c.armed.Load() == 0 {
		return
	}
	m := *c.watchers.Load()
	c.tell(m[x.ARN])
	if x.MapRunARN != "" {
		c.tell(m[x.MapRunARN])
	}
	c.tell(m[""])
}

func (c *changes) tell(who []*watcher) {
	for _, w := range who {
		if !w.told.Load() && w.told.CompareAndSwap(false, true) {
			c.armed.Add(-1)
			select {
			case w.changed <- struct{}{}:
			default:
			}
		}
	}
}
