package simulation

import (
	"fmt"
	"math"
	"time"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/limiter"
	"stepback/adaptive/pacing"
)

// redrive begins dead letters again; see [policy.Redrive].
type redrive struct {
	*policy.Redrive
	letters []letter
	pace    *pacing.Pace // nil unless the pace is learned
	next    int64        // when the next letter may begin at a given rate
	on      bool
	due     bool                    // a redriveDue event is scheduled
	running map[uint32]redriven     // by record
	calm    time.Duration           // for how long few records became dead letters
	ended   struct{ all, dead int } // records in this step, without redriven ones
}

// letter is a dead letter: what is kept of its record.
type letter struct {
	index, before uint32
	workload      uint16
	redrives      uint8
	phase         Phase
	counted       bool
	arrived       int64
}

// redriven is a dead letter that has begun again.
type redriven struct {
	permit limiter.Permit
	began  int64
}

// A step is calm if at most this share of the records that ended became dead letters.
const calmShare = 0.1

func newRedrive(r *run) *redrive {
	d := &redrive{Redrive: r.Policy.Redrive, running: map[uint32]redriven{}}
	if d.Rate == 0 {
		pace, err := pacing.NewPace(pacing.Careful())
		if err != nil {
			panic(fmt.Sprintf("simulation: the default pace is refused: %v", err))
		}
		d.pace = pace
	}
	r.heap.push(int64(BinWidth), redriveStep, 0)
	return d
}

// kept records the end of a record. It returns true if the record is a dead letter that may be redriven: it is then
// neither done nor dead.
func (r *run) kept(slot uint32, w *workload, done bool) bool {
	d, x := r.redrive, &r.records[slot]
	if d == nil || w.policy != r.Policy {
		return false
	}
	if begun, ok := d.running[slot]; ok {
		delete(d.running, slot)
		if d.pace != nil {
			d.pace.Ended(r.time(), begun.permit, time.Duration(r.now-begun.began), done)
		}
		r.scheduleRedrive(r.now)
	} else {
		d.ended.all++
		if !done {
			d.ended.dead++
		}
	}
	if done || int(x.redrives) >= d.Attempts {
		return false
	}
	d.letters = append(d.letters, letter{
		index: x.index, before: x.before + x.asked, workload: x.workload, redrives: x.redrives, phase: x.phase,
		counted: x.counted, arrived: x.arrived,
	})
	return true
}

// judgeRedrive ends a step: it starts a redrive if the last steps were calm.
func (r *run) judgeRedrive() {
	d := r.redrive
	switch {
	case d.ended.all == 0 && r.opened(): // not known
	case float64(d.ended.dead) > calmShare*float64(d.ended.all):
		d.calm = 0
	default:
		d.calm += BinWidth
	}
	d.ended.all, d.ended.dead = 0, 0
	switch {
	case d.on:
		r.scheduleRedrive(r.now)
	case d.calm >= d.Quiet && len(d.letters) > 0:
		d.on = true
		r.scheduleRedrive(r.now)
	}
	if r.now < int64(r.Scenario.Duration) || d.on || len(d.letters) > 0 || r.opened() {
		r.heap.push(r.now+int64(BinWidth), redriveStep, 0)
	}
}

// opened reports whether any record is neither done nor dead.
func (r *run) opened() bool {
	for i := range r.workloads {
		if r.workloads[i].open > 0 {
			return true
		}
	}
	return false
}

func (r *run) scheduleRedrive(at int64) {
	if d := r.redrive; d.on && !d.due {
		d.due = true
		r.heap.push(at, redriveDue, 0)
	}
}

// beginRedrives begins as many dead letters as the rate allows now. The redrive is over when none is left.
func (r *run) beginRedrives() {
	d := r.redrive
	d.due = false
	if math.IsInf(d.Rate, 1) && len(d.running) > 0 {
		return
	}
	for n := len(d.letters); n > 0; n-- { // those that end at once are not begun again at once
		permit, ok := d.admit(r)
		if !ok {
			return
		}
		l := d.letters[0]
		d.letters = d.letters[1:]
		r.reopen(l, permit)
	}
	if len(d.running) == 0 || math.IsInf(d.Rate, 1) {
		d.on, d.calm = false, 0
	}
}

// admit asks for the beginning of a dead letter. If it may begin later, it schedules that.
func (d *redrive) admit(r *run) (limiter.Permit, bool) {
	switch {
	case d.pace != nil:
		permit, ok := d.pace.Begin(r.time())
		if next := d.pace.Next(); !ok && next.After(r.time()) {
			r.scheduleRedrive(r.now + int64(next.Sub(r.time())))
		}
		return permit, ok
	case r.now < d.next:
		r.scheduleRedrive(d.next)
		return limiter.Permit{}, false
	default:
		d.next = r.now + int64(float64(time.Second)/d.Rate)
		return limiter.Permit{}, true
	}
}

// reopen begins a dead letter as a new execution.
func (r *run) reopen(l letter, permit limiter.Permit) {
	w := &r.workloads[l.workload]
	slot := r.slot()
	r.records[slot] = record{
		index: l.index, workload: l.workload, version: uint16(len(w.versions) - 1), request: none, arrived: l.arrived,
		phase: l.phase, counted: l.counted, redrives: l.redrives + 1, before: l.before,
	}
	w.open += w.size(l.index)
	r.redrive.running[slot] = redriven{permit, r.now}
	r.begin(slot)
}

// abandonLetters counts the dead letters that are left at the end of the run as dead.
func (r *run) abandonLetters() {
	if r.redrive == nil {
		return
	}
	for _, l := range r.redrive.letters {
		x := record{phase: l.phase, counted: l.counted, arrived: l.arrived}
		r.measure.closed(r.now, &x, r.workloads[l.workload].size(l.index), false)
	}
	r.redrive.letters = nil
}
