package worth

import (
	"fmt"
	"math"
)

// Decision states whether to make another attempt, and why.
type Decision struct {
	// Retry is true if the attempt should be made.
	Retry bool
	// Probability is the probability of success, and Value is the value of a success in USD, both as passed to
	// Decide.
	Probability, Value float64
	// Cost is the cost of the attempt in USD.
	Cost Cost
	// Reason explains the decision in a sentence.
	Reason string
}

// Expected returns the expected value minus the cost, in USD.
func (d Decision) Expected() float64 { return d.Probability*d.Value - d.Cost.Total() }

// Decide compares an attempt's expected value with its cost. If an argument is not usable, it decides to retry, so
// that the record is not given up. This applies if the probability is NaN or outside 0 to 1, the value is negative
// or NaN, or the cost is NaN.
func Decide(probability, value float64, cost Cost) Decision {
	d := Decision{Retry: true, Probability: probability, Value: value, Cost: cost}
	total := cost.Total()
	switch {
	case !(probability >= 0 && probability <= 1):
		d.Reason = fmt.Sprintf(
			"retry: the probability of success is %v, which is not a probability; nothing is known against another attempt",
			probability)
	case !(value >= 0) || math.IsInf(value, 0):
		d.Reason = fmt.Sprintf("retry: the value of a success is %v; set it to USD, 0 or more", value)
	case math.IsNaN(total):
		d.Reason = "retry: the cost of an attempt is not known"
	case probability*value > total:
		d.Reason = fmt.Sprintf("retry: %.3g × $%.3g is more than the $%.3g that an attempt costs", probability, value,
			total)
	default:
		d.Retry = false
		d.Reason = fmt.Sprintf("give up: %.3g × $%.3g is not more than the $%.3g that an attempt costs", probability,
			value, total)
	}
	return d
}
