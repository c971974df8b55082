package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stepback/adaptive/lab"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/scenarios"
	"stepback/adaptive/lab/simulation"
)

func experiment(t testing.TB, seeds int, first uint64, scenarioNames, policyNames string) lab.Experiment {
	t.Helper()
	e := lab.Experiment{Seeds: seeds, FirstSeed: first}
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

func jsonOf(t *testing.T, e lab.Experiment) string {
	t.Helper()
	r, err := lab.Run(t.Context(), e)
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
			TippedOver       struct {
				Seeds, Of int
				Low, High float64
			}
			VersusStatic map[string]map[string]any
		}
		Expectations []struct {
			Scenario, Text, Got string
			Judged, Met         bool
		}
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	if s := report.Seeds; report.Lab != 1 || s.First != 20_000 || s.Count != 4 || s.Tuning || len(report.Results) != 2 {
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
	gain := report.Results[1].VersusStatic["success"]
	if mean := gain["mean"].(float64); mean < 0.8 {
		t.Errorf("adaptive gains %v over static, want most of what static loses", mean)
	}
	// Four seeds that agree do not exclude that every second seed is of another kind.
	if low := gain["low"].(float64); low > 0 {
		t.Errorf("adaptive gains at least %v by four seeds, want an interval that contains 0", low)
	}
	if none := report.Results[0]; none.TippedOver.Seeds != 0 || none.TippedOver.Of != 4 ||
		math.Abs(none.TippedOver.High-0.4899) > 1e-4 || none.Metrics["tippedOver"]["high"].(float64) < 1.9 {
		t.Errorf("none tips over in %+v, want 0 of 4 with a Wilson interval up to 0.4899", none.TippedOver)
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

// A censored time is never averaged: it is null in the report, and counted.
func TestCensoredTimesAreNull(t *testing.T) {
	t.Parallel()
	e := experiment(t, 3, 20_000, "outage-30s", "static")
	r, err := lab.Run(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r.Result("outage-30s", "static"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"timeToRecover":{"mean":null,"low":null,"high":null,"n":3,"statistic":"median"}`,
		`"notRecovered":3`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

func TestExperimentsOutOfBoundsAreRefused(t *testing.T) {
	t.Parallel()
	whole := experiment(t, 1, 1, "calm", "none")
	for want, change := range map[string]func(*lab.Experiment){
		"1000000000 seeds are out of range": func(e *lab.Experiment) { e.Seeds = 1_000_000_000 },
		"0 seeds are out of range":          func(e *lab.Experiment) { e.Seeds = 0 },
		"the first seed":                    func(e *lab.Experiment) { e.FirstSeed = 1<<64 - 1 },
		"a scenario and a policy":           func(e *lab.Experiment) { e.Scenarios = nil },
		`two policies "none"`: func(e *lab.Experiment) {
			e.Policies = append(e.Policies,
				e.Policies[0])
		},
		`two scenarios "calm"`: func(e *lab.Experiment) {
			e.Scenarios = append(e.Scenarios,
				e.Scenarios[0])
		},
	} {
		e := whole
		change(&e)
		if _, err := lab.Run(t.Context(), e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}

// The expectations of the built-in scenarios hold, here with a few tuning seeds. STEPBACK_LAB_SEEDS=30 uses that many
// reporting seeds, which takes minutes.
func TestExpectationsHold(t *testing.T) {
	t.Parallel()
	seeds, first := 2, uint64(1)
	if text := os.Getenv("STEPBACK_LAB_SEEDS"); text != "" {
		if _, err := fmt.Sscan(text, &seeds); err != nil {
			t.Fatal(err)
		}
		first = lab.FirstReportedSeed
	}
	const durable = "durable-steps"
	others := slices.DeleteFunc(scenarios.Names(), func(name string) bool { return name == durable })
	for names, policies := range map[string]string{
		strings.Join(others, ","): "none,static,aimd,controller,controller-redrive,controller-herd,adaptive",
		durable:                   "durable,durable-half,durable-unjittered",
	} {
		r, err := lab.Run(t.Context(), experiment(t, seeds, first, names, policies))
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
	r, err := lab.Run(context.Background(), lab.Experiment{
		Scenarios: []*scenario.Scenario{s}, Policies: []*policy.Policy{p}, Seeds: 2, FirstSeed: 1,
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f calls per record\n", r.Result("calm", "static").Metrics["amplification"].Mean)
	// Output: 1.02 calls per record
}

// No outage is endless if ρ(1 + m) ≤ 1, and one is if it is far above 1.
func TestTheLineOfTheMapIsSafe(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Named("outage-30s")
	if err != nil {
		t.Fatal(err)
	}
	sweep, err := lab.SweepRetries(t.Context(), s, lab.Experiment{Seeds: 1, FirstSeed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(sweep.Cells) != 63 {
		t.Fatalf("%d cells", len(sweep.Cells))
	}
	for _, c := range sweep.Cells {
		switch load := c.Utilisation * float64(1+c.Retries); {
		case load <= 1 && c.Collapsed > 0:
			t.Errorf("no end at ρ = %v with %d retries, where ρ(1 + m) is %.2f", c.Utilisation, c.Retries, load)
		case load >= 3 && c.Collapsed == 0:
			t.Errorf("an end at ρ = %v with %d retries, where ρ(1 + m) is %.2f", c.Utilisation, c.Retries, load)
		}
	}
	closed, err := scenarios.Named("map-outage")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lab.SweepRetries(t.Context(), closed, lab.Experiment{Seeds: 1}); err == nil {
		t.Error("a Map is swept")
	}
}

func TestPrepareTakesADefinition(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "m.asl.json")
	if err := os.WriteFile(file, []byte(`{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
"End":true,"Retry":[{"ErrorEquals":["TimeoutError"],"MaxAttempts":1}]}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	plan := lab.Plan{Scenarios: []string{"outage-30s"}, Definition: file, State: "S", Seeds: 1, FirstSeed: 1}
	e, err := lab.Prepare(plan)
	if err != nil {
		t.Fatal(err)
	}
	s := e.Scenarios[0]
	r := s.Workloads[0].Retriers
	if len(r) != 1 || r[0].Policy.MaxAttempts != 1 || len(s.Expect) != 0 || len(e.Policies) != 6 {
		t.Errorf("%+v with %d expectations and %d policies", r, len(s.Expect), len(e.Policies))
	}
	if got, want := lab.Unmatched(s),
		"outage-30s raises ServiceUnavailableError, DatabaseConnectionError, which no retrier matches"; got != want {
		t.Errorf("note is %q, want %q", got, want)
	}
	for want, change := range map[string]func(*lab.Plan){
		"give both":                   func(p *lab.Plan) { p.State = "" },
		"has no state \"T\"":          func(p *lab.Plan) { p.State = "T" },
		"no such file":                func(p *lab.Plan) { p.Definition = "gone.json" },
		"there is no policy \"wild\"": func(p *lab.Plan) { p.Policies = []string{"wild"} },
		"there is no scenario":        func(p *lab.Plan) { p.Scenarios = []string{"calm", "storm"} },
	} {
		p := plan
		change(&p)
		if _, err := lab.Prepare(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}

func TestWhatComesAlongIsListed(t *testing.T) {
	t.Parallel()
	list := lab.List()
	if len(list.Scenarios) < 12 || len(list.Policies) != 17 {
		t.Errorf("%d scenarios and %d policies", len(list.Scenarios), len(list.Policies))
	}
	for _, name := range []string{"outage-30s", "adaptive"} {
		if text, err := lab.File(name); err != nil || !strings.Contains(string(text), "name: "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := lab.File("../doc.go"); err == nil {
		t.Error("another file is printed")
	}
}

func TestTheTableIsForPeople(t *testing.T) {
	t.Parallel()
	r, err := lab.Run(t.Context(), experiment(t, 2, 1, "map-crowded", "none"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	r.WriteTable(&out)
	for _, want := range []string{"map-crowded, seeds 1 to 2\n", "policy", "none ",
		"not run  map-crowded: adaptive: success >= 0.99 (not run)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// An experiment with Precise runs as many seeds as the precision needs, up to the maximum. It does not stop because
// the seeds so far agree: about 90 of them are needed to exclude that one in 25 is of another kind.
func TestPreciseExperimentsStop(t *testing.T) {
	t.Parallel()
	text := func(rate, p string) []byte {
		return []byte(`
lab: 1
name: chance
duration: 60
workload: [{name: w, arrivals: {process: poisson, rate: ` + rate + `}, machine: {state: Save, retry: none}}]
service: {db: {servers: 100, time: 0.1, errors: [{name: E, p: ` + p + `}]}}
calls: {Save: {service: db}}
`)
	}
	for _, c := range []struct {
		rate, p string
		want    func(n int) bool
	}{
		{"1", "0", func(n int) bool { return n >= 85 && n <= 95 }},
		{"1", "0.2", func(n int) bool { return n >= 95 && n < lab.PreciseSeeds && n%10 == 5 }},
		{"0.05", "0.5", func(n int) bool { return n == lab.PreciseSeeds }},
	} {
		s, err := scenario.Parse("chance.yaml", text(c.rate, c.p), scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		static, err := policy.Named("static")
		if err != nil {
			t.Fatal(err)
		}
		r, err := lab.Run(t.Context(), lab.Experiment{
			Scenarios: []*scenario.Scenario{s}, Policies: []*policy.Policy{static}, Seeds: 5,
			FirstSeed: 100, Precise: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := r.Seeds.Count; !c.want(n) || r.Results[0].Metrics["goodput"].N != n {
			t.Errorf("errors of %s: %d seeds", c.p, n)
		}
	}
}

// If the load comes and goes, no controller oscillates: at most one reversal per hour in every single seed.
func TestNoSeedOscillates(t *testing.T) {
	t.Parallel()
	at := slices.Index(scenario.Metrics, "reversalsPerHour")
	for _, name := range []string{"flapping", "slow-drift"} {
		s, err := scenarios.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []string{"controller", "adaptive"} {
			p, err := policy.Named(of)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(4) {
				r, err := simulation.Run(t.Context(), simulation.Options{Scenario: s, Policy: p, Seed: 60_000 + seed})
				if err != nil {
					t.Fatal(err)
				}
				if r.Values[at] > 1 {
					t.Errorf("%s, %s, seed %d: %.2f reversals an hour", name, of, 60_000+seed, r.Values[at])
				}
			}
		}
	}
}
