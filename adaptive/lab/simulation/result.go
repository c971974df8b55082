package simulation

import (
	"math"
	"slices"
	"time"

	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/worth"
)

// Result holds the measurements of one run.
type Result struct {
	Seed uint64
	// Values are the metrics in the order of scenario.Metrics. NaN means that a metric does not apply. +Inf means
	// that what a time metric waits for had not happened when the run ended.
	Values []float64
	Phases [phases]PhaseResult
	Bins   []Bin
	// TippedOver is true if the callee tipped over: outside all faults and before the end of the duration, goodput
	// was below half of what arrived in each of 30 consecutive bins (5 minutes), or in each of the last 6. With Maps
	// only it is true if fewer than half of the records were done. The windows of faults include random ones, but not
	// those of false metrics.
	TippedOver bool
	// Within is the share of the records that were done within Options.Within of their arrival; NaN if none arrived. Of
	// a Map with batches it is the share of the batches.
	Within float64
	// Open is the number of records that were neither done nor dead at the end.
	Open int64
	// Check holds sums by which the run can be verified.
	Check Check
	// Loads are the loads of the services, in the order of [scenario.Scenario.Tiers].
	Loads []Load
	// Changes are the changes that the controller made.
	Changes []Change
}

// PhaseResult holds the measurements of one phase. Shares are NaN if nothing arrived.
type PhaseResult struct {
	Seconds, Offered, Success, DeadLettered, Goodput, Calls float64
}

// Check holds sums over the whole run, including the warm-up, for checking the simulation against theory and
// conservation laws.
type Check struct {
	// Arrived, Done, Dead and Open count records: Arrived = Done + Dead + Open.
	Arrived, Done, Dead, Open int64
	// Calls is the number of calls. Asked counts the requests that reached the first service's queue or servers. Of
	// these, Rejected counts those that found the queue full, Dropped those that were dropped from it, and Begun
	// those that were started.
	Calls, Asked, Rejected, Dropped, Begun int64
	// Throttled counts the requests that the first service's quota refused, Cold its cold starts, and Hits the requests
	// answered from its cache.
	Throttled, Cold, Hits int64
	// InService and Queued count the requests at the first service when the run ends.
	InService, Queued int64
	// Waited is the mean wait in the first service's queue, over requests started after the warm-up. Worked is the
	// sum of the service times of the requests that ended. Busy is the integral of the number of busy servers over
	// time. End is the time at which the run ended. All are in seconds.
	Waited, Worked, Busy, End float64
}

// result computes the result from the counts.
func (r *run) result() *Result {
	m := &r.measure
	m.enter(r.now, m.phase)
	r.abandonLetters()
	res := &Result{Seed: r.Seed, Bins: m.bins}
	for i := range r.workloads {
		w := &r.workloads[i]
		res.Check.Open += int64(w.open)
		if w.Map != nil && int64(w.Map.Start) >= m.warmup {
			m.offeredCount += int64(max(0, w.Map.Items-int(w.started)*w.Map.Batch)) // never started
		}
	}
	res.Open = m.offeredCount - m.doneCount - m.deadCount
	for p := range res.Phases {
		t := &m.tallies[p]
		res.Phases[p] = PhaseResult{
			Seconds: t.seconds, Offered: float64(t.offered), Success: ratio(t.done, t.offered),
			DeadLettered: float64(t.dead), Goodput: float64(t.finished) / t.seconds, Calls: float64(t.calls),
		}
		if t.seconds == 0 {
			res.Phases[p].Goodput = math.NaN()
		}
	}
	res.Check.Arrived, res.Check.Done, res.Check.Dead = m.arrivedTotal, m.doneTotal, m.deadTotal
	res.Check.Calls = r.calls
	r.checkPools(&res.Check)
	res.Loads = r.loadsOf()
	res.Check.End = time.Duration(r.now).Seconds()
	res.TippedOver = r.tippedOver()
	slices.Sort(m.latencies)
	res.Within = m.within(r.Within)
	values := map[string]float64{
		"success": ratio(m.doneCount, m.offeredCount), "goodput": r.goodput(), "deadLettered": float64(m.deadCount),
		"amplification": ratio(m.calls, m.firsts), "callsDuring": float64(m.callsDuring),
		"wastedWork": m.wasted / m.work, "timeToRecover": r.timeToRecover(), "timeToDrain": r.timeToDrain(),
		"p50": quantile(m.latencies, 0.5), "p99": quantile(m.latencies, 0.99),
		"costUSD": m.cost(),
		"changes": float64(m.changes), "reversalsPerHour": float64(m.reversals) / time.Duration(max(r.now,
			m.duration)).Hours(),
	}
	if m.work == 0 {
		values["wastedWork"] = math.NaN()
	}
	if m.lastFaultEnd < 0 && m.callsDuring == 0 {
		values["callsDuring"] = math.NaN()
	}
	for _, name := range scenario.Metrics {
		res.Values = append(res.Values, values[name])
	}
	if r.control != nil {
		res.Changes = r.control.changes
	}
	return res
}

// checkPools adds up the pools of the first service.
func (r *run) checkPools(c *Check) {
	waits := int64(0)
	for i := range r.pools(0) {
		s := &r.pools(0)[i]
		s.occupy(r.now, 0)
		c.Asked, c.Rejected, c.Dropped, c.Begun = c.Asked+s.arrived, c.Rejected+s.rejected, c.Dropped+s.dropped,
			c.Begun+s.begun
		c.Throttled, c.Cold, c.Hits = c.Throttled+s.throttled, c.Cold+s.cold, c.Hits+s.hits
		c.Waited, c.Worked, c.Busy = c.Waited+s.waited, c.Worked+s.worked, c.Busy+s.area/1e9
		c.InService, c.Queued = c.InService+int64(s.busy), c.Queued+int64(s.queue.size)
		waits += s.waits
	}
	c.Waited /= float64(waits)
}

// PriceRegion is the region whose prices apply to runs; functions run on x86.
const PriceRegion = "us-east-1"

// cost returns the cost in USD of transitions, invocations and the functions' run time. It returns NaN if there are
// no prices.
func (m *measure) cost() float64 {
	p, err := worth.PricesOf(PriceRegion)
	if err != nil {
		return math.NaN()
	}
	return float64(m.transitions)*p.Transition + float64(m.invocations)*p.Request + m.gbSeconds*p.GBSecond[worth.X86]
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}

// quantile returns the smallest value such that at least a share q of the sorted values do not exceed it; NaN if
// there are none.
func quantile(sorted []float32, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return float64(sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)])
}

// within computes [Result.Within].
func (m *measure) within(d time.Duration) float64 {
	success := ratio(m.doneCount, m.offeredCount)
	if d <= 0 || len(m.latencies) == 0 {
		return success
	}
	late, _ := slices.BinarySearch(m.latencies, math.Nextafter32(float32(d.Seconds()), math.MaxFloat32))
	return success * float64(late) / float64(len(m.latencies))
}

// goodput returns the records done per second. With an open stream it counts from the warm-up to the end of the
// duration. With Maps only it counts from the first start to the last end.
func (r *run) goodput() float64 {
	m := &r.measure
	if r.hasStream() {
		return float64(m.doneInTime) / time.Duration(m.duration-m.warmup).Seconds()
	}
	if m.lastCountedEnd <= m.firstCountedArrival {
		return math.NaN()
	}
	return float64(m.doneCount) / time.Duration(m.lastCountedEnd-m.firstCountedArrival).Seconds()
}

func (r *run) hasStream() bool {
	return slices.ContainsFunc(r.Scenario.Workloads, func(w scenario.Workload) bool { return w.Arrivals != nil })
}

// timeToDrain returns how long records stay open after the end of the duration. With Maps only, it counts from the
// Maps' start.
func (r *run) timeToDrain() float64 {
	from, last := int64(r.Scenario.Duration), int64(0)
	if !r.hasStream() {
		from = math.MaxInt64
		for i := range r.workloads {
			from = min(from, int64(r.workloads[i].Map.Start))
		}
	}
	for i := range r.workloads {
		w := &r.workloads[i]
		if w.open > 0 || w.Map != nil && int(w.started)*w.Map.Batch < w.Map.Items {
			return math.Inf(1)
		}
		last = max(last, w.finishing)
	}
	return time.Duration(max(0, last-from)).Seconds()
}

// timeToRecover returns the time from the end of a service's last fault to the first of recoveryBins consecutive
// good bins. A bin is good if at least recoveryShare of the arriving records are done. A Map has no arrivals: its
// bins must reach that share of its goodput before the first fault, or the Map must have ended.
func (r *run) timeToRecover() float64 {
	m := &r.measure
	if m.lastFaultEnd < 0 || m.random {
		return math.NaN()
	}
	reference := r.mapReference()
	first := int((m.lastFaultEnd + int64(BinWidth) - 1) / int64(BinWidth))
	last := int(m.duration / int64(BinWidth))
	if !r.hasStream() {
		last = len(m.bins)
	}
	finished := r.mapsFinished()
	row := 0
	for i := first; i < last; i++ {
		var b Bin
		if i < len(m.bins) {
			b = m.bins[i]
		}
		want := float64(b.Offered)
		if !r.hasStream() {
			want = reference
		}
		if float64(b.Done) < recoveryShare*want && int64(i+1)*int64(BinWidth) <= finished {
			row = 0
			continue
		}
		if row++; row == recoveryBins {
			return time.Duration(int64(i+1-recoveryBins)*int64(BinWidth) - m.lastFaultEnd).Seconds()
		}
	}
	if !r.hasStream() && finished < math.MaxInt64 {
		return time.Duration(max(0, finished-m.lastFaultEnd)).Seconds()
	}
	return math.Inf(1)
}

// mapReference returns the number of records that Maps finish per bin before the first fault of a service.
func (r *run) mapReference() float64 {
	first, start := int64(math.MaxInt64), int64(math.MaxInt64)
	for i := range r.Scenario.Faults {
		if f := &r.Scenario.Faults[i]; f.Service >= 0 {
			first = min(first, int64(f.At))
		}
	}
	for i := range r.workloads {
		if m := r.workloads[i].Map; m != nil {
			start = min(start, int64(m.Start))
		}
	}
	from, to := int(start/int64(BinWidth)), int(first/int64(BinWidth))
	done := 0.0
	for i := from; i < min(to, len(r.measure.bins)); i++ {
		done += float64(r.measure.bins[i].Done)
	}
	if to <= from {
		return 0
	}
	return done / float64(to-from)
}

// mapsFinished returns the time at which the last Map ended. It returns math.MaxInt64 if a Map has not ended, or if
// there is none.
func (r *run) mapsFinished() int64 {
	last := int64(-1)
	for i := range r.workloads {
		w := &r.workloads[i]
		if w.Map == nil {
			continue
		}
		if w.open > 0 || int(w.started)*w.Map.Batch < w.Map.Items {
			return math.MaxInt64
		}
		last = max(last, w.finishing)
	}
	if last < 0 {
		return math.MaxInt64
	}
	return last
}
