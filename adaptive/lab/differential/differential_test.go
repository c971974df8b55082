package differential_test

import (
	"math"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/failsafe-go/failsafe-go/adaptivethrottler"
	"pgregory.net/rapid"

	"stepback/adaptive/budget"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/scenarios"
	"stepback/adaptive/lab/simulation"
)

// Every retry of a run under sdk-standard is granted by the SDK's own token bucket, and for every record that is
// given up too early the bucket refuses a retry.
func TestQuotaOfTheSDK(t *testing.T) {
	t.Parallel()
	p, err := policy.Named("sdk-standard")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"outage-30s", "brown-out", "independent-errors"} {
		s, err := scenarios.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		compareQuota(t, s, p)
	}
}

func compareQuota(t *testing.T, s *scenario.Scenario, p *policy.Policy) {
	t.Helper()
	var attempts []simulation.Attempt
	last := map[int]int{}
	if _, err := simulation.Run(t.Context(), simulation.Options{Scenario: s, Policy: p, Seed: 7,
		Trace: func(a simulation.Attempt) {
			attempts = append(attempts, a) // in the order of their ends, the order in which the quota decides
			last[a.Item] = a.Number
		}}); err != nil {
		t.Fatal(err)
	}
	bucket := ratelimit.NewTokenRateLimit(500)
	release := map[int]func() error{}
	granted, refused := 0, 0
	for i, a := range attempts {
		switch {
		case a.Error == "":
			if give := release[a.Item]; give != nil {
				_ = give() // returns the cost of the retry
			} else {
				_ = bucket.AddTokens(1)
			}
		case a.Number < 3:
			cost := uint(5)
			if a.Error == "TimeoutError" {
				cost = 10
			}
			give, err := bucket.GetToken(t.Context(), cost)
			if retried := last[a.Item] > a.Number; retried != (err == nil) {
				t.Fatalf("%s, decision %d: retried is %v in the laboratory and %v in the SDK", s.Name, i, retried,
					err == nil)
			}
			release[a.Item] = give
			if err == nil {
				granted++
			} else {
				refused++
			}
		}
	}
	t.Logf("%s: %d retries granted, %d refused", s.Name, granted, refused)
	if granted < 50 || s.Name == "brown-out" && refused < 100 {
		t.Errorf("%s: %d retries granted and %d refused are no comparison", s.Name, granted, refused)
	}
}

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
