package retrypatterns

import (
	"time"

	"stepback/retry"
)

// Retrier is one element of an ASL Retry array. Its JSON has AWS's field names, in the order of AWS's documentation.
// A field is omitted if it is zero and AWS does not accept zero for it, so a retrier that never retries (MaxAttempts
// 0) has no delays.
type Retrier struct {
	ErrorEquals     []string     `json:"ErrorEquals"`
	IntervalSeconds int          `json:"IntervalSeconds,omitempty"`
	MaxAttempts     int          `json:"MaxAttempts"`
	BackoffRate     float64      `json:"BackoffRate,omitempty"`
	MaxDelaySeconds int          `json:"MaxDelaySeconds,omitempty"`
	JitterStrategy  retry.Jitter `json:"JitterStrategy,omitempty"`
	Comment         string       `json:"Comment,omitempty"`
}

// Policy returns the policy that Step Functions applies to the retrier.
func (r Retrier) Policy() retry.Policy {
	return retry.Policy{
		Interval:    time.Duration(r.IntervalSeconds) * time.Second,
		Rate:        r.BackoffRate,
		MaxDelay:    time.Duration(r.MaxDelaySeconds) * time.Second,
		MaxAttempts: r.MaxAttempts,
		Jitter:      r.JitterStrategy,
	}
}
