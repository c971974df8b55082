package analysis_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/analysis"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
	"stepback/retry"
	"stepback/retrypatterns"
)

// task returns a task whose attempts end with errors, one a second, beginning at a time; an empty error is a success.
func task(at time.Duration, errors ...string) analysis.Task {
	t := analysis.Task{Execution: fmt.Sprint(at), State: "Save", Callee: "db", Rules: "a", Ending: analysis.GivenUp}
	for i, e := range errors {
		start := began.Add(at + time.Duration(i)*time.Second)
		end := start.Add(100 * time.Millisecond)
		t.Attempts = append(t.Attempts, analysis.Attempt{Start: start, End: end, Error: e})
		if e == "" {
			t.Ending = analysis.Done
		}
	}
	return t
}

func analyze(t *testing.T, c *analysis.Collector, o analysis.Options) *analysis.Report {
	t.Helper()
	r, err := c.Analyze(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecommendations(t *testing.T) {
	t.Parallel()
	rules := []retrypatterns.Retrier{retrier(1, 3, 1, "E"), retrier(1, 1, 1, "F")}
	for name, c := range map[string]struct {
		tasks func(add func(analysis.Task))
		want  string
	}{
		"retries 2 and 3 never recovered, spread over spells": {
			func(add func(analysis.Task)) {
				for i := range 400 {
					at := time.Duration(i) * 6 * time.Minute
					add(task(at, "E", ""))
					add(task(at, "E", "E", "E", "E"))
				}
			}, "cut 3 to 1: retries 2 to 3 recovered 0 of 800, upper bound 0.5 %: worth at most $4.81e-06 each, and each costs $2.69e-05",
		},
		"the same within one spell is one outage": {
			func(add func(analysis.Task)) {
				for range 400 {
					add(task(0, "E", "E", "E", "E"))
				}
			}, "too-little-data 3: too little data: 0 of 400 of the first retry, in one spell of 5m0s, count as 1.0 independent ones; 20 are needed",
		},
		"few": {
			func(add func(analysis.Task)) {
				for i := range 10 {
					add(task(time.Duration(i)*time.Hour, "E", ""))
				}
			}, "too-little-data 3: too little data: 10 of 10 of the first retry, in 10 spells of 5m0s, count as 7.5 independent ones; 20 are needed",
		},
		"all retries recover": {
			func(add func(analysis.Task)) {
				for i := range 100 {
					add(task(time.Duration(i)*time.Hour, "E", "E", ""))
					add(task(time.Duration(i)*time.Hour, "E", ""))
				}
			}, "keep 3: retry 2 recovered 100 of 100, 96.2 to 100.0 %",
		},
		"earlier executions retried more often, and it paid": {
			func(add func(analysis.Task)) {
				for i := range 100 {
					x := task(time.Duration(i)*time.Hour, "F", "F", "")
					x.Rules = "before"
					add(x)
				}
				add(task(200*time.Hour, "F", "F"))
			}, "raise 1 to 2: retry 2, which earlier executions made, recovered 100 of 100, lower bound 96.2 %: worth at least $0.000962, and it costs $2.69e-05",
		},
		"no retry": {
			func(add func(analysis.Task)) { add(task(0, "G")) },
			"too-little-data 0: no retry of 1 task was made",
		},
	} {
		var coll analysis.Collector
		coll.Rules("a", map[string][]retrypatterns.Retrier{"Save": rules})
		coll.Rules("before", map[string][]retrypatterns.Retrier{"Save": {retrier(1, 2, 1, "F")}})
		c.tasks(coll.Add)
		rec := analyze(t, &coll, analysis.DefaultOptions()).Recommendations[0]
		got := fmt.Sprintf("%s %d", rec.Action, *rec.From)
		if rec.To != nil {
			got += fmt.Sprintf(" to %d", *rec.To)
		}
		if got += ": " + rec.Evidence; got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// Estimates for independent random errors contain the truth as often as they claim, and count nearly every retry.
func TestIndependentErrorsAreNotTakenForOutages(t *testing.T) {
	t.Parallel()
	text := `
lab: 1
name: chance
duration: 10800
workload: [{name: w, arrivals: {process: poisson, rate: 1}, machine: {state: Save, retry: RETRY}}]
service: {db: {servers: 100, time: 0.1, errors: [{name: E, p: 0.3}]}}
calls: {Save: {service: db}}
`
	rules := []retrypatterns.Retrier{retrier(1, 4, 2, "E")}
	within, all := 0, 0
	for seed := range uint64(30) {
		r := analyze(t, collect(record(t, text, rules, 30_000+seed), rules), analysis.DefaultOptions())
		for _, x := range r.Classes[0].Retries[:2] {
			all++
			if x.Low <= 0.7 && 0.7 <= x.High {
				within++
			}
			if x.Effective < 0.3*float64(x.Started) {
				t.Errorf("seed %d: %d retries count as %.1f only", seed, x.Started, x.Effective)
			}
		}
		if got := r.Recommendations[0].Action; got != analysis.KeepRetries {
			t.Errorf("seed %d: the recommendation is %s", seed, got)
		}
	}
	if within < all*88/100 {
		t.Errorf("%d of %d intervals hold the truth", within, all)
	}
}

func TestRecoveryTimesAreIntervalCensored(t *testing.T) {
	t.Parallel()
	// Half recover between 1 and 2 s after the first failure, half between 10 and 20 s. Each recovery is known only
	// to lie between the last failed attempt and the first successful one.
	var c analysis.Collector
	add := func(offsets ...float64) {
		x := task(0, "E")
		for i, s := range offsets {
			start := x.Attempts[0].End.Add(time.Duration(s * float64(time.Second)))
			a := analysis.Attempt{Start: start, End: start, Error: "E"}
			if i == len(offsets)-1 {
				a.Error, x.Ending = "", analysis.Done
			}
			x.Attempts = append(x.Attempts, a)
		}
		c.Add(x)
	}
	for range 50 {
		add(1.5, 2)
		add(1, 10, 20)
	}
	class := analyze(t, &c, analysis.DefaultOptions()).Classes[0]
	if class.MedianSeconds != 2 || class.NinetySeconds != 20 {
		t.Errorf("half within %v s and nine tenths within %v s, want 2 and 20", class.MedianSeconds, class.NinetySeconds)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	var c analysis.Collector
	_, err := c.Analyze(analysis.Options{Region: "mars", MemoryMB: -1, Value: math.NaN(), DelayPerHour: -1})
	for _, want := range []string{"the value is NaN", "the delay per hour is -1", "the memory is -1 MB",
		"the spell is 0s", `the architecture is ""`, `no prices of region "mars"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say: %s", err, want)
		}
	}
}

// If retries feed the overload, the report gives no figure, but a scenario that behaves like the record.
func TestFeedbackIsSentToTheLaboratory(t *testing.T) {
	t.Parallel()
	text := `
lab: 1
name: storm
duration: 900
workload: [{name: w, arrivals: {process: poisson, rate: 17}, machine: {state: Save, retry: RETRY}}]
service: {db: {servers: 5, time: {exp: 0.2}, queue: {capacity: 1000}}}
calls: {Save: {service: db, timeout: 2}}
faults: [{at: 300, for: 30, service: db, errors: {p: 1, after: 0.05, name: Away}}]
`
	rules := []retrypatterns.Retrier{retrier(2, 4, 1.8, "States.ALL")}
	recorded := record(t, text, rules, 10_000)
	w := whatIf(t, collect(recorded, rules), []retrypatterns.Retrier{retrier(2, 1, 1.8, "States.ALL")})
	s := w.States[0]
	if w.Level != analysis.Modelled || s.Low != nil || s.High != nil {
		t.Fatalf("the level is %s with %+v: %v", w.Level, s.Low, w.Reasons)
	}
	fitted, err := scenario.Parse("fitted.yaml", []byte(s.Scenario), scenario.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Scenario)
	}
	static, err := policy.Named("static")
	if err != nil {
		t.Fatal(err)
	}
	again, err := simulation.Run(t.Context(), simulation.Options{Scenario: fitted, Policy: static, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	was := float64(succeeded(recorded)) / float64(len(recorded))
	if got := again.Values[0]; math.Abs(got-was) > 0.15 {
		t.Errorf("the fitted scenario saves %.2f, the record %.2f:\n%s", got, was, s.Scenario)
	}
}

func TestPolicyFiles(t *testing.T) {
	t.Parallel()
	got, err := analysis.PolicyOf("p.yaml", "Save:\n- ErrorEquals: [States.ALL]\n  IntervalSeconds: 7\n")
	if want := []retrypatterns.Retrier{{ErrorEquals: []string{"States.ALL"}, IntervalSeconds: 7, MaxAttempts: 3,
		BackoffRate: 2, JitterStrategy: retry.JitterNone}}; err != nil || fmt.Sprint(got["Save"]) != fmt.Sprint(want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	got, err = analysis.PolicyOf("table.yaml", "patterns:\n  slow: {interval: 2500ms, retries: 6, jitter: FULL}\nstates:\n"+
		"  Save:\n    timeout: 30s\n    retry: [{errors: [Bad], retries: 0}, {errors: [States.ALL], pattern: slow}]\n")
	if want := []retrypatterns.Retrier{{ErrorEquals: []string{"Bad"}}, {ErrorEquals: []string{"States.ALL"}, IntervalSeconds: 3,
		MaxAttempts: 6, BackoffRate: 2, JitterStrategy: retry.JitterFull}}; err != nil ||
		fmt.Sprint(got["Save"]) != fmt.Sprint(want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	for text, want := range map[string]string{
		`{}`:                                    "p.json: it names no state",
		`[]`:                                    "not a definition, an object of Retry arrays",
		`{"Save": 7}`:                           "p.json:1:10: Expected value of type Array",
		"{\"Save\": [\n  {\"MaxAttempts\":1}]}": "p.json:2:3: ",
		"Save:\n- ErrorEquals: [E]\nPay:\n- ErrorEquals: [E]\n  IntervalSeconds: 0\n": "p.json:5:20: ",
		"Save:\n- ErrorEquals: [E]\n  BackOffRate: 2\n":                               "p.json:3:3: ",
		`{"Save": `:                 "p.json:1:",
		"Save:\n\t- ErrorEquals: 1": "p.json:2:1: ",
		`{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`:                        "it has no Task state",
		"states:\n  Save:\n    timeout: 30s\n    retries: 3\n":                             "p.json:4:5: states.Save: there is no member",
		"states:\n  Save:\n    timeout: 30s\n    retry: [{errors: [E], interval: soon}]\n": "p.json:4:37: states.Save.retry[0].interval",
		"states: {}": "p.json: the table has no state",
	} {
		if _, err := analysis.PolicyOf("p.json", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
