// Package lanes runs deliveries by target, so that a target that hangs delays no other one. Each target has a lane with
// places for a number of deliveries at a time. A lane always has its first place; the further ones are taken from a
// number that all lanes share, in turn.
//
// A delivery that waits for its time or for a place is a value in memory, without a goroutine. The owner stores what it
// has accepted; Reserve bounds how much that is, by lane and in total. EventBridge, Scheduler, SNS, the subscriptions
// of log groups and Lambda's asynchronous invocations share this package.
package lanes

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"stepback/engine/clock"
)

// Options are the settings of Lanes. Clock and Run are required.
type Options[J any] struct {
	Clock *clock.Clock
	// Run makes a delivery. It reports errors itself, and calls At if the delivery is to be repeated. ctx ends when the
	// lanes are closed, and belongs to work that holds the clock.
	Run func(ctx context.Context, job J)
	// Waiting returns the form in which a delivery waits for a place; nil keeps it unchanged. With it, the owner can
	// keep in memory only what it needs to read the rest from its store.
	Waiting func(job J) J
	// Places is the maximum number of concurrent deliveries of a lane, 64 by default. Shared is the number that all
	// lanes may have together besides one each, 1024 by default.
	Places, Shared int
	// Patience is the real time for which a delivery holds virtual time; 0 means until it ends.
	Patience time.Duration
	// PerLane and Total bound the deliveries that are accepted and have not ended, of one lane and of all. The defaults
	// are defaultPerLane and defaultTotal.
	PerLane, Total Bound
}

// Bound is a number of deliveries, and of the bytes that they store.
type Bound struct {
	Jobs  int
	Bytes int64
}

// The defaults of Options.PerLane and Options.Total. One target cannot use up the total.
var (
	defaultPerLane = Bound{50_000, 512 << 20}
	defaultTotal   = Bound{200_000, 2 << 30}
)

const (
	defaultPlaces = 64
	defaultShared = 1024
)

// Lanes runs deliveries. It is safe for concurrent use.
//
// It is an interface, because the compiler compiles the methods of every generic type that it reaches through the
// fields of a type, in each package that uses that type: through a platform it would reach the lanes of every service.
type Lanes[J any] interface {
	// Close ends the running deliveries and waits for them. No other delivery is made.
	Close()
	// Reserve counts a delivery of a number of bytes before it is accepted. The error is a *FullError. Forget ends the
	// reservation.
	Reserve(lane string, bytes int64) error
	// Restore is Reserve for a delivery that was accepted before: it has no limit.
	Restore(lane string, bytes int64)
	// Resize changes the number of bytes of a reservation, once a delivery that is repeated has been stored again. It
	// has no limit.
	Resize(lane string, from, to int64)
	// Forget ends a reservation, once the delivery has ended or was not accepted.
	Forget(lane string, bytes int64)
	// Reserved returns the number of deliveries that are reserved, of all lanes.
	Reserved() int
	// Delayed returns the number of deliveries that wait for their time.
	Delayed() int
	// At makes a delivery at a time, or as soon as its lane has a place after that.
	At(lane string, when time.Time, job J)
	// Ready makes a delivery as soon as its lane has a place. The deliveries of a lane get their places in the order of
	// the calls.
	Ready(lane string, job J)
}

type lanes[J any] struct {
	o    Options[J]
	ctx  context.Context //nolint:containedctx // it is the lanes' life
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex
	lines   map[string]*line[J]
	delayed map[*delay[J]]struct{}
	short   []*line[J] // lanes that wait for a shared place, in turn
	shared  int        // shared places that are taken
	used    Bound
	closed  bool
}

// line is the state of one lane. It exists while the lane has deliveries.
type line[J any] struct {
	name    string
	ready   []J
	running int
	first   bool // the lane's own place is taken
	short   bool // in lanes.short
	used    Bound
}

// New returns lanes without deliveries.
func New[J any](o Options[J]) Lanes[J] {
	o.Places, o.Shared = cmp.Or(o.Places, defaultPlaces), cmp.Or(o.Shared, defaultShared)
	o.PerLane, o.Total = o.PerLane.or(defaultPerLane), o.Total.or(defaultTotal)
	l := &lanes[J]{o: o, lines: map[string]*line[J]{}, delayed: map[*delay[J]]struct{}{}}
	l.ctx, l.stop = context.WithCancel(context.Background()) //nolint:gosec // Close calls it
	return l
}

func (b Bound) or(d Bound) Bound { return Bound{cmp.Or(b.Jobs, d.Jobs), cmp.Or(b.Bytes, d.Bytes)} }

func (l *lanes[J]) Close() {
	l.mu.Lock()
	l.closed = true
	for d := range l.delayed {
		d.timer.Stop()
	}
	clear(l.delayed)
	l.mu.Unlock()
	l.stop()
	l.work.Wait()
}

// FullError is returned if as many deliveries are waiting as may.
type FullError struct {
	Lane  string // empty if the total is reached
	Bound Bound
}

// Error implements error.
func (e *FullError) Error() string {
	whose := "all targets together"
	if e.Lane != "" {
		whose = e.Lane
	}
	return fmt.Sprintf("the deliveries for %s have reached the limit of %d, or of %d bytes", whose, e.Bound.Jobs,
		e.Bound.Bytes)
}

func (l *lanes[J]) Reserve(lane string, bytes int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of := l.lines[lane]; of != nil && of.used.full(bytes, l.o.PerLane) || (Bound{}).full(bytes, l.o.PerLane) {
		return &FullError{lane, l.o.PerLane}
	}
	if l.used.full(bytes, l.o.Total) {
		return &FullError{"", l.o.Total}
	}
	l.reserve(lane, bytes)
	return nil
}

func (b Bound) full(bytes int64, most Bound) bool {
	return b.Jobs >= most.Jobs || b.Bytes+bytes > most.Bytes
}

func (l *lanes[J]) Restore(lane string, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserve(lane, bytes)
}

func (l *lanes[J]) Resize(lane string, from, to int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used.add(0, to-from)
	l.line(lane).used.add(0, to-from)
}

func (l *lanes[J]) reserve(lane string, bytes int64) {
	l.used.add(1, bytes)
	l.line(lane).used.add(1, bytes)
}

func (b *Bound) add(jobs int, bytes int64) {
	b.Jobs += jobs
	b.Bytes += bytes
}

func (l *lanes[J]) Forget(lane string, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used.add(-1, -bytes)
	of := l.line(lane)
	of.used.add(-1, -bytes)
	l.tidy(of)
}

func (l *lanes[J]) Reserved() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used.Jobs
}

func (l *lanes[J]) Delayed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.delayed)
}

// delay is a delivery that waits for its time.
type delay[J any] struct {
	of    *lanes[J]
	lane  string
	job   J
	timer *clock.Timer
}

// Ring implements clock.Alarm.
func (d *delay[J]) Ring() {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	delete(d.of.delayed, d)
	d.of.ready(d.lane, d.job)
}

func (l *lanes[J]) At(lane string, when time.Time, job J) {
	if l.o.Waiting != nil {
		job = l.o.Waiting(job)
	}
	d := &delay[J]{of: l, lane: lane, job: job}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.delayed[d] = struct{}{}
	d.timer = l.o.Clock.Schedule(when, d)
}

func (l *lanes[J]) Ready(lane string, job J) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ready(lane, job)
}

func (l *lanes[J]) ready(lane string, job J) {
	if l.closed {
		return
	}
	of := l.line(lane)
	switch {
	case !of.first:
		of.first = true
		l.start(of, false)
	case of.running < l.o.Places && l.shared < l.o.Shared && len(l.short) == 0:
		l.start(of, true)
	default:
		if l.o.Waiting != nil {
			job = l.o.Waiting(job)
		}
		if of.running < l.o.Places {
			l.queue(of)
		}
	}
	of.ready = append(of.ready, job)
}

func (of *line[J]) pop() J {
	var none J
	job := of.ready[0]
	of.ready[0] = none
	of.ready = of.ready[1:]
	return job
}

// queue lets a lane wait for a shared place. mu is held.
func (l *lanes[J]) queue(of *line[J]) {
	if !of.short {
		of.short = true
		l.short = append(l.short, of)
	}
}

// line returns the lane with a name. mu is held.
func (l *lanes[J]) line(name string) *line[J] {
	of := l.lines[name]
	if of == nil {
		of = &line[J]{name: name}
		l.lines[name] = of
	}
	return of
}

// tidy removes a lane without deliveries. mu is held.
func (l *lanes[J]) tidy(of *line[J]) {
	if of.running == 0 && len(of.ready) == 0 && of.used.Jobs == 0 && !of.short {
		delete(l.lines, of.name)
	}
}

// start starts a worker. mu is held.
func (l *lanes[J]) start(of *line[J], shared bool) {
	of.running++
	if shared {
		l.shared++
	}
	l.o.Clock.Hold()
	l.work.Go(func() { l.serve(of, shared) })
}

// serve makes deliveries of a lane until none is ready or another lane needs the place.
func (l *lanes[J]) serve(of *line[J], shared bool) {
	ctx, work := l.o.Clock.Begin(l.ctx, l.o.Patience)
	l.o.Clock.Release()
	defer func() { work.End() }()
	for first := true; ; first = false {
		job, ok := l.next(of, shared, first)
		if !ok {
			return
		}
		if !first { // each delivery has a patience of its own, and virtual time is held between them
			was := work
			ctx, work = l.o.Clock.Begin(l.ctx, l.o.Patience)
			was.End()
		}
		l.o.Run(ctx, job)
	}
}

// next returns the next delivery of a worker. If there is none, ok is false and the worker's place is free. The first
// one is due to the worker even if other lanes need the place.
func (l *lanes[J]) next(of *line[J], shared, first bool) (job J, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed && len(of.ready) > 0 && (first || !shared || len(l.short) == 0) {
		return of.pop(), true
	}
	of.running--
	if shared {
		l.shared--
	} else {
		of.first = false
	}
	if len(of.ready) > 0 {
		l.queue(of)
	}
	for !l.closed && l.shared < l.o.Shared && len(l.short) > 0 {
		other := l.short[0]
		l.short = l.short[1:]
		other.short = false
		if len(other.ready) > 0 && other.running < l.o.Places {
			l.start(other, true)
			if len(other.ready) > 1 && other.running < l.o.Places {
				l.queue(other)
			}
		}
		l.tidy(other)
	}
	l.tidy(of)
	return job, false
}
