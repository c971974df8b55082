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

// world decides what happens next in a simulation of the whole engine. Everything that takes time outside the
// engine (a step on its way to the journal, a sync of the disk, a task about to start) waits in the world. Once
// nothing else can run, the world releases one waiter, by draw. It runs inside a testing/synctest bubble, which
// detects that nothing else can run. So the order in which the engine's goroutines run does not matter, and one
// seed is one run.
type world struct {
	*draws
	clock *clock.Clock // clock of the current process

	mu      sync.Mutex
	waiting []*waiter
	dead    bool     // the process has died: nothing waits any more
	trace   []string // what happened, in order
}

// waiter waits for its turn.
type waiter struct {
	key  string
	turn chan bool // true if it is its turn, false if the process has died
	act  func()    // called instead of waking a goroutine; may be nil
}

func newWorld(d *draws) *world { return &world{draws: d} }

// wait blocks until it is the caller's turn; it returns false if the process has died meanwhile. The key identifies
// the waiter and must not depend on the order in which goroutines run.
func (w *world) wait(key string) bool {
	turn := make(chan bool, 1)
	return w.join(&waiter{key: key, turn: turn}) && <-turn
}

// later calls act in its turn, unless the process dies before.
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

// idle is the amount of the bubble's time that may pass without any possible event before that counts as a failure.
// Pebble's and the journal's own timers fire meanwhile.
const idle = time.Minute

// next releases one waiter and returns when nothing can run any more. It reports whether there was a waiter.
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
	w.clock.Hold() // otherwise it would be random whether time jumps first or cancelled tasks wake up
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

// quiet reports whether there are no waiters.
func (w *world) quiet() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting) == 0
}

// pass lets time pass outside the engine, whose virtual time stands still meanwhile.
func (w *world) pass(d time.Duration) {
	<-time.NewTimer(d).C // the bubble's time: it takes no real time
	synctest.Wait()
}

// die wakes all waiters because the process dies.
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

// rise lets the next process start, with its own clock.
func (w *world) rise(c *clock.Clock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead, w.clock = false, c
}

// note adds an entry to the trace. mu must be held, or nothing else may be running.
func (w *world) note(format string, a ...any) { w.trace = append(w.trace, fmt.Sprintf(format, a...)) }
