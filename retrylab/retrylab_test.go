package retrylab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"stepback/retrylab"
	"stepback/retrylab/policy"
	"stepback/retrylab/scenario"
	"stepback/retrylab/scenarios"
)

func experiment(t testing.TB, seeds int, first uint64, scenarioNames, policyNames string) retrylab.Experiment {
	t.Helper()
	e := retrylab.Experiment{Seeds: seeds, FirstSeed: first}
	for name := range strings.SplitSeq(scenarioNames, ",") {
		s, err := scenarios.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		e.Scenarios = append(e.Scenarios, s)
	}
	for name := range strings.SplitSeq(policyNames, ",") {
		p, err := policy.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		e.Policies = append(e.Policies, p)
	}
	return e
}

func jsonOf(t *testing.T, e retrylab.Experiment) string {
	t.Helper()
	r, err := retrylab.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTheReportDoesNotDependOnTheProcessors(t *testing.T) {
	t.Parallel()
	e := experiment(t, 3, 20_000, "outage-30s,gusts", "static,adaptive")
	e.Workers = 1
	one := jsonOf(t, e)
	e.Workers = 7
	calls := 0
	e.Progress = func(done, total int) {
		calls++
		if done != calls || total != 12 {
			t.Errorf("progress is %d of %d at call %d", done, total, calls)
		}
	}
	if seven := jsonOf(t, e); seven != one {
		t.Error("reports of one and of seven workers differ")
	}
}

func TestTheReportHasWhatScriptsRead(t *testing.T) {
	t.Parallel()
	text := jsonOf(t, experiment(t, 4, 20_000, "outage-30s", "none,adaptive"))
	var report struct {
		Lab   int
		Seeds struct {
			First, Count int
			Tuning       bool
		}
		Results []struct {
			Scenario, Policy string
			Metrics          map[string]map[string]any
			Phases           map[string]map[string]map[string]any
			NotRecovered     int
			VersusStatic     map[string]map[string]any
		}
		Expectations []struct {
			Scenario, Text, Got string
			Judged, Met         bool
		}
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	if report.Lab != 1 || report.Seeds.First != 20_000 || report.Seeds.Count != 4 || report.Seeds.Tuning || len(report.Results) != 2 {
		t.Fatalf("report is %+v", report)
	}
	for _, r := range report.Results {
		for _, name := range append([]string{"notRecovered"}, scenario.Metrics...) {
			for _, member := range []string{"mean", "low", "high"} {
				if _, ok := r.Metrics[name][member]; !ok {
					t.Errorf("%s has no metrics.%s.%s", r.Policy, name, member)
				}
				if _, ok := r.VersusStatic[name][member]; !ok && name != "notRecovered" {
					t.Errorf("%s has no versusStatic.%s.%s", r.Policy, name, member)
				}
			}
		}
		for _, phase := range []string{"before", "during", "after", "drain"} {
			if _, ok := r.Phases[phase]["success"]["mean"]; !ok {
				t.Errorf("%s has no phases.%s.success.mean", r.Policy, phase)
			}
		}
	}
	if gain := report.Results[1].VersusStatic["success"]["low"].(float64); gain < 0.7 {
		t.Errorf("adaptive gains at least %v over static, want most of what static loses", gain)
	}
	judged := 0
	for _, e := range report.Expectations {
		if e.Judged {
			judged++
			if !e.Met {
				t.Errorf("%s: %s is not met: %s", e.Scenario, e.Text, e.Got)
			}
		} else if e.Got == "" {
			t.Errorf("%s does not say why it was not judged", e.Text)
		}
	}
	if judged != 4 {
		t.Errorf("%d expectations were judged, want the 4 about none and adaptive", judged)
	}
}

// A censored time is never averaged: it is null, and counted.
func TestCensoredTimesAreNull(t *testing.T) {
	t.Parallel()
	e := experiment(t, 3, 20_000, "outage-30s", "static")
	r, err := retrylab.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r.Result("outage-30s", "static"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"timeToRecover":{"mean":null,"low":null,"high":null,"n":3,"statistic":"median"}`, `"notRecovered":3`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

func TestExperimentsOutOfBoundsAreRefused(t *testing.T) {
	t.Parallel()
	whole := experiment(t, 1, 1, "calm", "none")
	for want, change := range map[string]func(*retrylab.Experiment){
		"1000000000 seeds are out of range": func(e *retrylab.Experiment) { e.Seeds = 1_000_000_000 },
		"0 seeds are out of range":          func(e *retrylab.Experiment) { e.Seeds = 0 },
		"the first seed":                    func(e *retrylab.Experiment) { e.FirstSeed = 1<<64 - 1 },
		"a scenario and a policy":           func(e *retrylab.Experiment) { e.Scenarios = nil },
		`two policies "none"`:               func(e *retrylab.Experiment) { e.Policies = append(e.Policies, e.Policies[0]) },
		`two scenarios "calm"`:              func(e *retrylab.Experiment) { e.Scenarios = append(e.Scenarios, e.Scenarios[0]) },
	} {
		e := whole
		change(&e)
		if _, err := retrylab.Run(t.Context(), e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}

// What the scenarios that come along expect holds, here with a few of the seeds for tuning; STEPBACK_LAB_SEEDS=30 takes as many of
// those for reports, which needs minutes.
func TestExpectationsHold(t *testing.T) {
	t.Parallel()
	seeds, first := 2, uint64(1)
	if text := os.Getenv("STEPBACK_LAB_SEEDS"); text != "" {
		if _, err := fmt.Sscan(text, &seeds); err != nil {
			t.Fatal(err)
		}
		first = retrylab.FirstReportedSeed
	}
	r, err := retrylab.Run(t.Context(), experiment(t, seeds, first, strings.Join(scenarios.Names(), ","), "none,static,controller,adaptive"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Expectations {
		if !e.Judged || !e.Met {
			t.Errorf("%s: %s: %s", e.Scenario, e.Text, e.Got)
		}
	}
	if r.Failed() {
		t.Error("the report has failed")
	}
}

func ExampleRun() {
	s, err := scenarios.Named("calm")
	if err != nil {
		panic(err)
	}
	p, err := policy.Named("static")
	if err != nil {
		panic(err)
	}
	r, err := retrylab.Run(context.Background(), retrylab.Experiment{Scenarios: []*scenario.Scenario{s}, Policies: []*policy.Policy{p}, Seeds: 2, FirstSeed: 1})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f calls per record\n", r.Result("calm", "static").Metrics["amplification"].Mean)
	// Output: 1.020 calls per record
}
