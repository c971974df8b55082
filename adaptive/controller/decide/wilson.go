package decide

import "math"

// z is the two-sided 95 % quantile of the normal distribution.
const z = 1.959963984540054

// Share counts trials (Of), and how many of them had some property (Have).
type Share struct {
	Of, Have float64
}

// Rate returns Have ÷ Of, or 0 if Of is 0.
func (s Share) Rate() float64 {
	if s.Of <= 0 {
		return 0
	}
	return s.Have / s.Of
}

// Interval returns Wilson's 95 % interval of the probability behind a share; 0 to 1 if there are no trials.
func (s Share) Interval() (low, high float64) {
	if s.Of <= 0 {
		return 0, 1
	}
	p := s.Rate()
	denominator := 1 + z*z/s.Of
	centre := (p + z*z/(2*s.Of)) / denominator
	half := z / denominator * math.Sqrt(max(p*(1-p), 0)/s.Of+z*z/(4*s.Of*s.Of))
	return max(centre-half, 0), min(centre+half, 1)
}

// Low returns the lower bound of [Share.Interval].
func (s Share) Low() float64 { low, _ := s.Interval(); return low }

// High returns the upper bound of [Share.Interval].
func (s Share) High() float64 { _, high := s.Interval(); return high }
