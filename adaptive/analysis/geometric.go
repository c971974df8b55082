package analysis

import "math"

// betaGeometric fits h(k) = α ÷ (α + β + k − 1) to how often each retry recovered: a mixture of tasks that recover
// soon and tasks that hardly ever do, as when some errors are permanent. It returns the fitted success probability of
// retry k. ok is false if there are fewer than two retries to fit.
func betaGeometric(retries []tally) (chance func(k int) float64, ok bool) {
	seen := 0
	for _, t := range retries {
		if t.started > 0 {
			seen++
		}
	}
	if seen < 2 {
		return nil, false
	}
	best, mean, size := math.Inf(-1), 0.0, 0.0
	for i := 1; i < 200; i++ {
		for j := range 60 {
			p, c := float64(i)/200, math.Pow(10, -1+float64(j)/10) // α ÷ (α+β), and α+β from 0.1 to 80,000
			likelihood := 0.0
			for k, t := range retries {
				h := p * c / (c + float64(k))
				likelihood += t.recovered*math.Log(h) + (t.started-t.recovered)*math.Log1p(-h)
			}
			if likelihood > best {
				best, mean, size = likelihood, p, c
			}
		}
	}
	return func(k int) float64 { return mean * size / (size + float64(k-1)) }, true
}
