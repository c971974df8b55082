package differential_test

import (
	"math"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivethrottler"
	"pgregory.net/rapid"

	"stepback/adaptive/budget"
)

// The probability of a refusal equals that of failsafe-go's adaptive throttler, whose failure rate threshold of 1 −
// 1/K corresponds to our K, up to its maximum rejection rate.
func TestThrottlerOfFailsafe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom([]float64{1.25, 2, 4}).Draw(t, "K")
		theirs := adaptivethrottler.NewBuilder[any]().WithFailureRateThreshold(1-1/k, 0,
			time.Hour).WithMaxRejectionRate(1).Build()
		ours, p := budget.Throttle{}, budget.ThrottlePolicy{K: k, Window: time.Hour}
		now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		for range rapid.IntRange(1, 200).Draw(t, "calls") {
			ours.Allow(&p, now, 1)
			if rapid.Bool().Draw(t, "accepted") {
				ours.Accepted(&p, now)
				theirs.RecordSuccess()
			} else {
				theirs.RecordFailure()
			}
			_ = theirs.AcquirePermit() // updates its rate
			if a, b := ours.Refuses(&p, now), theirs.RejectionRate(); math.Abs(a-b) > 1e-9 {
				t.Fatalf("we refuse with %v and failsafe-go with %v", a, b)
			}
		}
	})
}
