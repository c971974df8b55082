package retrypatterns

import (
	"time"

	"stepback/retry"
)

// Retrier is one element of an ASL Retry array. Its JSON has AWS's field names, in the order of AWS's documentation. A
// field whose zero value AWS does not accept is left out when zero, which is how a retrier that never retries
// (MaxAttempts 0) carries no delays.
type Retrier struct {
	ErrorEquals     []string     `json:"ErrorEquals"`
	IntervalSeconds int          `json:"IntervalSeconds,omitempty"`
	MaxAttempts     int          `json:"MaxAttempts"`
	BackoffRate     float64      `json:"BackoffRate,omitempty"`
	MaxDelaySeconds int          `json:"MaxDelaySeconds,omitempty"`
	JitterStrategy  retry.Jitter `json:"JitterStrategy,omitempty"`
	Comment         string       `json:"Comment,omitempty"`
}

// Policy is how Step Functions carries the retrier out.
func (r Retrier) Policy() retry.Policy {
	return retry.Policy{
		Interval:    time.Duration(r.IntervalSeconds) * time.Second,
		Rate:        r.BackoffRate,
		MaxDelay:    time.Duration(r.MaxDelaySeconds) * time.Second,
		MaxAttempts: r.MaxAttempts,
		Jitter:      r.JitterStrategy,
	}
}
