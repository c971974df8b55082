package backoff

import (
	"math"
	"time"
)

// The back-off functions. SNS documents them only in a picture; here all of them start at the minimum delay and end
// at the maximum.
const (
	Linear      = "linear"      // grows by a constant amount
	Arithmetic  = "arithmetic"  // grows by an amount that itself grows by a constant
	Geometric   = "geometric"   // grows by a constant factor
	Exponential = "exponential" // grows by an amount that doubles each time
)

// Policy is a retry policy. It allows Retries attempts after the first one. NoDelay of them are immediate. MinDelay
// attempts follow, each after the delay Min. Then come the attempts of the back-off phase, and finally MaxDelay
// attempts, each after the delay Max.
type Policy struct {
	Retries, NoDelay, MinDelay, MaxDelay int
	Min, Max                             time.Duration
	Function                             string // one of the constants
}

// HTTP is the default policy for HTTP and HTTPS endpoints: three retries, 20 seconds apart.
var HTTP = Policy{Retries: 3, Min: 20 * time.Second, Max: 20 * time.Second, Function: Linear}

// Managed is the policy for AWS managed endpoints (Lambda, SQS): 100,015 retries over 23 days.
var Managed = Policy{Retries: 100_015, NoDelay: 3, MinDelay: 2, MaxDelay: 100_000, Min: time.Second,
	Max: 20 * time.Second, Function: Exponential}

// Delay returns the delay before the n-th retry, counted from 1. ok is false if there is no such retry.
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

// grown returns the delay of step i of the back-off phase, from 0 to last.
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

// Total returns the sum of all delays.
func (p Policy) Total() (sum time.Duration) {
	growing := p.Retries - p.NoDelay - p.MinDelay - p.MaxDelay
	for i := range max(growing, 0) {
		sum += p.grown(i, growing-1)
	}
	return sum + time.Duration(p.MinDelay)*p.Min + time.Duration(p.MaxDelay)*p.Max
}
