package analysis

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"stepback/adaptive/controller/decide"
	"stepback/adaptive/lab/statistics"
)

// Sufficient is the minimum effective number of retries for a conclusion.
const Sufficient = 20

// cluster identifies the attempts on one callee within one spell. They share an outage, or its absence.
type cluster struct {
	callee string
	spell  int64
}

func clusterOf(callee string, a *Attempt, spell time.Duration) cluster {
	return cluster{callee, a.Start.UnixNano() / int64(spell)}
}

// tally counts the retries of one cluster.
type tally struct{ started, recovered float64 }

// trials holds the tallies of retries by cluster.
type trials map[cluster]*tally

func (t trials) add(at cluster, recovered bool) {
	x := t[at]
	if x == nil {
		x = &tally{}
		t[at] = x
	}
	x.started++
	if recovered {
		x.recovered++
	}
}

func (t trials) merge(other trials) {
	for at, x := range other {
		if t[at] == nil {
			t[at] = &tally{}
		}
		t[at].started += x.started
		t[at].recovered += x.recovered
	}
}

func (t trials) sum() (all tally) {
	for _, x := range t {
		all.started += x.started
		all.recovered += x.recovered
	}
	return all
}

// inOrder returns the tallies in a fixed order.
func (t trials) inOrder() []tally {
	keys := make([]cluster, 0, len(t))
	for at := range t {
		keys = append(keys, at)
	}
	slices.SortFunc(keys, func(a, b cluster) int {
		return cmp.Or(cmp.Compare(a.spell, b.spell), cmp.Compare(a.callee, b.callee))
	})
	all := make([]tally, len(keys))
	for i, at := range keys {
		all[i] = *t[at]
	}
	return all
}

// Estimate is a probability with its 95 % interval.
type Estimate struct {
	Rate float64 `json:"rate"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Effective is the number of independent retries that would carry as much information as the recorded ones.
	// Clusters is the number of clusters that the retries come from.
	Effective float64 `json:"effective"`
	Clusters  int     `json:"clusters"`
}

// Sufficient reports whether there are enough retries for a conclusion.
func (e Estimate) Sufficient() bool { return e.Effective >= Sufficient }

// estimate returns the share that recovered, with Wilson's interval for the effective number of retries. As in Korn
// and Graubard, this is the number of independent trials that would vary as much as the clusters do, corrected by
// Student's t for the number of clusters. If the clusters do not vary, for instance because nothing recovered at
// all, estimate assumes the correlation alike within clusters: the one measured for the class's other retries. If
// alike is NaN (unknown), a cluster counts as one trial.
func (t trials) estimate(alike float64) Estimate {
	all := t.sum()
	e := Estimate{Clusters: len(t)}
	if all.started == 0 {
		e.High = 1
		return e
	}
	e.Rate = all.recovered / all.started
	e.Effective = t.effective(e.Rate, all.started, alike)
	e.Low, e.High = decide.Share{Of: e.Effective, Have: e.Rate * e.Effective}.Interval()
	return e
}

func (t trials) effective(rate, n, alike float64) float64 {
	clusters := float64(len(t))
	if len(t) < 2 {
		return min(clusters, n)
	}
	var squares, sizes float64
	for _, x := range t.inOrder() {
		d := x.recovered - rate*x.started
		squares += d * d
		sizes += x.started * x.started
	}
	size := sizes / n // the mean size of a retry's cluster
	variance := squares / (n * n) * clusters / (clusters - 1)
	effective := clusters
	switch {
	case rate > 0 && rate < 1 && variance > 0:
		effective = rate * (1 - rate) / variance
	case !math.IsNaN(alike):
		effective = n / (1 + max(size-1, 0)*alike)
	}
	t95 := statistics.TQuantile(0.975, len(t)-1)
	const normal = 1.959963984540054
	return min(effective*(normal/t95)*(normal/t95), n)
}

// intraclusterCorrelation estimates the correlation of two retries of one cluster by an analysis of variance over all
// of them; NaN if they do not vary or there are too few clusters.
func (t trials) intraclusterCorrelation() float64 {
	all := t.sum()
	clusters := float64(len(t))
	rate := all.recovered / all.started
	if len(t) < 2 || all.started <= clusters || rate == 0 || rate == 1 {
		return math.NaN()
	}
	var between, within, squares float64
	for _, x := range t.inOrder() {
		p := x.recovered / x.started
		between += x.started * (p - rate) * (p - rate)
		within += x.started * p * (1 - p)
		squares += x.started * x.started
	}
	between /= clusters - 1
	within /= all.started - clusters
	size := (all.started - squares/all.started) / (clusters - 1)
	if between+(size-1)*within == 0 {
		return math.NaN()
	}
	return min(max((between-within)/(between+(size-1)*within), 0), 1)
}

// resamples is the number of bootstrap samples for the intervals of cumulative.
const resamples = 1000

// cumulative returns, for every k, the share that the first k retries recover together, with bootstrap intervals over
// clusters. The random numbers are the same each time.
func cumulative(retries []trials) []Estimate {
	keys := trials{}
	for _, t := range retries {
		keys.merge(t)
	}
	names := make([]cluster, 0, len(keys))
	for at := range keys {
		names = append(names, at)
	}
	slices.SortFunc(names, func(a, b cluster) int {
		return cmp.Or(cmp.Compare(a.spell, b.spell), cmp.Compare(a.callee, b.callee))
	})
	// sums[i] and drawn hold the contribution of each drawn cluster.
	curve := func(weight func(i int) float64) []float64 {
		out := make([]float64, len(retries))
		left := 1.0
		for k, t := range retries {
			var sum tally
			for i, at := range names {
				if x := t[at]; x != nil {
					sum.started += weight(i) * x.started
					sum.recovered += weight(i) * x.recovered
				}
			}
			if sum.started > 0 {
				left *= 1 - sum.recovered/sum.started
			}
			out[k] = 1 - left
		}
		return out
	}
	point := curve(func(int) float64 { return 1 })
	out := make([]Estimate, len(retries))
	samples := make([][]float64, len(retries))
	rnd := rand.New(rand.NewPCG(uint64(len(names)), 10))
	counts := make([]float64, len(names))
	for range resamples {
		clear(counts)
		for range names {
			counts[rnd.IntN(len(names))]++
		}
		for k, v := range curve(func(i int) float64 { return counts[i] }) {
			samples[k] = append(samples[k], v)
		}
	}
	for k := range out {
		slices.Sort(samples[k])
		out[k] = Estimate{Rate: point[k], Low: samples[k][resamples*25/1000], High: samples[k][resamples*975/1000-1],
			Clusters: len(names)}
		if len(names) < 2 {
			out[k].Low, out[k].High = 0, 1
		}
	}
	return out
}
