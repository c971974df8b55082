package simulation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"stepback/adaptive/lab/draw"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/poison"
	"stepback/retry"
)

// MaxCalls is the number of calls after which a run is aborted.
const MaxCalls = 500_000_000

// The purposes of random numbers. Their values must not change, so that reports stay reproducible: add new ones at
// the end.
const (
	forArrivals draw.Purpose = iota + 1
	forServiceTime
	forErrors
	forItemErrors // + index of the error mix
	forFaultErrors
	forJitter
	forDeferral
	forThrottle
	forGilbert
	forObservation
	forModulation
	forProcess
	forPoison
	forPartition
	forColdStart
	forCacheKey
	forTier
	forTierJitter
	forBrief
)

// Options are the parameters of one run.
type Options struct {
	Scenario *scenario.Scenario
	Policy   *policy.Policy
	Seed     uint64
	// Trace is called for every attempt when it ends for the caller. nil is fastest.
	Trace func(Attempt)
	// Refused is called for every call that a gate of the policy refuses. Closed is called for every record that ends,
	// also if it is redriven later. nil is fastest.
	Refused func(Refusal)
	Closed  func(Closing)
	// Jitter replaces the random numbers of the waits before retries. nil draws them from Seed.
	Jitter retry.Rand
	// Within is the time of [Result.Within]; 0 means without limit.
	Within time.Duration
}

// Attempt is one call of a record, as seen by the caller.
type Attempt struct {
	Workload, Item, Number int // Number counts from 1
	Start, End             time.Duration
	Error                  string // empty for a success
}

// Refusal is a call that was not made. The record waits, or ends.
type Refusal struct {
	Workload, Item int
	At             time.Duration
	Open           bool // a breaker refused it; otherwise a limiter or a throttle did
	Brief          bool // a limiter refused it for the moment, and the record waits briefly
}

// Closing is the end of a record.
type Closing struct {
	Workload, Item int
	Arrived, At    time.Duration
	Done           bool // the record succeeded; otherwise it was given up
}

// ErrTooManyCalls is returned if a run is aborted because it makes more than MaxCalls calls.
var ErrTooManyCalls = errors.New("the run makes too many calls")

// errorKind is an error in the simulation. load is true if the callee is overloaded or down.
type errorKind struct {
	name  string
	load  bool
	cause retry.Cause
	// loadByName and overloadByName classify the error by its name alone, because metrics know only the name.
	loadByName, overloadByName bool
}

const none = math.MaxUint32 >> (32 - refBits) // no record, no request

// record is one open record.
type record struct {
	index     uint32 // within its workload
	workload  uint16
	version   uint16 // version of the workload's retriers that applies
	calls     uint32 // calls made
	asked     uint32 // number of times a call or retry was requested, admitted or not
	deferrals uint32
	briefs    uint32
	request   uint32 // the call in flight, or none
	arrived   int64
	began     int64 // start of the call in flight
	phase     Phase
	counted   bool
	redrives  uint8
	before    uint32 // calls made before the last redrive
	permit    permits
	failed    poison.Kind // how the last call failed
}

// attempts is the retry counter of one retrier for one record.
type attempts struct {
	count    uint32
	previous int64
}

// request is one call at a service. It can outlive the caller's timeout.
type request struct {
	record   uint32 // none if the caller has left
	workload uint16
	error    uint16 // the error with which it will end; noError for a success
	index    uint32
	attempt  uint32
	use      uint32 // number of times this slot was used, to distinguish requests
	waits    bool   // waits, or has waited, in the queue since queued
	began    int64  // start of service
	queued   int64
	after    int64  // time until an error; negative: as long as a success
	hit      bool   // answered from the cache
	counted  bool   // made after the warm-up
	refused  bool   // by a quota, a full queue, or CoDel
	service  uint16 // index of its pool
	// parent is the request that made this one, or none. child is the request that it waits for, or none. inner counts
	// its retries of such calls, and waited is the last wait before one.
	parent, child, inner uint32
	waited               time.Duration
	work                 int64 // server time, once started
}

const noError = math.MaxUint16

// deadline is an entry of a timeout ring.
type deadline struct {
	at      int64
	request uint32
	use     uint32
}

type workload struct {
	*scenario.Workload
	caller
	service *service // the first pool of its service
	policy  *policy.Policy
	gates   *gates
	// match holds the index of the matching retrier for each error. versions holds the retriers' policies for each
	// version.
	match    []int16
	versions [][]retry.Policy

	next      int64 // next arrival; math.MaxInt64 if there is none
	arrivals  arrivals
	started   uint32 // records that arrived
	running   int    // child executions of a Map
	limit     int    // its present MaxConcurrency
	open      int    // records of the file not yet done
	finishing int64  // time at which the last record so far ended
}

// run is the state of the whole simulation.
type run struct {
	Options
	now       int64
	heap      eventHeap
	workloads []workload
	services  []service // the pools of all services
	loads     []load    // of the services
	first     []int     // index of each service's first pool, and the number of pools
	callers   []*caller
	clients   map[string]*policy.Policy // the policies of workloads that have their own
	faults    []fault
	errors    []errorKind
	retriers  int // the maximum over all workloads: the stride of counters

	records     []record
	freeRecords []uint32
	counters    []attempts
	requests    []request
	freeRequest []uint32
	stream      draw.Stream

	measure measure
	control *control
	redrive *redrive
	calls   int64
	end     int64
	// delay replaces the waits before retries. Tests use it to check theories that assume exponential waits.
	delay func(*draw.Stream) time.Duration
}

// Run simulates one run to its end. It returns an error if the context ends, if a workload's own policy is not
// available, or [ErrTooManyCalls].
func Run(ctx context.Context, c Options) (*Result, error) {
	r, err := newRun(c)
	if err != nil {
		return nil, err
	}
	return r.finish(ctx)
}

func (r *run) finish(ctx context.Context) (*Result, error) {
	for steps := 0; ; steps++ {
		if steps&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if r.calls > MaxCalls {
				return nil, fmt.Errorf("%s under %s, seed %d: %w than %d", r.Scenario.Name, r.Policy.Name, r.Seed,
					ErrTooManyCalls, MaxCalls)
			}
		}
		if !r.step() { //nolint:contextcheck // the store that gates share is in memory: nothing waits for anything
			return r.result(), nil
		}
	}
}

// step executes the next event. It returns false if no event is left before the end.
func (r *run) step() bool {
	at := int64(math.MaxInt64)
	if len(r.heap.events) > 0 {
		at = r.heap.events[0].at
	}
	source, arrival := -1, false
	for i, c := range r.callers {
		if c.timeouts.size > 0 && c.timeouts.front().at < at {
			at, source, arrival = c.timeouts.front().at, i, false
		}
	}
	for i := range r.workloads {
		w := &r.workloads[i]
		if w.next < at {
			at, source, arrival = w.next, i, true
		}
	}
	if at > r.end {
		return false
	}
	r.now = at
	switch {
	case source < 0:
		r.carryOut(r.heap.pop())
	case arrival:
		r.arrive(&r.workloads[source])
	default:
		r.expire(r.callers[source])
	}
	return true
}

func (r *run) carryOut(e event) {
	switch e.kind() {
	case serviceEnd:
		r.served(e.target())
	case fastFailure:
		r.answered(e.target())
	case retryDue:
		r.begin(e.target())
	case edge:
		r.turn(int(e.target()))
	case mapStart:
		r.fillMap(&r.workloads[e.target()])
	case drainStart:
		r.measure.enter(r.now, Drain)
	case periodEnd:
		r.control.close(r)
	case loadMeasured:
		r.measureLoad(&r.services[e.target()])
	case scaled:
		r.scale(&r.services[e.target()])
	case descends:
		r.descend(e.target())
	case redriveStep:
		r.judgeRedrive()
	case redriveDue:
		r.beginRedrives()
	}
}

// arrive opens the next record of an open stream.
func (r *run) arrive(w *workload) {
	w.next = w.arrivals.next(r, w)
	r.open(w)
}

// fillMap starts child executions up to the Map's limit.
func (r *run) fillMap(w *workload) {
	batch := w.Map.Batch
	for w.running < w.limit && int(w.started)*batch < w.Map.Items {
		w.running++
		r.open(w)
	}
}

// size returns the number of the file's records that one simulated record represents.
func (w *workload) size(index uint32) int {
	if w.Map == nil || w.Map.Batch == 1 {
		return 1
	}
	return min(w.Map.Batch, w.Map.Items-int(index)*w.Map.Batch)
}

// slot returns the place of a new record, with its counters at 0.
func (r *run) slot() uint32 {
	var slot uint32
	if n := len(r.freeRecords); n > 0 {
		slot = r.freeRecords[n-1]
		r.freeRecords = r.freeRecords[:n-1]
	} else {
		slot = uint32(len(r.records))
		r.records = append(r.records, record{})
		for range r.retriers {
			r.counters = append(r.counters, attempts{})
		}
	}
	clear(r.counters[int(slot)*r.retriers : int(slot+1)*r.retriers])
	return slot
}

func (r *run) open(w *workload) {
	slot := r.slot()
	index := w.started
	w.started++
	w.open += w.size(index)
	version := len(w.versions) - 1
	if w.Map != nil {
		version = 0 // a Map's children run the definition with which its Map Run started
	}
	r.records[slot] = record{
		index: index, workload: uint16(r.workloadIndex(w)), version: uint16(version), request: none, arrived: r.now,
		phase: r.measure.phase, counted: r.now >= int64(r.Scenario.Warmup),
	}
	r.measure.offered(r.now, &r.records[slot], w.size(index))
	r.begin(slot)
}

func (r *run) workloadIndex(w *workload) int {
	for i := range r.workloads {
		if w == &r.workloads[i] {
			return i
		}
	}
	return 0
}

// close ends a record, as done or as dead-lettered.
func (r *run) close(slot uint32, w *workload, done bool) {
	x := &r.records[slot]
	if r.Closed != nil {
		r.Closed(Closing{Workload: int(x.workload), Item: int(x.index), Arrived: time.Duration(x.arrived),
			At: time.Duration(r.now), Done: done})
	}
	if r.control != nil && !done {
		r.control.exhausted(x)
	}
	if !r.kept(slot, w, done) {
		r.measure.closed(r.now, x, w.size(x.index), done)
	}
	w.open -= w.size(x.index)
	w.finishing = r.now
	r.freeRecords = append(r.freeRecords, slot)
	if w.Map != nil && x.redrives == 0 {
		w.running--
		r.fillMap(w)
	}
}
