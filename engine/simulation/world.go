package simulation

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"stepback/engine/clock"
)

// world decides what happens next in a simulation of the whole engine. Everything that takes time outside of the engine
// (a step on its way to the journal, a sync of the disk, a task that is about to begin) waits in the world, and the
// world lets one go on at a time, by draw, once nothing else can run. It lives inside a bubble of testing/synctest,
// which knows when that is. So the order in which the goroutines of the engine run decides nothing, and one seed is one
// run.
type world struct {
	*draws
	clock *clock.Clock // of the process that lives

	mu      sync.Mutex
	waiting []*waiter
	dead    bool     // the process has died: nothing waits any more
	trace   []string // what went on, in order
}

// waiter is one that waits for its turn.
type waiter struct {
	key  string
	turn chan bool // true when it is its turn, false when the process has died
	act  func()    // in place of a goroutine that waits; may be nil
}

func newWorld(d *draws) *world { return &world{draws: d} }

// wait blocks until it is the caller's turn; false means that the process has died meanwhile. The key tells waiters
// apart: it must not depend on the order in which goroutines run.
func (w *world) wait(key string) bool {
	turn := make(chan bool, 1)
	return w.join(&waiter{key: key, turn: turn}) && <-turn
}

// later has something done in its turn, unless the process dies before.
func (w *world) later(key string, act func()) { w.join(&waiter{key: key, act: act}) }

func (w *world) join(x *waiter) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return false
	}
	w.waiting = append(w.waiting, x)
	return true
}

// idle is how much of the bubble's time passes without anything that could happen before that is a failure. Pebble's
// and the journal's own timers ring meanwhile.
const idle = time.Minute

// next lets one waiter go on, and returns when nothing can run any more. It reports whether there was one.
func (w *world) next() bool {
	synctest.Wait()
	w.mu.Lock()
	if len(w.waiting) == 0 {
		w.mu.Unlock()
		return false
	}
	slices.SortStableFunc(w.waiting, func(a, b *waiter) int { return strings.Compare(a.key, b.key) })
	i := w.Intn(len(w.waiting))
	x := w.waiting[i]
	w.waiting = slices.Delete(w.waiting, i, i+1)
	w.note("%s", x.key)
	w.mu.Unlock()
	w.clock.Hold() // or whether time jumps first, or what was cancelled wakes up, would be chance
	if x.act != nil {
		x.act()
	} else {
		x.turn <- true
	}
	synctest.Wait()
	w.clock.Release()
	synctest.Wait()
	return true
}

// quiet reports whether nobody waits.
func (w *world) quiet() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting) == 0
}

// pass lets time pass outside of the engine, whose virtual time stands still meanwhile.
func (w *world) pass(d time.Duration) {
	<-time.NewTimer(d).C // of the bubble: it takes no time
	synctest.Wait()
}

// die lets nobody wait any more.
func (w *world) die() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
	for _, x := range w.waiting {
		if x.turn != nil {
			x.turn <- false
		}
	}
	w.waiting = nil
}

// rise lets the next process begin, with a clock of its own.
func (w *world) rise(c *clock.Clock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead, w.clock = false, c
}

// note writes down what happens. mu is held, or nothing else runs.
func (w *world) note(format string, a ...any) { w.trace = append(w.trace, fmt.Sprintf(format, a...)) }
