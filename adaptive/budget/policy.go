package budget

import (
	"errors"
	"fmt"
	"time"

	"stepback/retry"
)

// Policy defines what earns tokens and what spends them. Every number is in tokens and 0 or more.
//
// Without a Window the budget is a bucket of Capacity tokens that begins full. With a Window, the available tokens
// are those earned less those spent within it, on top of a reserve of PerSecond × Window; Capacity is ignored.
type Policy struct {
	// Capacity is the size of the bucket.
	Capacity float64
	// Window is the lifetime of an earned token; 0 for a bucket.
	Window time.Duration

	// PerRequest is earned by every first attempt. PerSuccess is earned by every success; with Refund, only by every
	// success that needed no retry. PerSecond is earned with every second that passes.
	PerRequest, PerSuccess, PerSecond float64
	// Refund returns a retry's cost if the retry succeeds. PerRefund is earned in addition.
	Refund    bool
	PerRefund float64

	// RetryCost is the cost of a retry, TimeoutCost that of a retry after a timeout, and ThrottleCost that of a retry
	// after a throttle. If TimeoutCost or ThrottleCost is 0, RetryCost applies.
	RetryCost, TimeoutCost, ThrottleCost float64
	// FailureCost is taken by every failure, whether or not it is retried, but never more than the tokens available.
	FailureCost float64
	// Threshold restricts retries further: a retry is allowed only while more than Threshold tokens are available.
	// 0 sets no threshold.
	Threshold float64
}

// Finagle returns the budget of Finagle and Linkerd: a fifth of the requests of the last 10 s, and ten retries a
// second besides.
func Finagle() Policy {
	return Policy{Window: 10 * time.Second, PerRequest: 0.2, PerSecond: 10, RetryCost: 1}
}

// Standard returns the retry budget of the design (R9): a tenth of the requests of the last 10 s, and at least ten
// retries a second.
func Standard() Policy {
	return Policy{Window: 10 * time.Second, PerRequest: 0.1, PerSecond: 10, RetryCost: 1}
}

// GRPC returns the policy of retryThrottling in gRPC's proposal A6 with the numbers of its example: ten tokens, every
// failure takes one, every success earns a tenth, and retries are made while more than half of the tokens are
// available.
func GRPC() Policy {
	return Policy{Capacity: 10, PerSuccess: 0.1, FailureCost: 1, Threshold: 5}
}

// SDK returns the retry quota of a client of an AWS SDK, such as [retry.SDK2026].
func SDK(s retry.SDK) Policy {
	return Policy{
		Capacity: float64(s.Quota), PerSuccess: float64(s.FirstSuccess), Refund: true,
		PerRefund: float64(s.RetriedSuccess), RetryCost: float64(s.RetryCost), TimeoutCost: float64(s.TimeoutCost),
		ThrottleCost: float64(s.ThrottleCost),
	}
}

// Bucket returns Brooker's token bucket: five retries, and a tenth of one more for every success.
func Bucket() Policy {
	return Policy{Capacity: 5, PerSuccess: 0.1, RetryCost: 1}
}

// Validate returns an error for each field that is out of range, all joined.
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
		{"PerRefund", p.PerRefund}, {"RetryCost", p.RetryCost}, {"TimeoutCost", p.TimeoutCost},
		{"ThrottleCost", p.ThrottleCost}, {"FailureCost", p.FailureCost}, {"Threshold", p.Threshold},
	} {
		check(f.is >= 0 && f.is <= 1e9, "%s is %v; it must be between 0 and 1,000,000,000 tokens", f.name, f.is)
	}
	check(p.Window == 0 || p.Window >= 10, "Window is %v; it must be 0 for a bucket, or at least 10 ns", p.Window)
	check(p.Window > 0 || p.Capacity > 0, "Capacity is 0; without a Window no retry is possible")
	check(p.RetryCost > 0 || p.FailureCost > 0, "RetryCost and FailureCost are 0; the budget would have no effect")
	return errors.Join(problems...)
}

// cost returns the cost of a retry.
func (p *Policy) cost(after retry.Cause) float64 {
	switch {
	case after == retry.CauseTimeout && p.TimeoutCost > 0:
		return p.TimeoutCost
	case after == retry.CauseThrottle && p.ThrottleCost > 0:
		return p.ThrottleCost
	default:
		return p.RetryCost
	}
}
