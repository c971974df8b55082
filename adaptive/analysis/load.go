package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

const (
	// pause separates two sessions of a record. An only session is cut into pieces of at least leastPiece and
	// pieceCalls.
	pause      = 5 * time.Minute
	leastPiece = time.Minute
	pieceCalls = 100
)

// service describes a callee as servers with one queue. A call that begins with n calls in flight, itself included,
// takes mean × max(1, n ÷ servers) on average.
type service struct {
	servers int
	// slowed is true if calls took longer when more were in flight. Otherwise servers is many, and the true number may
	// be higher. Between low and high servers of the mean time the capacity lies as the record shows it.
	slowed    bool
	low, high int
	// means are the mean times of a call in the periods, in seconds; those of periods with few calls are left out.
	means []float64
	// noise is the relative variance of means that the chance of single calls explains.
	noise float64
	// byPeriod has the same by the number of the period. mean is the middle of means on a logarithmic scale. If there
	// is none, it is the mean of all calls.
	byPeriod map[int]float64
	// bend is the relative difference between the mean of the calls that found a free server and what the model says of
	// them: near the number of servers, a queue bends less sharply than the model.
	bend      float64
	mean      float64
	variation float64
	// few, middle and many are the numbers of calls in flight that a twentieth, half and nineteen twentieths of the
	// calls found or fewer.
	few, middle, many int
}

const (
	leastPeriodCalls = 50   // with which a period shows its mean
	leastSlowing     = 1.25 // of calls that find many in flight
	leastEvidence    = 10   // that they are slower, as a difference of χ²
	mostDoubt        = 2.71 // of a number of servers, likewise: 90 % of one degree of freedom
)

// stretch returns the factor by which a call takes longer because n are in flight.
func stretch(n, servers int) float64 { return max(1, float64(n)/float64(servers)) }

// cell holds the calls of one period that found the same number in flight.
type cell struct {
	period, inFlight int
	count            float64
	sum, square      float64 // of the seconds
}

// serviceOf fits the service to the observations. The mean time of a call may differ between periods: a callee that
// is slow for other reasons has more calls in flight, and is not slow because of these. So numbers in flight are
// compared within periods.
func serviceOf(all []observation) service {
	s := service{servers: 1, low: 1, high: 1, few: 1, middle: 1, many: 1, byPeriod: map[int]float64{}}
	if len(all) == 0 {
		return s
	}
	flights := make([]int, len(all))
	by, periods := map[[2]int]*cell{}, map[int]int{}
	for i := range all {
		o := &all[i]
		flights[i] = o.inFlight
		key := [2]int{o.period, o.inFlight}
		c := by[key]
		if c == nil {
			c = &cell{period: o.period, inFlight: o.inFlight}
			by[key] = c
		}
		c.count++
		c.sum += o.seconds
		c.square += o.seconds * o.seconds
		periods[o.period]++
	}
	slices.Sort(flights)
	at := func(q float64) int { return flights[min(int(q*float64(len(flights))), len(flights)-1)] }
	s.few, s.middle, s.many = at(0.05), at(0.5), at(0.95)
	cells := make([]cell, 0, len(by))
	for _, c := range by {
		cells = append(cells, *c)
	}
	slices.SortFunc(cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.period, b.period), cmp.Compare(a.inFlight, b.inFlight))
	})
	s.fitServers(cells, len(periods))
	means := meansOf(cells, s.servers)
	logs, total := 0.0, 0.0
	for _, p := range slices.Sorted(maps.Keys(periods)) {
		total += means[p] * float64(periods[p]) / float64(len(all))
		if periods[p] >= leastPeriodCalls && means[p] > 0 {
			s.means, s.byPeriod[p] = append(s.means, means[p]), means[p]
			logs += math.Log(means[p])
		}
	}
	s.mean = total
	if n := len(s.means); n > 0 {
		s.mean = math.Exp(logs / float64(n))
	}
	s.variation, s.bend = variationOf(all, means, s.servers)
	for _, n := range periods {
		if n >= leastPeriodCalls {
			s.noise += s.variation * s.variation / float64(n) / float64(max(len(s.means), 1))
		}
	}
	return s
}

// fitServers finds the number of servers that explains best how the time of a call depends on the calls in flight.
func (s *service) fitServers(cells []cell, periods int) {
	flat := misfit(cells, math.MaxInt32)
	type trial struct {
		servers int
		misfit  float64
	}
	var tried []trial
	best := trial{s.many, flat}
	for n := 1; float64(s.many) >= leastSlowing*float64(n); n = max(n+1, n*21/20) {
		x := trial{n, misfit(cells, n)}
		if tried = append(tried, x); x.misfit < best.misfit {
			best = x
		}
	}
	// What a call's time varies by chance: within the cells, or as the cells deviate from the best fit.
	chance := max(withinCells(cells), best.misfit/float64(max(len(cells)-periods-1, 1)), 1e-4)
	s.servers, s.slowed = best.servers, (flat-best.misfit)/chance > leastEvidence
	if !s.slowed {
		s.servers = s.many
	}
	// Every number that fits about as well gives a capacity: so many servers of the mean time that belongs to
	// s.servers.
	all := callsOf(cells, s.servers)
	s.low, s.high = s.servers, s.servers
	for _, x := range tried {
		if (x.misfit-best.misfit)/chance <= mostDoubt {
			n := max(int(math.Round(float64(x.servers)*all/callsOf(cells, x.servers))), 1)
			s.low, s.high = min(s.low, n), max(s.high, n)
		}
	}
}

// callsOf returns the number of calls of mean time that take as long as the calls of the cells, if the callee has
// servers.
func callsOf(cells []cell, servers int) float64 {
	n := 0.0
	for i := range cells {
		n += cells[i].count * stretch(cells[i].inFlight, servers)
	}
	return n
}

// meansOf returns the mean time of a call by period, if the callee has servers.
func meansOf(cells []cell, servers int) map[int]float64 {
	took, calls := map[int]float64{}, map[int]float64{}
	for i := range cells {
		c := &cells[i]
		took[c.period] += c.sum
		calls[c.period] += c.count * stretch(c.inFlight, servers)
	}
	for p := range took {
		took[p] /= calls[p]
	}
	return took
}

// misfit returns the sum of the squared relative deviations of the cells' means from those of a callee with servers,
// weighted by their calls.
func misfit(cells []cell, servers int) float64 {
	means, sum := meansOf(cells, servers), 0.0
	for i := range cells {
		c := &cells[i]
		if want := means[c.period] * stretch(c.inFlight, servers); want > 0 {
			d := c.sum/c.count/want - 1
			sum += c.count * d * d
		}
	}
	return sum
}

// withinCells returns the relative variance of a call's time within the cells.
func withinCells(cells []cell) float64 {
	sum, degrees := 0.0, 0.0
	for i := range cells {
		c := &cells[i]
		if mean := c.sum / c.count; mean > 0 {
			sum += max(c.square/(mean*mean)-c.count, 0)
			degrees += c.count - 1
		}
	}
	return sum / max(degrees, 1)
}

// variationOf returns the coefficient of variation of the calls that found a free server, and the relative difference
// between their mean and the model's. If they are few, it returns that of all calls and no difference.
func variationOf(all []observation, means map[int]float64, servers int) (variation, bend float64) {
	for _, most := range []int{servers, math.MaxInt32} {
		n, sum, square := 0.0, 0.0, 0.0
		for i := range all {
			if o := &all[i]; o.inFlight <= most && means[o.period] > 0 {
				x := o.seconds / means[o.period] / stretch(o.inFlight, servers)
				n++
				sum += x
				square += x * x
			}
		}
		if mean := sum / n; n >= leastPeriodCalls && mean > 0 {
			if most == servers {
				bend = math.Abs(math.Log(mean))
			}
			return math.Sqrt(max(square/n-mean*mean, 0)) / mean, bend
		}
	}
	return 1, 0
}

// blocksOf returns the observations by bin: the mean time of a call without what the number in flight adds.
func (s *service) blocksOf(all []observation) []block {
	var blocks []block
	for i := range all {
		o := &all[i]
		if begin := o.at - o.at%bin; len(blocks) == 0 || blocks[len(blocks)-1].at != begin {
			blocks = append(blocks, block{at: begin})
		}
		b := &blocks[len(blocks)-1]
		b.weight += stretch(o.inFlight, s.servers)
		b.mean += o.seconds
	}
	for i := range blocks {
		blocks[i].mean /= blocks[i].weight
	}
	return blocks
}

// interval returns the interval of the mean time of a call in a further period. With two periods or more it contains
// what varies between them: it is Student's interval of one further value, on a logarithmic scale, without the chance
// of single calls. With one period it contains only what varies between its blocks.
func (s *service) interval(blocks []block) Bounds {
	const least = 0.02
	n := float64(len(s.means))
	if n >= 2 {
		sum := 0.0
		for _, x := range s.means {
			d := math.Log(x / s.mean)
			sum += d * d
		}
		between := sum / (n - 1)
		half := max(math.Hypot(student(len(s.means)-1)*math.Sqrt(max(between-s.noise, 0)+between/n), s.bend), least)
		return Bounds{s.mean * math.Exp(-half), s.mean * math.Exp(half)}
	}
	mean, e := ratio(blocks)
	half := max(math.Hypot(student(len(blocks)-1)*e, s.bend*mean), least*mean)
	return Bounds{max(mean-half, mean/10), mean + half}
}

// ratio returns the weighted mean of the blocks and its standard error.
func ratio(blocks []block) (mean, standardError float64) {
	weight, sum, n := 0.0, 0.0, float64(len(blocks))
	for _, b := range blocks {
		weight += b.weight
		sum += b.weight * b.mean
	}
	mean = sum / weight
	sum = 0
	for _, b := range blocks {
		d := b.weight * (b.mean - mean)
		sum += d * d
	}
	return mean, math.Sqrt(sum*n/max(n-1, 1)) / weight
}

// students are the 95 % quantiles of Student's t by degrees of freedom, from 1 on.
var students = []float64{
	6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753,
	1.746, 1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697,
}

// student returns the 95 % quantile of Student's t distribution: an interval of 90 % has it on both sides.
func student(degrees int) float64 {
	switch {
	case degrees < 1:
		return students[0]
	case degrees <= len(students):
		return students[degrees-1]
	}
	const z = 1.645
	return z + (z*z*z+z)/(4*float64(degrees)) // Fisher and Cornish; within 0.2 % from 31 on
}

// serving estimates the number of servers: the highest rate of the overloaded periods times their mean time of a call.
// high takes this rate as it is. low is lower by two standard deviations of the count, because the best of many spans
// exceeds the mean rate by chance. ok is false if the record shows no overload.
func (s *service) serving(x *callee, windows []window) (low, high int, ok bool) {
	saturated := slices.Collect(maps.Keys(x.saturated()))
	if len(saturated) == 0 {
		return 0, 0, false
	}
	most, lucky := 0.0, 0.0
	take := func(best, mean float64) {
		if n := best * mean; n > most {
			most, lucky = n, 2*math.Sqrt(best/bestOver)*mean
		}
	}
	for p, w := range windows {
		mean, known := s.byPeriod[p]
		from, to := w.from/int64(time.Second), w.to/int64(time.Second)
		if overloaded := func(at int64) bool { return at+bin > from && at <= to }; known &&
			slices.ContainsFunc(saturated, overloaded) {
			take(x.best(from, to), mean)
		}
	}
	if most == 0 {
		take(x.best(math.MinInt64, math.MaxInt64), s.mean)
	}
	high = min(max(int(math.Round(most)), 1), 10_000)
	return min(max(int(math.Round(most-lucky)), 1), high), high, true
}
