package budget

import (
	"errors"
	"fmt"
	"time"
)

// Policy is what earns tokens and what they pay for. Every number is in tokens and 0 or more.
//
// Without a Window the budget is a bucket of Capacity tokens that begins full. With a Window, tokens are what was
// earned less what was spent within it, on top of a reserve of PerSecond × Window; Capacity has no effect.
type Policy struct {
	// Capacity bounds the bucket.
	Capacity float64
	// Window is how long a token lives that was earned; 0 for a bucket.
	Window time.Duration

	// PerRequest is earned by every first attempt, PerSuccess by every success that needed no retry, PerSecond by time.
	PerRequest, PerSuccess, PerSecond float64
	// Refund gives a retry's cost back when it succeeds.
	Refund bool

	// RetryCost is what a retry costs, TimeoutCost what one after a timeout costs; 0 for the same as RetryCost.
	RetryCost, TimeoutCost float64
	// FailureCost is taken by every failure, whether or not it is retried, as far as there is something to take.
	FailureCost float64
	// Threshold is what must be exceeded for a retry to be allowed, besides its cost.
	Threshold float64
}

// Finagle is the budget of Finagle and Linkerd: a fifth of the requests of the last 10 s, and ten retries a second
// besides.
func Finagle() Policy {
	return Policy{Window: 10 * time.Second, PerRequest: 0.2, PerSecond: 10, RetryCost: 1}
}

// Standard is the retry budget of the design (R9): a tenth of the requests of 10 s, ten retries a second at least.
func Standard() Policy {
	return Policy{Window: 10 * time.Second, PerRequest: 0.1, PerSecond: 10, RetryCost: 1}
}

// GRPC is retryThrottling of gRPC's proposal A6 with the numbers of its example: ten tokens, every failure takes one
// and every success earns a tenth, and retries are made while more than half of the tokens are there.
func GRPC() Policy {
	return Policy{Capacity: 10, PerSuccess: 0.1, FailureCost: 1, Threshold: 5}
}

// SDK is the retry quota of the AWS SDKs' standard mode: 500 tokens, 5 for a retry, 10 for one after a timeout; a
// retry that succeeds gets its cost back, any other success earns one.
func SDK() Policy {
	return Policy{Capacity: 500, PerSuccess: 1, Refund: true, RetryCost: 5, TimeoutCost: 10}
}

// Bucket is Brooker's token bucket: five retries, and a tenth of one more for every success.
func Bucket() Policy {
	return Policy{Capacity: 5, PerSuccess: 0.1, RetryCost: 1}
}

// Validate reports every field that is out of its range, joined.
func (p Policy) Validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("budget: "+format, args...))
		}
	}
	for _, f := range []struct {
		name string
		is   float64
	}{
		{"Capacity", p.Capacity}, {"PerRequest", p.PerRequest}, {"PerSuccess", p.PerSuccess}, {"PerSecond",
			p.PerSecond},
		{"RetryCost", p.RetryCost}, {"TimeoutCost", p.TimeoutCost}, {"FailureCost", p.FailureCost}, {"Threshold",
			p.Threshold},
	} {
		check(f.is >= 0 && f.is <= 1e9, "%s is %v; it must be between 0 and 1,000,000,000 tokens", f.name, f.is)
	}
	check(p.Window == 0 || p.Window >= 10, "Window is %v; it must be 0 for a bucket, or at least 10 ns", p.Window)
	check(p.Window > 0 || p.Capacity > 0, "Capacity is 0; without a Window nothing could ever be retried")
	check(p.RetryCost > 0 || p.FailureCost > 0, "RetryCost and FailureCost are 0; the budget would bound nothing")
	return errors.Join(problems...)
}

// cost is what a retry costs.
func (p *Policy) cost(afterTimeout bool) float64 {
	if afterTimeout && p.TimeoutCost > 0 {
		return p.TimeoutCost
	}
	return p.RetryCost
}
