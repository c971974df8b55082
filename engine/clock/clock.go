// Package clock is the one source of time for everything that waits. It has three forms behind one type: real time,
// time that runs faster or slower than real (Scaled), and virtual time, which stands still while anything can run and
// jumps to the next timer when nothing can. It never decides what to do when a timer rings.
package clock

import (
	"container/heap"
	"sync"
	"time"
)

// Alarm is what a timer rings. Ring runs on the clock's own goroutine: it must be quick and must not wait for the
// clock.
type Alarm interface{ Ring() }

// AlarmFunc makes an Alarm of a function.
type AlarmFunc func()

// Ring implements Alarm.
func (f AlarmFunc) Ring() { f() }

// Clock tells the time and rings timers. It owns one goroutine, which Close ends and waits for.
type Clock struct {
	mode   mode
	scale  float64
	start  time.Time // real start of the clock
	steady steady    // the real time of a clock that is not scaled

	mu     sync.Mutex
	timers timers
	active int // timers that are not in the background
	seq    uint64
	now    time.Time // virtual time
	holds  int       // virtual: how many pieces of work can run right now
	wake   chan struct{}
	quit   chan struct{}
	done   chan struct{}
	once   sync.Once
}

// longestSleep is how soon a clock that is set forward, or a machine that slept, is noticed while nothing else happens.
const longestSleep = 10 * time.Second

type mode uint8

const (
	realTime mode = iota
	virtualTime
)

// Real returns a clock that follows the machine's. When that is set back, this one goes on from where it was, so that
// time never goes back and waits take as long as they should; when that is set forward, or the machine slept, this one
// goes along.
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

// Hold keeps virtual time still until the matching Release. Whatever is able to run holds the clock: a queued event, a
// task that is being carried out. On a real clock it does nothing.
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
	idle := c.holds == 0 && c.active > 0
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

// Timer is one scheduled ring.
type Timer struct {
	clock *Clock
	at    time.Time
	seq   uint64
	alarm Alarm
	index int // place in the heap, -1 when not in it

	background bool
}

// Schedule rings the alarm at the given time, at once if it has passed. Timers for the same instant ring in the order
// in which they were scheduled.
func (c *Clock) Schedule(at time.Time, a Alarm) *Timer {
	return c.schedule(&Timer{clock: c, at: at, alarm: a})
}

// ScheduleInBackground is Schedule for a limit that hardly anything reaches. It rings in its turn, but virtual time
// does not jump for its sake: with nothing else to come, time stands still until somebody outside does something.
func (c *Clock) ScheduleInBackground(at time.Time, a Alarm) *Timer {
	return c.schedule(&Timer{clock: c, at: at, alarm: a, background: true})
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

// Stop cancels the timer. It reports whether the timer had not rung yet.
func (t *Timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	if t.index < 0 {
		return false
	}
	heap.Remove(&t.clock.timers, t.index)
	t.clock.count(t, -1)
	return true
}

// count counts a timer that came or went.
func (c *Clock) count(t *Timer, n int) {
	if !t.background {
		c.active += n
	}
}

// Close stops the clock: no timer rings afterwards. It waits for a ring that is under way.
func (c *Clock) Close() {
	c.once.Do(func() { close(c.quit) })
	<-c.done
}

func (c *Clock) run() {
	defer close(c.done)
	sleep := time.NewTimer(time.Hour)
	defer sleep.Stop()
	for {
		t, wait := c.next()
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

// next takes the timer that is due, holding the clock for its ring, or says how long to wait for one.
func (c *Clock) next() (*Timer, time.Duration) {
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
		wait := min(float64(d)/c.scale, float64(longestSleep)) // on a slow clock more than a Duration holds
		return nil, max(time.Duration(wait), time.Microsecond)
	}
	return c.take(), 0
}

// take takes the first timer out of the heap.
func (c *Clock) take() *Timer {
	t := heap.Pop(&c.timers).(*Timer)
	c.count(t, -1)
	return t
}
