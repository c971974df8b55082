package simulation

import (
	"time"
)

// Phase is a part of a run.
type Phase uint8

// The phases: Before the first fault, During a fault, After a fault (also between faults), and Drain after the
// duration.
const (
	Before Phase = iota
	During
	After
	Drain
	phases
)

// String returns the phase's name in reports.
func (p Phase) String() string { return [...]string{"before", "during", "after", "drain"}[p] }

// BinWidth is the width of the bins of a [Series].
const BinWidth = 10 * time.Second

// Bin counts the events within BinWidth: records that arrived (Offered), records that were done (Done), and calls
// (Calls).
type Bin struct{ Offered, Done, Calls int32 }

// refusedFor is the run time of a function that refuses to call. It returns within 100 ms, the smallest time worth
// counting.
const refusedFor = 100 * time.Millisecond

// A run has recovered if goodput is at least recoveryShare of the offered rate in recoveryBins consecutive bins.
const (
	recoveryBins  = 6
	recoveryShare = 0.9
)

// tally counts within one phase. Records count in the phase in which they arrive, calls in the phase in which they
// start.
type tally struct {
	offered, done, dead, calls, finished int64
	seconds                              float64
}

// measure holds everything that is counted during a run.
type measure struct {
	warmup, duration int64
	phase            Phase
	tallies          [phases]tally
	phaseSince       int64
	faultsOn         int
	lastFaultEnd     int64 // end of the last fault of a service; -1 before the first
	random           bool  // windows of faults are random
	faulty           []window
	faultsOfServices int // services' faults that are on
	callsDuring      int64

	bins      []Bin
	latencies []float32

	arrivedTotal, doneTotal, deadTotal int64 // including the warm-up

	offeredCount, doneCount, deadCount  int64
	doneInTime                          int64 // by the end of the duration
	firsts, calls                       int64
	transitions, invocations            int64
	gbSeconds                           float64
	work, wasted                        float64
	changes, reversals                  int
	firstCountedArrival, lastCountedEnd int64
}

func (m *measure) bin(at int64) *Bin {
	i := int(at / int64(BinWidth))
	for i >= len(m.bins) {
		m.bins = append(m.bins, Bin{})
	}
	return &m.bins[i]
}

func (m *measure) offered(now int64, x *record, size int) {
	m.arrivedTotal += int64(size)
	m.bin(now).Offered += int32(size)
	if !x.counted {
		return
	}
	if m.offeredCount == 0 {
		m.firstCountedArrival = now
	}
	m.offeredCount += int64(size)
	m.tallies[x.phase].offered += int64(size)
}

func (m *measure) transition(x *record) {
	if x.counted {
		m.transitions++
	}
}

func (m *measure) called(now int64, x *record, s *service) {
	m.bin(now).Calls++
	if !x.counted {
		return
	}
	m.calls++
	if x.calls == 1 && x.before == 0 {
		m.firsts++
	}
	m.tallies[m.phase].calls++
	if len(s.active) > 0 {
		m.callsDuring++
	}
}

// answered counts the function's run time for one call.
func (m *measure) answered(x *record, memoryMB int, took int64) {
	if x.counted && memoryMB > 0 {
		m.invocations++
		m.gbSeconds += float64(memoryMB) / 1024 * time.Duration(took).Seconds()
	}
}

// refused counts the function's run time for one refusal.
func (m *measure) refused(x *record, memoryMB int) {
	if x.counted && memoryMB > 0 {
		m.invocations++
		m.gbSeconds += float64(memoryMB) / 1024 * refusedFor.Seconds()
	}
}

// worked counts server time. left is true if the caller had given up by the end of the request.
func (m *measure) worked(now int64, seconds float64, left bool) {
	if now < m.warmup {
		return
	}
	m.work += seconds
	if left {
		m.wasted += seconds
	}
}

func (m *measure) closed(now int64, x *record, size int, done bool) {
	if done {
		m.doneTotal += int64(size)
		m.bin(now).Done += int32(size)
	} else {
		m.deadTotal += int64(size)
	}
	if !x.counted {
		return
	}
	m.lastCountedEnd = now
	if !done {
		m.deadCount += int64(size)
		m.tallies[x.phase].dead += int64(size)
		return
	}
	m.doneCount += int64(size)
	m.tallies[x.phase].done += int64(size)
	m.tallies[m.phase].finished += int64(size)
	if now <= m.duration {
		m.doneInTime += int64(size)
	}
	m.latencies = append(m.latencies, float32(time.Duration(now-x.arrived).Seconds()))
}

// enter changes the phase.
func (m *measure) enter(now int64, p Phase) {
	if from := max(m.phaseSince, m.warmup); now > from {
		m.tallies[m.phase].seconds += time.Duration(now - from).Seconds()
	}
	m.phase, m.phaseSince = p, now
}

func (m *measure) faultTurned(now int64, on bool, service int) {
	if service >= 0 {
		m.serviceFaultTurned(now, on)
	}
	if on {
		m.faultsOn++
		if m.phase != Drain {
			m.enter(now, During)
		}
		return
	}
	m.faultsOn--
	if service >= 0 {
		m.lastFaultEnd = now
	}
	if m.faultsOn == 0 && m.phase != Drain {
		m.enter(now, After)
	}
}

// serviceFaultTurned keeps the windows in which at least one fault of a service is on.
func (m *measure) serviceFaultTurned(now int64, on bool) {
	if on {
		if m.faultsOfServices++; m.faultsOfServices == 1 {
			m.faulty = append(m.faulty, window{from: now})
		}
		return
	}
	if m.faultsOfServices--; m.faultsOfServices == 0 {
		m.faulty[len(m.faulty)-1].to = now
	}
}
