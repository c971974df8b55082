package predict

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Score measures how well probabilities fit outcomes; for all fields but Resolution, lower is better.
type Score struct {
	// Brier is the mean of (probability − outcome)². Reliability and Resolution are its parts over ten bins of
	// equal count. Reliability measures how far the bins' probabilities are from their rates. Resolution measures
	// how far their rates are from the base rate.
	Brier       float64 `json:"brier"`
	Reliability float64 `json:"reliability"`
	Resolution  float64 `json:"resolution"`
	// ECE is the mean distance between the bins' probabilities and rates. LogLoss is the mean of −log(probability
	// of the outcome).
	ECE     float64 `json:"ece"`
	LogLoss float64 `json:"logLoss"`
}

func score(ps, ys []float64) Score {
	var s Score
	n := float64(len(ps))
	order := make([]int, len(ps))
	var base float64
	for i := range order {
		order[i] = i
		base += ys[i] / n
		s.Brier += (ps[i] - ys[i]) * (ps[i] - ys[i]) / n
		p := min(max(ps[i], 1e-12), 1-1e-12)
		s.LogLoss -= (ys[i]*math.Log(p) + (1-ys[i])*math.Log(1-p)) / n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	const bins = 10
	for b := range bins {
		rows := order[b*len(order)/bins : (b+1)*len(order)/bins]
		if len(rows) == 0 {
			continue
		}
		var p, y float64
		k := float64(len(rows))
		for _, i := range rows {
			p += ps[i] / k
			y += ys[i] / k
		}
		s.Reliability += k / n * (p - y) * (p - y)
		s.Resolution += k / n * (y - base) * (y - base)
		s.ECE += k / n * math.Abs(p-y)
	}
	return s
}

// Difference is a mean difference of Brier scores with its 95 % interval.
type Difference struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// resamples is the number of bootstrap samples.
const resamples = 1000

// difference returns the Brier score of a minus that of b. Its interval is bootstrapped by cluster: all examples of
// five minutes are drawn together, for both models.
func difference(a, b, ys []float64, clusters []string, seed uint64) Difference {
	type sum struct{ d, n float64 }
	index := map[string]int{}
	var sums []sum
	var total sum
	for i := range ys {
		k, ok := index[clusters[i]]
		if !ok {
			k = len(sums)
			index[clusters[i]] = k
			sums = append(sums, sum{})
		}
		d := (a[i]-ys[i])*(a[i]-ys[i]) - (b[i]-ys[i])*(b[i]-ys[i])
		sums[k].d += d
		sums[k].n++
		total.d += d
		total.n++
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	draws := make([]float64, resamples)
	for r := range draws {
		var s sum
		for range sums {
			k := sums[rnd.IntN(len(sums))]
			s.d += k.d
			s.n += k.n
		}
		draws[r] = s.d / s.n
	}
	slices.Sort(draws)
	return Difference{total.d / total.n, draws[resamples*25/1000], draws[resamples*975/1000-1]}
}
