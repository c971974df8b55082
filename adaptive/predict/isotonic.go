package predict

import (
	"cmp"
	"slices"
	"sort"
)

// Isotonic is an increasing function from scores to probabilities, linear between its points.
type Isotonic struct {
	Scores        []float64 `json:"scores"`
	Probabilities []float64 `json:"probabilities"`
}

// fitIsotonic returns the increasing function nearest to the outcomes in least squares, by pooling adjacent
// violators. Each block is shrunk by one example of each outcome, so that no probability is 0 or 1.
func fitIsotonic(scores, outcomes []float64) Isotonic {
	type block struct{ score, n, y float64 }
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	var blocks []block
	for _, i := range order {
		b := block{scores[i], 1, outcomes[i]}
		// Equal scores form one block, and a block that falls below the one before it is merged into it.
		for k := len(blocks) - 1; k >= 0; k = len(blocks) - 1 {
			before := blocks[k]
			if before.score < scores[i] && before.y/before.n < b.y/b.n {
				break
			}
			n := before.n + b.n
			b = block{(before.score*before.n + b.score*b.n) / n, n, before.y + b.y}
			blocks = blocks[:k]
		}
		blocks = append(blocks, b)
	}
	var f Isotonic
	for _, b := range blocks {
		p := (b.y + 1) / (b.n + 2)
		if k := len(f.Probabilities) - 1; k >= 0 {
			p = max(p, f.Probabilities[k]) // shrinking must not make it fall
		}
		f.Scores, f.Probabilities = append(f.Scores, b.score), append(f.Probabilities, p)
	}
	return f
}

// at returns the probability for a score.
func (f *Isotonic) at(score float64) float64 {
	n := len(f.Scores)
	if n == 0 {
		return score
	}
	i := sort.SearchFloat64s(f.Scores, score)
	switch i {
	case 0:
		return f.Probabilities[0]
	case n:
		return f.Probabilities[n-1]
	}
	share := (score - f.Scores[i-1]) / (f.Scores[i] - f.Scores[i-1])
	return f.Probabilities[i-1] + share*(f.Probabilities[i]-f.Probabilities[i-1])
}
