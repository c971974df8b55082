package analysis

import (
	"maps"
	"math"
	"slices"
	"time"

	"stepback/retry"
)

// callee holds the recorded attempts on one callee, by second.
type callee struct {
	name    string
	seconds map[int64]*second
	order   []int64 // the seconds, sorted; nil after new ones were added
	around  map[int64]second
	retries retries
	ended   map[int64]int // successes, by the second in which they ended
	// successes are the seconds of ended, sorted; as long as ended unless new ones were added.
	successes      []int64
	ends           map[int64]endCounts // all attempts, by the second in which they ended
	succeeded      int                 // the number of successes
	took           float64             // the sum of their durations in seconds
	longestTimeout time.Duration
	times          []call // of the attempts that have ended; 16 bytes each
	calls, firsts  int
	failedTime     time.Duration
}

// endCounts counts the attempts that ended within one second: calls, calls that failed by load, and attempts that were
// deferred without a call.
type endCounts struct{ calls, failed, refused int }

// ending counts an attempt in the second in which it ended.
func (x *callee) ending(a *Attempt) {
	if a.End.IsZero() {
		return
	}
	at := a.End.Unix()
	e := x.ends[at]
	switch {
	case deferred(a.Error):
		e.refused++
	case retry.IsLoadError(a.Error):
		e.failed++
		e.calls++
	default:
		e.calls++
	}
	x.ends[at] = e
}

// recentSeconds is the number of seconds over which a callee's recent failure rate is measured.
const recentSeconds = 10

// recentHealth returns how the callee performed in the whole seconds before a time: the share of its calls that failed
// by load, and the share of requests that were deferred for lack of capacity. The attempts in own are left out. known
// is false if no other call ended in these seconds.
func (x *callee) recentHealth(at time.Time, own []Attempt) (failureRate, load float64, known bool) {
	self := callee{ends: map[int64]endCounts{}}
	for i := range own {
		self.ending(&own[i])
	}
	var sum endCounts
	for second := at.Unix() - recentSeconds; second < at.Unix(); second++ {
		e, mine := x.ends[second], self.ends[second]
		sum.calls += e.calls - mine.calls
		sum.failed += e.failed - mine.failed
		sum.refused += e.refused - mine.refused
	}
	if sum.calls == 0 {
		return 0, 0, false
	}
	return float64(sum.failed) / float64(sum.calls), float64(sum.refused) / float64(sum.calls+sum.refused), true
}

// sinceSuccess returns the time in seconds since the last second before a time in which a call succeeded; known is
// false if there is none.
func (x *callee) sinceSuccess(at time.Time) (seconds float64, known bool) {
	if len(x.successes) != len(x.ended) {
		x.successes = slices.Sorted(maps.Keys(x.ended))
	}
	i, _ := slices.BinarySearch(x.successes, at.Unix())
	if i == 0 {
		return 0, false
	}
	return float64(at.Unix() - x.successes[i-1]), true
}

// second counts the attempts that began within one second.
type second struct {
	calls, firsts, succeeded, overload, unknown int
	errors                                      map[string]int
	took                                        float64               // total duration of successful calls, in seconds
	retries                                     map[retryKey]outcomes // whose outcome is known
}

// add counts an attempt by its number within the task, from 1 on, and by the failures before it.
func (x *callee) add(a *Attempt, number int, before failures) {
	at := a.Start.Unix()
	s := x.seconds[at]
	if s == nil {
		s = &second{}
		x.seconds[at] = s
	}
	x.order = nil
	s.calls++
	x.calls++
	if number == 1 {
		s.firsts++
		x.firsts++
	}
	if number > 1 && (!a.End.IsZero() || a.failed()) {
		x.retried(s, a, retryKey{number, before})
	}
	switch {
	case a.failed():
		if s.errors == nil {
			s.errors = map[string]int{}
		}
		s.errors[a.Error]++
		x.failedTime += a.lasted()
		if retry.IsOverload(a.Error) {
			s.overload++
			x.longestTimeout = max(x.longestTimeout, a.lasted())
		}
	case a.End.IsZero():
		s.unknown++
	default:
		s.succeeded++
		x.succeeded++
		x.ended[a.End.Unix()]++
		d := a.lasted().Seconds()
		x.took += d
		s.took += d
	}
}

// mean returns the mean duration of a success; 0 if there was none.
func (x *callee) mean() time.Duration {
	if x.succeeded == 0 {
		return 0
	}
	return time.Duration(x.took / float64(x.succeeded) * float64(time.Second))
}

// sorted returns the seconds in order.
func (x *callee) sorted() []int64 {
	if x.order == nil {
		x.order = make([]int64, 0, len(x.seconds))
		for at := range x.seconds {
			x.order = append(x.order, at)
		}
		slices.Sort(x.order)
		x.around, x.retries.effects = map[int64]second{}, nil
	}
	return x.order
}

// A neighbourhood holds at most this many of the nearest attempts (neighbours), within this distance (reach).
const (
	neighbours = 100
	reach      = 30 // seconds
)

// neighbourhood returns what happened around a second: the attempts of the nearest seconds, until there are enough
// neighbours, within reach.
func (x *callee) neighbourhood(at int64) second {
	order := x.sorted()
	if s, known := x.around[at]; known {
		return s
	}
	s := x.gather(order, at)
	x.around[at] = s
	return s
}

func (x *callee) gather(order []int64, at int64) second {
	right, _ := slices.BinarySearch(order, at)
	left := right - 1
	var sum second
	for sum.calls < neighbours {
		toLeft, toRight := int64(math.MaxInt64), int64(math.MaxInt64)
		if left >= 0 {
			toLeft = at - order[left]
		}
		if right < len(order) {
			toRight = order[right] - at
		}
		if min(toLeft, toRight) > reach {
			break
		}
		next := right
		if toLeft < toRight {
			next = left
			left--
		} else {
			right++
		}
		s := x.seconds[order[next]]
		sum.calls += s.calls - s.unknown
		sum.succeeded += s.succeeded
		for name, n := range s.errors {
			if sum.errors == nil {
				sum.errors = map[string]int{}
			}
			sum.errors[name] += n
		}
	}
	return sum
}

// bin is the length in seconds of one point of the feedback test and of a fitted scenario.
const bin = 10

// point counts the attempts of one bin.
type point struct {
	at                                 int64 // the bin's first second
	calls, succeeded, failed, overload int
}

// points returns the bins in order; bins without a call are left out.
func (x *callee) points() []point {
	var all []point
	for _, at := range x.sorted() {
		s := x.seconds[at]
		begin := at - at%bin
		if len(all) == 0 || all[len(all)-1].at != begin {
			all = append(all, point{at: begin})
		}
		p := &all[len(all)-1]
		p.calls += s.calls - s.unknown
		p.succeeded += s.succeeded
		p.overload += s.overload
		for _, n := range s.errors {
			p.failed += n
		}
	}
	return all
}

// Thresholds for assuming that retries feed the overload.
const (
	feedbackFrom   = 0.3
	leastOverload  = 20
	leastBins      = 5
	leastBinCalls  = 5
	saturatedShare = 0.2
)

// feedback measures how strongly failures by overload correlate with the number of calls, over bins of ten seconds.
// It returns 0 if there are too few data.
func (x *callee) feedback() float64 {
	var calls, failing []float64
	overload := 0
	for _, p := range x.points() {
		overload += p.overload
		if p.calls >= leastBinCalls {
			calls = append(calls, float64(p.calls))
			failing = append(failing, float64(p.overload)/float64(p.calls))
		}
	}
	if overload < leastOverload || len(calls) < leastBins {
		return 0
	}
	return correlation(calls, failing)
}

// saturated returns the bins in which the callee was overloaded. A bin is identified by its first second.
func (x *callee) saturated() map[int64]bool {
	all := map[int64]bool{}
	for _, p := range x.points() {
		if float64(p.overload) >= saturatedShare*float64(p.calls) && p.overload > 0 {
			all[p.at] = true
		}
	}
	return all
}

// unhealthy returns the bins in which the callee was overloaded or failed by itself.
func (x *callee) unhealthy() map[int64]bool {
	bad := x.saturated()
	for _, p := range x.points() {
		if p.broken() {
			bad[p.at] = true
		}
	}
	return bad
}

// correlation returns Pearson's correlation coefficient; 0 if one side does not vary.
func correlation(a, b []float64) float64 {
	var ma, mb float64
	for i := range a {
		ma += a[i] / float64(len(a))
		mb += b[i] / float64(len(b))
	}
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}
