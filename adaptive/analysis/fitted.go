package analysis

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"stepback/retry"
)

// Bounds is an interval that contains a number with a probability of about 90 %.
type Bounds struct{ Low, High float64 }

// Fit describes a callee and its arrivals as a record shows them.
type Fit struct {
	State, Callee string
	From, To      time.Time
	// Tasks is the number of tasks. Closed is true if most were children of a distributed Map; Rate is then
	// meaningless.
	Tasks  int
	Closed bool
	// Items is the median number of tasks of a Map Run; 0 if there is none.
	Items int
	// Rate is the arrivals per second. Mean is the mean time in seconds of a call that finds a free server while the
	// callee is healthy, and Variation the standard deviation as a multiple of it. If Periods is 2 or more, Mean
	// contains the mean of a further period like them; if it is 1, the variation between periods is not known, and Mean
	// does not contain it. Of a distributed Map every Map Run is a period.
	Rate, Mean Bounds
	Variation  float64
	Periods    int
	// Servers is the number of calls that the callee serves at the same time. Saturated is true if the record shows an
	// overload, and Slowed if calls took longer while more were in flight. Otherwise the true number may be above High.
	Servers           Bounds
	Saturated, Slowed bool
	// Few, Typical and Many are the numbers of calls in flight, itself included, that a call found when it began: at
	// most Few in a twentieth of the cases, Typical in half of them, and Many in nineteen twentieths.
	Few, Typical, Many int
	// Errors are the errors outside of faults and overloads.
	Errors []FittedError
}

// FittedError is an error with its share of the calls.
type FittedError struct {
	Name  string
	Share Bounds
	// Permanent is true if ten tasks or more were retried after the error and none recovered.
	Permanent bool
}

// The errors of [Collector.Fit] for records that do not describe one callee.
var (
	// ErrTooLittle: fewer than 100 successful calls, or less than a minute.
	ErrTooLittle = errors.New("the record is too small")
	// ErrChanged: the callee changed within the record.
	ErrChanged = errors.New("the callee changed within the record")
	// ErrClocks: attempts end before they begin, or begin before the one before has ended.
	ErrClocks = errors.New("the clocks of the record disagree")
)

// The thresholds of [Collector.Fit].
const (
	leastSuccesses = 100
	leastSpan      = time.Minute
	mostBackwards  = 0.01 // share of attempts with impossible times
	changeRatio    = 1.3  // of the mean times before and after a change
	changeT        = 5.0  // t statistic of a change
)

// Fit fits the callee of a state to the record. The error wraps [ErrTooLittle], [ErrChanged] or [ErrClocks], and says
// what to do.
func (c *Collector) Fit(state string) (*Fit, error) {
	s := c.states[state]
	if s == nil {
		return nil, fmt.Errorf("no task of the state %s is on record; there are tasks of %s: %w", state, quoted(c.stateNames()), ErrTooLittle)
	}
	x := c.callee(s.callee)
	span := max(s.lasted.Sub(s.begun), 0)
	if s.lasted.IsZero() { // no attempt took any time, as in virtual time
		span = 0
	}
	if x.succeeded < leastSuccesses || span < leastSpan {
		return nil, fmt.Errorf("%s has %d successful calls in %s, and a fit needs %d in %s: %w", state, x.succeeded,
			span.Round(time.Second), leastSuccesses, leastSpan, ErrTooLittle)
	}
	if share := float64(c.backwards) / float64(max(c.read.Attempts, 1)); share > mostBackwards {
		return nil, fmt.Errorf("%d of %d attempts end before they begin or begin before the one before has ended; select the "+
			"histories of one source: %w", c.backwards, c.read.Attempts, ErrClocks)
	}
	found, windows, blocks := c.loadOf(state)
	if len(blocks) < 4 && len(found.means) < 2 {
		return nil, fmt.Errorf("%s has %d calm intervals of ten seconds, and a fit needs 4: %w", state, len(blocks), ErrTooLittle)
	}
	if at, before, after, changed := changed(windows, &found, blocks); changed {
		return nil, fmt.Errorf("a call took %.3g s on average before %s and %.3g s after; fit the time after with --days, or give the "+
			"callee's numbers: %w", before, time.Unix(at, 0).UTC().Format(time.RFC3339), after, ErrChanged)
	}
	f := &Fit{State: state, Callee: s.callee, From: s.begun, To: s.lasted, Tasks: s.tasks, Closed: s.closed*2 > s.tasks,
		Variation: math.Round(max(found.variation, 0.01)*100) / 100, Mean: found.interval(blocks), Slowed: found.slowed,
		Periods: max(len(found.means), 1), Few: found.few, Typical: found.middle, Many: found.many}
	if n := len(s.runs); n > 0 {
		items := make([]int, 0, n)
		for _, r := range s.runs {
			items = append(items, r.tasks)
		}
		slices.Sort(items)
		f.Items = items[n/2]
	}
	rate := float64(s.tasks) / span.Seconds()
	half := 1.645 * math.Sqrt(float64(s.tasks)) / span.Seconds()
	f.Rate = Bounds{max(rate-half, 0), rate + half}
	low, high := found.low, found.high
	if l, h, ok := found.serving(x, windows); ok {
		low, high, f.Saturated = l, h, true
	}
	f.Servers = Bounds{float64(low), float64(high)}
	f.Errors = c.fittedErrors(state, x)
	return f, nil
}

// block is ten seconds in which the callee was healthy.
type block struct {
	at int64
	// weight is the number of successes, and mean their mean time; see service.blocksOf.
	weight, mean float64
}

// loadOf fits the service behind a state's callee, and returns the record's periods and the blocks of healthy time.
func (c *Collector) loadOf(state string) (service, []window, []block) {
	s := c.states[state]
	x := c.callee(s.callee)
	calls := x.byStart()
	windows := s.windows(calls)
	seen := x.observations(calls, windows)
	f := serviceOf(seen)
	return f, windows, f.blocksOf(seen)
}

// moments returns the mean of the blocks' means, and its standard error.
func moments(blocks []block) (mean, standardError float64) {
	n := float64(len(blocks))
	for _, b := range blocks {
		mean += b.mean / n
	}
	for _, b := range blocks {
		standardError += (b.mean - mean) * (b.mean - mean)
	}
	return mean, math.Sqrt(standardError / max(n-1, 1) / n)
}

// changed finds a change of the callee: between the periods if they are many enough, or within the only session.
// Between few periods a change looks like variation, and widens [Fit.Mean].
func changed(windows []window, s *service, blocks []block) (at int64, before, after float64, changed bool) {
	apart := false
	for i := 1; i < len(windows); i++ {
		apart = apart || windows[i].from != windows[i-1].to
	}
	if !apart {
		return changePoint(blocks)
	}
	periods := make([]block, 0, len(s.byPeriod))
	for _, p := range slices.Sorted(maps.Keys(s.byPeriod)) {
		periods = append(periods, block{at: windows[p].from / int64(time.Second), weight: 1, mean: s.byPeriod[p]})
	}
	return changePoint(periods)
}

// changePoint finds the quarter of the record at which the mean time of a call changed most, by Welch's t.
func changePoint(blocks []block) (at int64, before, after float64, changed bool) {
	most := changeT
	for _, quarter := range []int{1, 2, 3} {
		k := len(blocks) * quarter / 4
		if k < 4 || len(blocks)-k < 4 {
			continue
		}
		a, ea := moments(blocks[:k])
		b, eb := moments(blocks[k:])
		t := math.Abs(a-b) / max(math.Sqrt(ea*ea+eb*eb), 1e-9)
		if ratio := max(a, b) / max(min(a, b), 1e-9); ratio > changeRatio && t > most {
			most, at, before, after, changed = t, blocks[k].at, a, b, true
		}
	}
	return at, before, after, changed
}

// fittedErrors returns the errors outside of faults and overloads with Wilson's intervals of 90 %.
func (c *Collector) fittedErrors(state string, x *callee) []FittedError {
	bad := x.unhealthy()
	calls, by := 0, map[string]int{}
	for at, s := range x.seconds {
		if bad[at-at%bin] {
			continue
		}
		calls += s.calls
		for name, n := range s.errors {
			if !retry.IsOverload(name) {
				by[name] += n
			}
		}
	}
	retried, recovered := map[string]int{}, map[string]int{}
	for i := range c.tasks {
		t := &c.tasks[i]
		if t.State == state && len(t.Attempts) > 1 && t.Attempts[0].Error != "" {
			retried[t.Attempts[0].Error]++
			if t.Ending == Done {
				recovered[t.Attempts[0].Error]++
			}
		}
	}
	const z = 1.645
	var all []FittedError
	for _, name := range slices.Sorted(maps.Keys(by)) {
		n, p := float64(calls), float64(by[name])/float64(calls)
		if p < 0.0005 {
			continue
		}
		centre, half := (p+z*z/(2*n))/(1+z*z/n), z/(1+z*z/n)*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
		all = append(all, FittedError{Name: name, Share: Bounds{max(centre-half, 0), min(centre+half, 1)},
			Permanent: retried[name] >= 10 && recovered[name] == 0})
	}
	return all
}
