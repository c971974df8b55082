package backoff

import (
	"math"
	"time"
)

// The functions by which delays grow. SNS documents them by a picture only; here all of them begin with the smallest
// delay and end with the largest.
const (
	Linear      = "linear"      // by the same amount each time
	Arithmetic  = "arithmetic"  // by an amount that grows by the same amount
	Geometric   = "geometric"   // by the same factor each time
	Exponential = "exponential" // by an amount that doubles each time
)

// Policy is a retry policy: Retries attempts after the first one, of which NoDelay come at once, then MinDelay after
// Min, then those of the back-off, at last MaxDelay after Max.
type Policy struct {
	Retries, NoDelay, MinDelay, MaxDelay int
	Min, Max                             time.Duration
	Function                             string // one of the constants
}

// HTTP is the policy of HTTP and HTTPS endpoints by default: three retries, 20 seconds apart.
var HTTP = Policy{Retries: 3, Min: 20 * time.Second, Max: 20 * time.Second, Function: Linear}

// Managed is the policy of endpoints that AWS runs (Lambda, SQS): 100,015 retries in 23 days.
var Managed = Policy{Retries: 100_015, NoDelay: 3, MinDelay: 2, MaxDelay: 100_000, Min: time.Second,
	Max: 20 * time.Second, Function: Exponential}

// Delay is how long to wait before the n-th retry, counted from 1. It reports false when there is no such retry.
func (p Policy) Delay(n int) (time.Duration, bool) {
	switch growing := p.Retries - p.NoDelay - p.MinDelay - p.MaxDelay; {
	case n > p.Retries:
		return 0, false
	case n <= p.NoDelay:
		return 0, true
	case n <= p.NoDelay+p.MinDelay:
		return p.Min, true
	case n <= p.NoDelay+p.MinDelay+growing:
		return p.grown(n-p.NoDelay-p.MinDelay-1, growing-1), true
	default:
		return p.Max, true
	}
}

// grown is the delay of step i, from 0 to last.
func (p Policy) grown(i, last int) time.Duration {
	if last <= 0 {
		return p.Min
	}
	x, n := float64(i), float64(last)
	var part float64
	switch p.Function {
	case Arithmetic:
		part = x * (x + 1) / (n * (n + 1))
	case Geometric:
		return time.Duration(float64(p.Min) * math.Pow(float64(p.Max)/float64(p.Min), x/n))
	case Exponential:
		part = math.Exp2(x-n) * (1 - math.Exp2(-x)) / (1 - math.Exp2(-n))
	default:
		part = x / n
	}
	return p.Min + time.Duration(part*float64(p.Max-p.Min))
}

// Total is the sum of all delays.
func (p Policy) Total() (sum time.Duration) {
	growing := p.Retries - p.NoDelay - p.MinDelay - p.MaxDelay
	for i := range max(growing, 0) {
		sum += p.grown(i, growing-1)
	}
	return sum + time.Duration(p.MinDelay)*p.Min + time.Duration(p.MaxDelay)*p.Max
}
