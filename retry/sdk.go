package retry

import (
	"slices"
	"strings"
	"time"
)

// Cause is the kind of failure that a retry follows. Retry quotas charge by it.
type Cause uint8

// The causes.
const (
	// CauseOther is a failure that is neither a timeout nor a throttle.
	CauseOther Cause = iota
	// CauseTimeout is an attempt that took too long for its caller.
	CauseTimeout
	// CauseThrottle is an attempt that the callee refused because of its caller's rate.
	CauseThrottle
)

// String returns "throttle", "timeout" or "other".
func (c Cause) String() string {
	switch c {
	case CauseTimeout:
		return "timeout"
	case CauseThrottle:
		return "throttle"
	default:
		return "other"
	}
}

// throttleCodes are the error codes that the AWS SDKs take for throttling (aws-sdk-go-v2, aws/retry).
var throttleCodes = []string{
	"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException", "TooManyRequestsException",
	"ProvisionedThroughputExceededException", "TransactionInProgressException", "RequestLimitExceeded",
	"BandwidthLimitExceeded", "LimitExceededException", "RequestThrottled", "SlowDown", "PriorRequestNotComplete",
	"EC2ThrottledException",
}

// IsThrottle reports whether an error name, with or without its service ("Lambda.TooManyRequestsException"), stands for
// throttling.
func IsThrottle(name string) bool {
	code := name[strings.LastIndexByte(name, '.')+1:]
	return code == TooManyRequestsError || slices.Contains(throttleCodes, code)
}

// SDK describes how a client of an AWS SDK repeats calls in standard mode, which is the default. All calls of the
// client share one quota of tokens. [SDK2025] and [SDK2026] return the two generations.
type SDK struct {
	// MaxAttempts is the number of attempts of a call, including the first; 1 or more.
	MaxAttempts int
	// Base and ThrottleBase are the longest wait after the first attempt, by the cause of its failure. Each further
	// failure doubles them, up to MaxBackoff. The wait is uniform between 0 and that.
	Base, ThrottleBase, MaxBackoff time.Duration
	// CapJittered also draws waits at the cap at random. If it is false, they are MaxBackoff exactly.
	CapJittered bool
	// Quota is the number of tokens that a client starts with and can hold at most.
	Quota int
	// RetryCost, TimeoutCost and ThrottleCost are the tokens that a retry takes, by the cause of the failure before it.
	// A retry that the quota does not cover is not made. A retry that succeeds returns its own tokens.
	RetryCost, TimeoutCost, ThrottleCost int
	// FirstSuccess is earned by a call that succeeds at once, and RetriedSuccess by one that succeeds later, in
	// addition to the returned tokens.
	FirstSuccess, RetriedSuccess int
	// RetryAfter is the time by which the header x-amz-retry-after can lengthen a wait at most; 0 ignores the header.
	RetryAfter time.Duration
	// PollsWait makes long polls (SQS ReceiveMessage, Step Functions GetActivityTask) wait as before a retry if the
	// quota does not cover it, and then report the failure. Without it a loop of polls spins at once.
	PollsWait bool
}

// SDK2025 returns the standard mode of the SDK for Go up to v1.47, the default until 10 November 2026. Other SDKs of
// the time had other first waits: 1 s in the SDK for Python, 0.1 s (0.5 s after a throttle) in the SDK for JavaScript.
func SDK2025() SDK {
	return SDK{
		MaxAttempts: 3, Base: 2 * time.Second, ThrottleBase: 2 * time.Second, MaxBackoff: 20 * time.Second,
		Quota: 500, RetryCost: 5, TimeoutCost: 10, ThrottleCost: 5, FirstSuccess: 1, RetriedSuccess: 1,
	}
}

// SDK2026 returns the standard mode since 10 November 2026 (Retry Behavior 2.1): the SDK for Go v1.48, the SDK for
// Python 1.44, the SDK for JavaScript 3.1166, and later ones.
func SDK2026() SDK {
	return SDK{
		MaxAttempts: 3, Base: 50 * time.Millisecond, ThrottleBase: time.Second, MaxBackoff: 20 * time.Second,
		CapJittered: true, Quota: 500, RetryCost: 14, TimeoutCost: 14, ThrottleCost: 5, FirstSuccess: 1,
		RetryAfter: 5 * time.Second, PollsWait: true,
	}
}

// SDK2026DynamoDB returns the standard mode of the clients of DynamoDB and DynamoDB Streams since 10 November 2026.
func SDK2026DynamoDB() SDK {
	s := SDK2026()
	s.MaxAttempts, s.Base = 4, 25*time.Millisecond
	return s
}

// Cost returns the tokens that a retry takes after a failure.
func (s SDK) Cost(after Cause) int {
	switch after {
	case CauseThrottle:
		return s.ThrottleCost
	case CauseTimeout:
		return s.TimeoutCost
	default:
		return s.RetryCost
	}
}

// Delay returns the wait after the attempt with the number failed, counted from 1, has failed. With a nil Rand, it
// returns the longest wait.
func (s SDK) Delay(failed int, cause Cause, rnd Rand) time.Duration {
	p, longest := s.backoff(cause), s.longest(failed, cause)
	if longest == s.MaxBackoff && p.ceiling(failed) > s.MaxBackoff && !s.CapJittered {
		return s.MaxBackoff
	}
	return uniform(rnd, 0, longest)
}

// longest returns the upper end of the wait's range.
func (s SDK) longest(failed int, cause Cause) time.Duration {
	return min(s.backoff(cause).ceiling(failed), s.MaxBackoff)
}

// backoff returns the doubling delays without a cap.
func (s SDK) backoff(cause Cause) Policy {
	base := s.Base
	if cause == CauseThrottle {
		base = s.ThrottleBase
	}
	return Policy{Interval: base, Rate: 2}
}

// After returns the wait if the response asked, by the header x-amz-retry-after, for a pause of asked.
func (s SDK) After(wait, asked time.Duration) time.Duration {
	return min(max(wait, asked), saturatingAdd(wait, s.RetryAfter))
}

// Waits returns the range and mean of the wait after each failed attempt but the last, if all fail for the same cause.
func (s SDK) Waits(cause Cause) []Wait {
	waits := make([]Wait, 0, max(s.MaxAttempts-1, 0))
	for failed := 1; failed < s.MaxAttempts; failed++ {
		longest := s.longest(failed, cause)
		w := Wait{0, longest / 2, longest}
		if s.Delay(failed, cause, zero{}) == s.MaxBackoff {
			w = Wait{longest, longest, longest}
		}
		waits = append(waits, w)
	}
	return waits
}

// zero is the Rand that yields the shortest waits.
type zero struct{}

func (zero) Uint64() uint64 { return 0 }
