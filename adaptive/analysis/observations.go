package analysis

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// call is one attempt that has ended.
type call struct {
	start  int64 // Unix time in nanoseconds
	lasted int32 // in units of callUnit, at most longestCall
	failed bool
}

const (
	callUnit    = 10 * time.Microsecond
	longestCall = math.MaxInt32
)

func (c *call) seconds() float64 { return float64(c.lasted) * callUnit.Seconds() }

func (c *call) end() int64 { return c.start + int64(c.lasted)*int64(callUnit) }

// remember keeps the times of an attempt that has ended.
func (x *callee) remember(a *Attempt) {
	if !a.End.IsZero() {
		x.times = append(x.times, call{a.Start.UnixNano(), int32(min(a.lasted()/callUnit, longestCall)), a.failed()})
	}
}

// window is a period of a record, in Unix nanoseconds; to is exclusive.
type window struct{ from, to int64 }

// windows returns the periods of a state's record, in order; calls are sorted by start. Every Map Run is a period;
// Map Runs that overlap are one. Other records are cut at pauses; without a pause, into pieces.
func (s *stateCount) windows(calls []call) []window {
	var all []window
	if s.closed*2 > s.tasks {
		for _, r := range s.runs {
			all = append(all, window{r.begun.UnixNano(), r.ended.UnixNano() + 1})
		}
		slices.SortFunc(all, func(a, b window) int { return cmp.Compare(a.from, b.from) })
		merged := all[:0]
		for _, w := range all {
			if n := len(merged); n > 0 && w.from < merged[n-1].to {
				merged[n-1].to = max(merged[n-1].to, w.to)
				continue
			}
			merged = append(merged, w)
		}
		return merged
	}
	for i := 0; i < len(calls); {
		w := window{calls[i].start, calls[i].end() + 1}
		for i++; i < len(calls) && calls[i].start < w.to+int64(pause); i++ {
			w.to = max(w.to, calls[i].end()+1)
		}
		all = append(all, w)
	}
	if len(all) != 1 {
		return all
	}
	w, pieces := all[0], max(1, min((all[0].to-all[0].from)/int64(leastPiece), int64(len(calls))/pieceCalls))
	all = all[:0]
	for k := range pieces {
		all = append(all, window{w.from + (w.to-w.from)/pieces*k, w.from + (w.to-w.from)/pieces*(k+1)})
	}
	all[len(all)-1].to = w.to
	return all
}

// observation is a success in calm time: when it began, how long it took, and how many calls were in flight with it
// when it began, itself included.
type observation struct {
	at       int64 // Unix time in seconds
	seconds  float64
	inFlight int
	period   int
}

// observations returns the successes within the windows that began outside of faults and overloads. A failed call
// counts as in flight if it took half as long as the mean success or longer: one that fails at once occupies no
// server.
func (x *callee) observations(calls []call, windows []window) []observation {
	mean, n := 0.0, 0
	for i := range calls {
		if !calls[i].failed {
			mean += calls[i].seconds()
			n++
		}
	}
	mean /= float64(max(n, 1))
	bad := x.unhealthy()
	ends := make([]int64, 0, len(calls))
	for i := range calls {
		if c := &calls[i]; !c.failed || c.seconds() >= mean/2 {
			ends = append(ends, c.end())
		}
	}
	slices.Sort(ends)
	all := make([]observation, 0, n)
	ended, begun, period := 0, 0, 0
	for i := range calls {
		c := &calls[i]
		if c.failed && c.seconds() < mean/2 {
			continue
		}
		begun++
		for ended < len(ends) && ends[ended] <= c.start {
			ended++
		}
		for period < len(windows) && windows[period].to <= c.start {
			period++
		}
		at := c.start / int64(time.Second)
		if c.failed || bad[at-at%bin] || period == len(windows) || c.start < windows[period].from {
			continue
		}
		// A call of no duration ends as it begins and was counted as ended.
		all = append(all, observation{at, c.seconds(), max(begun-ended, 1), period})
	}
	return all
}

// byStart returns the calls that have ended, sorted by start.
func (x *callee) byStart() []call {
	byStart := func(a, b call) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(x.times, byStart) {
		slices.SortStableFunc(x.times, byStart)
	}
	return x.times
}
