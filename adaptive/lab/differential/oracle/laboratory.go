package oracle

import (
	"testing"
	"time"

	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/scenarios"
	"stepback/adaptive/lab/simulation"
	"stepback/retry"
)

// Laboratory runs the shipped scenarios under a policy until at least n failed attempts have been decided about, and
// compares each decision and each wait with the SDK's retryer, which all calls of a run share. Calls overlap in these
// runs, other than in [Generation.Decisions].
func (g Generation) Laboratory(t *testing.T, name string, n int) {
	t.Helper()
	p, err := policy.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	if *p.SDK != g.Model {
		t.Fatalf("the policy %s is not %+v", name, g.Model)
	}
	var all counts
	for first := uint64(7); all.decisions < n; first++ {
		for _, name := range []string{"outage-30s", "brown-out", "independent-errors", "gusts"} {
			s, err := scenarios.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			g.replay(t, s, p, first, &all)
		}
	}
	t.Logf("%s: %d decisions: %d retries, %d refused by the quota, %d at the last attempt", name, all.decisions,
		all.retries, all.refused, all.last)
	if all.retries*20 < all.decisions || all.refused*50 < all.decisions || all.last*100 < all.decisions {
		t.Error("some kinds of decisions are too rare for a comparison")
	}
}

// replay runs one scenario and compares it.
func (g Generation) replay(t *testing.T, s *scenario.Scenario, p *policy.Policy, first uint64, all *counts) {
	t.Helper()
	var attempts []simulation.Attempt // in the order of their ends, the order in which the quota decides
	const most = 1 << 20
	random := seed(t, most, first)
	if _, err := simulation.Run(t.Context(), simulation.Options{Scenario: s, Policy: p, Seed: first, Jitter: random,
		Trace: func(a simulation.Attempt) { attempts = append(attempts, a) }}); err != nil {
		t.Fatal(err)
	}
	type call struct{ workload, item int }
	starts := map[call]map[int]time.Duration{}
	for _, a := range attempts {
		k := call{a.Workload, a.Item}
		if starts[k] == nil {
			starts[k] = map[int]time.Duration{}
		}
		starts[k][a.Number] = a.Start
	}
	sdk := awsretry.NewStandard(g.Options...)
	paid := map[call]func(error) error{}
	for i, a := range attempts {
		k := call{a.Workload, a.Item}
		var failure error
		if a.Error != "" {
			failure = errorOf(a.Error)
		}
		if release := paid[k]; release != nil {
			_ = release(failure)
			delete(paid, k)
		}
		// The SDK of 2026 has no attempt token for retries; see GetAttemptToken.
		if a.Number == 1 || !g.New {
			_ = sdk.GetInitialToken()(failure) //nolint:staticcheck // both generations have it
		}
		if failure == nil {
			continue
		}
		next, retried := starts[k][a.Number+1]
		all.decisions++
		if !sdk.IsErrorRetryable(failure) {
			t.Fatalf("%s, decision %d: the SDK does not retry %s", s.Name, i, a.Error)
		}
		if a.Number >= sdk.MaxAttempts() {
			all.last++
			if retried {
				t.Fatalf("%s, decision %d: the laboratory makes attempt %d", s.Name, i, a.Number+1)
			}
			continue
		}
		release, refused := sdk.GetRetryToken(t.Context(), failure)
		if refused != nil {
			all.refused++
		}
		if retried != (refused == nil) {
			t.Fatalf("%s, decision %d: retried is %v in the laboratory, and the SDK says %v", s.Name, i, retried, refused)
		}
		if refused != nil {
			continue
		}
		all.retries++
		paid[k] = release
		wait, err := sdk.RetryDelay(a.Number, failure)
		if err != nil {
			t.Fatal(err)
		}
		if got := next - a.End; apart(got, wait) {
			t.Fatalf("%s, decision %d: the laboratory waits %s and the SDK %s after attempt %d", s.Name, i, got, wait,
				a.Number)
		}
	}
}

// errorOf returns an error of the laboratory as a client of the SDK would receive it.
func errorOf(name string) error {
	switch {
	case name == retry.TimeoutError:
		return late{}
	case retry.IsThrottle(name):
		return response(400, "", &smithy.GenericAPIError{Code: "ThrottlingException"})
	default:
		return response(503, "", &smithy.GenericAPIError{Code: name})
	}
}
