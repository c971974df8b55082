// Package clock is the only source of time for everything that waits. One type implements three kinds of time: real
// time, time that runs faster or slower than real time (Scaled), and virtual time. Virtual time stands still while
// anything can run, and jumps to the next timer when nothing can. The package never decides what happens when a
// timer fires.
package clock

import (
	"container/heap"
	"sync"
	"time"
)

// Alarm is called by a timer. Ring runs on the clock's own goroutine: it must be quick and must not wait for the
// clock.
type Alarm interface{ Ring() }

// AlarmFunc is a function used as an Alarm.
type AlarmFunc func()

// Ring implements Alarm.
func (f AlarmFunc) Ring() { f() }

// Clock keeps the time and fires timers. It has one goroutine; Close stops it and waits for its end.
type Clock struct {
	mode   mode
	scale  float64
	start  time.Time // real time at which the clock was started
	steady steady    // real time for a clock that is not scaled

	mu     sync.Mutex
	timers timers
	active int // number of timers that are not in the background
	seq    uint64
	now    time.Time // current virtual time
	holds  int       // virtual time: the number of holds, each for work that can run now
	wake   chan struct{}
	quit   chan struct{}
	done   chan struct{}
	once   sync.Once
}

// longestSleep limits how long the clock takes to notice that the system clock was set forward or the machine
// slept, if nothing else happens.
const longestSleep = 10 * time.Second

type mode uint8

const (
	realTime mode = iota
	virtualTime
)

// Real returns a clock that follows the system clock. If the system clock is set back, this clock continues from
// its own time, so that time never goes back and waits are not prolonged. If the system clock is set forward, or
// the machine slept, this clock follows.
func Real() *Clock { return open(realTime, 1, time.Now()) }

// Scaled returns a clock on which factor seconds pass in each real second; factor must be positive.
func Scaled(factor float64) *Clock { return open(realTime, factor, time.Now()) }

// Virtual returns a clock that starts at the given instant and jumps to its next timer whenever nothing holds it.
func Virtual(start time.Time) *Clock { return open(virtualTime, 1, start) }

func open(m mode, scale float64, start time.Time) *Clock {
	c := &Clock{
		mode: m, scale: scale, start: time.Now(), now: start, steady: steady{read: sinceNow()},
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go c.run()
	return c
}

// IsVirtual reports whether the clock's time is virtual.
func (c *Clock) IsVirtual() bool { return c.mode == virtualTime }

// Now returns the current time in UTC.
func (c *Clock) Now() time.Time {
	if c.mode == realTime {
		if c.scale == 1 {
			return c.steady.now()
		}
		return c.start.Add(time.Duration(float64(time.Since(c.start)) * c.scale)).UTC()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now.UTC()
}

// Hold stops virtual time until the matching Release. Everything that can run holds the clock: a queued event, a
// running task. On a real clock it does nothing.
func (c *Clock) Hold() {
	if c.mode == realTime {
		return
	}
	c.mu.Lock()
	c.holds++
	c.mu.Unlock()
}

// Release ends a Hold.
func (c *Clock) Release() {
	if c.mode == realTime {
		return
	}
	c.mu.Lock()
	c.holds--
	if c.holds < 0 {
		c.mu.Unlock()
		panic("clock: Release without Hold")
	}
	// A background timer does not advance the time, but it may be due because another timer has.
	idle := c.holds == 0 && (c.active > 0 || len(c.timers) > 0 && !c.timers[0].at.After(c.now))
	c.mu.Unlock()
	if idle {
		c.poke()
	}
}

func (c *Clock) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Timer is one scheduled call of an Alarm.
type Timer struct {
	clock *Clock
	at    time.Time
	seq   uint64
	alarm Alarm
	index int // index in the heap; -1 if not in it

	background bool
	patience   *time.Timer // ends the background in real time; nil if nothing does
}

// Schedule calls the alarm at the given time, or at once if it has passed. Timers for the same instant fire in the
// order in which they were scheduled.
func (c *Clock) Schedule(at time.Time, a Alarm) *Timer {
	return c.schedule(&Timer{clock: c, at: at, alarm: a})
}

// ScheduleInBackground is like Schedule, for a limit that is rarely reached. The timer fires in its turn, but
// virtual time does not jump to it. If no other timer is scheduled, time stands still until there is outside
// activity.
func (c *Clock) ScheduleInBackground(at time.Time, a Alarm) *Timer {
	return c.schedule(&Timer{clock: c, at: at, alarm: a, background: true})
}

// ScheduleAfterPatience is like ScheduleInBackground until patience has passed in real time, and then like Schedule. It
// is for a limit that only an answer from outside the process prevents: virtual time stands still while the answer may
// still come, and advances to the limit if it does not.
func (c *Clock) ScheduleAfterPatience(at time.Time, patience time.Duration, a Alarm) *Timer {
	t := c.schedule(&Timer{clock: c, at: at, alarm: a, background: true})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mode == virtualTime && t.index >= 0 {
		t.patience = time.AfterFunc(patience, t.foreground)
	}
	return t
}

// foreground lets virtual time jump to a timer that was in the background.
func (t *Timer) foreground() {
	c := t.clock
	c.mu.Lock()
	pending := t.index >= 0 && t.background
	if pending {
		t.background = false
		c.active++
	}
	c.mu.Unlock()
	if pending {
		c.poke()
	}
}

func (c *Clock) schedule(t *Timer) *Timer {
	c.mu.Lock()
	c.seq++
	t.seq = c.seq
	heap.Push(&c.timers, t)
	c.count(t, 1)
	due := c.mode == virtualTime && c.holds == 0 || c.mode == realTime &&
		t.index == 0 // a background timer may be first in virtual time
	c.mu.Unlock()
	if due {
		c.poke()
	}
	return t
}

// Stop cancels the timer. It reports whether the timer was still pending.
func (t *Timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	if t.index < 0 {
		return false
	}
	heap.Remove(&t.clock.timers, t.index)
	t.clock.count(t, -1)
	t.endPatience()
	return true
}

// count adds n to the number of active timers, unless t is in the background.
func (c *Clock) count(t *Timer, n int) {
	if !t.background {
		c.active += n
	}
}

// endPatience is called with the clock's lock held.
func (t *Timer) endPatience() {
	if t.patience != nil {
		t.patience.Stop()
	}
}

// Close stops the clock: no timer fires afterwards. It waits for an alarm that is running.
func (c *Clock) Close() {
	c.once.Do(func() { close(c.quit) })
	<-c.done
}

func (c *Clock) run() {
	defer close(c.done)
	sleep := time.NewTimer(time.Hour)
	defer sleep.Stop()
	for {
		t, wait := c.nextDue()
		if t != nil {
			t.alarm.Ring()
			c.Release()
			continue
		}
		sleep.Reset(wait)
		select {
		case <-c.quit:
			return
		case <-c.wake:
		case <-sleep.C:
		}
	}
}

// nextDue removes the timer that is due, and holds the clock for its alarm. If none is due, it returns how long to
// wait for the next one.
func (c *Clock) nextDue() (*Timer, time.Duration) {
	select {
	case <-c.quit:
		return nil, time.Hour
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return nil, time.Hour
	}
	t := c.timers[0]
	if c.mode == virtualTime {
		if c.holds > 0 || c.active == 0 && t.at.After(c.now) {
			return nil, time.Hour
		}
		if t.at.After(c.now) {
			c.now = t.at
		}
		c.holds++
		return c.take(), 0
	}
	now := c.steady.now()
	if c.scale != 1 {
		now = c.start.Add(time.Duration(float64(time.Since(c.start)) * c.scale))
	}
	if d := t.at.Sub(now); d > 0 {
		wait := min(float64(d)/c.scale, float64(longestSleep)) // on a slow clock this may exceed a Duration
		return nil, max(time.Duration(wait), time.Microsecond)
	}
	return c.take(), 0
}

// take removes the first timer from the heap.
func (c *Clock) take() *Timer {
	t := heap.Pop(&c.timers).(*Timer)
	c.count(t, -1)
	t.endPatience()
	return t
}
