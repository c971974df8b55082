package scenario_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/lab/scenario"
	"stepback/internal/strictyaml"
	"stepback/retry"
)

// everything uses every member of the format.
const everything = `
lab: 1                       # version
name: brown-out
about: everything at once
unit: s
duration: 3600
warmup: 300
drain: 7200
workload:
  - name: events
    arrivals: {process: poisson, rate: 20}
    machine: {state: Save, retry: table:ProcessSingleUserRecord}
  - name: import
    map: {items: 20000, maxConcurrency: 40, start: 0, batch: 1}
  - name: recorded
    arrivals: {trace: arrivals.csv}
    machine: {state: Save, definition: machine.asl.json}
  - name: bursts
    arrivals: {process: mmpp, rates: [1, 20], holds: [300, 30]}
    machine: {state: Save, retry: preset:standard}
  - name: days
    arrivals: {process: diurnal, rate: 2, amplitude: 0.8, period: 86400, peak: 43200}
    machine:
      state: Save
      retry: [{errors: [E, F], interval: 1.5, rate: 1.5, maxDelay: 60, maxAttempts: 7, jitter: PROPORTIONAL,
               jitterFactor: 0.3}]
  - {name: even, arrivals: {process: constant, rate: 1}, machine: {state: Save, retry: pattern:minimal}}
service:
  db:
    servers: 5
    time: {lognormal: {mean: 0.2, cv: 1}}
    queue: {capacity: 1000, order: codel, rejection: Busy, target: 0.02, interval: 250ms}
    dropsExpired: false
    loadSlowdown: 0.001
    errors: [{name: DeadlockException, p: 0.01, after: 0.05, kind: transient},
             {name: ValidationError, p: 0.002, kind: permanent, by: item}]
  measured: {servers: 1, time: {empirical: times.csv}}
calls: {Save: {service: db, timeout: 2, timeoutError: TimeoutError, cost: lambda-1024}}
faults:
  - {at: 600, for: 300, service: db, capacity: 0.5}
  - {at: 600, for: 30, service: db, errors: {p: 1, after: 0.05}}
  - {at: 600, for: 3600, service: db, capacity: {from: 1, to: 0.6, shape: linear}}
  - {gilbert: {meanGood: 900, meanBad: 60}, service: db, errors: {p: 0.8}}
  - {at: 600, for: 900, metric: ErrorRate, says: 0.7}
observe: {period: 60, delay: 120, loss: 0.0}
expect:
  - {policy: static, metric: recovered, is: never}
  - {policy: adaptive, metric: calls.during, versus: static, ratio: "<= 0.7"}
  - {policy: adaptive, metric: success, is: ">= 0.995"}
`

var files = map[string]string{
	"arrivals.csv": "seconds\n0.5\n1,ignored\n\n# a comment\n7200\n",
	"times.csv":    "0.1\n0.3\n",
	"machine.asl.json": `{"StartAt":"Each","States":{"Each":{"Type":"Map","End":true,"ItemProcessor":{"StartAt":"Save","States":{
"Save":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","End":true,
"Retry":[{"ErrorEquals":["States.TaskFailed"],"IntervalSeconds":3,"MaxAttempts":2,"BackoffRate":1.5,"MaxDelaySeconds":9,"JitterStrategy":"FULL"}]}}}}}}`,
}

func readFile(name string) ([]byte, error) {
	text, ok := files[name]
	if !ok {
		return nil, fmt.Errorf("%s: there is no such file", name)
	}
	return []byte(text), nil
}

func TestEveryMemberIsRead(t *testing.T) {
	t.Parallel()
	s, err := scenario.Parse("x.yaml", []byte(everything), scenario.Options{ReadFile: readFile})
	if err != nil {
		t.Fatal(err)
	}
	second := time.Second
	for i, c := range []struct{ got, want any }{
		{s.Name, "brown-out"},
		{[]time.Duration{s.Duration, s.Warmup, s.Drain}, []time.Duration{3600 * second, 300 * second, 7200 * second}},
		{*s.Workloads[0].Arrivals, scenario.Arrivals{Process: scenario.Poisson, Rate: 20}},
		{s.Workloads[0].Call, scenario.Call{Timeout: 2 * second, TimeoutError: "TimeoutError", MemoryMB: 1024}},
		{*s.Workloads[1].Map, scenario.Map{Items: 20000, MaxConcurrency: 40, Batch: 1}},
		{len(s.Workloads[1].Retriers), len(s.Workloads[0].Retriers)},
		{s.Workloads[2].Arrivals.Times, []time.Duration{second / 2, second}},
		{s.Workloads[2].Retriers[0].Policy, retry.Policy{
			Interval: 3 * second, Rate: 1.5, MaxDelay: 9 * second, MaxAttempts: 2, Jitter: retry.JitterFull,
		}},
		{s.Workloads[3].Arrivals.Holds, []time.Duration{300 * second, 30 * second}},
		{s.Workloads[4].Retriers[0].Policy, retry.Policy{
			Interval: 3 * second / 2, Rate: 1.5, MaxDelay: 60 * second, MaxAttempts: 7,
			Jitter: retry.JitterProportional, JitterFactor: 0.3,
		}},
		{s.Services[0].Time, scenario.Distribution{Kind: scenario.DistributionLognormal, Mean: 0.2, CV: 1}},
		{s.Services[1].Time, scenario.Distribution{
			Kind: scenario.DistributionEmpirical, Mean: 0.2, CV: 1, Samples: []float64{0.1, 0.3},
		}},
		{s.Services[0].Errors[1], scenario.ErrorMix{Name: "ValidationError", P: 0.002, After: -1,
			Kind: scenario.Permanent, ByItem: true}},
		{
			[]any{s.Services[0].Order, s.Services[0].Queue, s.Services[0].Target},
			[]any{scenario.CoDel, 1000, 20 * time.Millisecond},
		},
		{s.Faults[2], scenario.Fault{At: 600 * second, For: 3600 * second, From: 1, To: 0.6}},
		{s.Faults[4], scenario.Fault{At: 600 * second, For: 900 * second, Service: -1, From: 1, To: 1,
			Metric: "ErrorRate", Says: 0.7}},
		{s.Observe, scenario.Observe{Period: time.Minute, Delay: 2 * time.Minute}},
		{s.Expect[1], scenario.Expectation{Policy: "adaptive", Metric: "callsDuring", Versus: "static", Relation: "<=",
			Value: 0.7, Line: 48}},
	} {
		if got, want := fmt.Sprintf("%+v", c.got), fmt.Sprintf("%+v", c.want); got != want {
			t.Errorf("%d: got %s, want %s", i, got, want)
		}
	}
}

const small = `lab: 1
name: small
duration: 100
workload: [{name: w, arrivals: {process: poisson, rate: 1}, machine: {state: S, retry: none}}]
service: {s: {servers: 1, time: 0.1}}
calls: {S: {service: s}}
`

// Every invalid scenario is rejected with its position and what to write instead.
func TestWhatIsWrongIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"rate: 1}", "rate: -5}", "x.yaml:4:57: workload[0].arrivals.rate: -5 is out of range; write a number from 1e-06 to 1e+06"},
		{"rate: 1}", "rate: .nan}", "\".nan\" is not a number"},
		{"servers: 1", "servers: 0", "x.yaml:5:24: service.s.servers: 0 is out of range; write a whole number from 1 to 1000000"},
		{"time: 0.1}", "time: 0.1, queue: {capacity: .inf}}",
			"\".inf\" is not a whole number; write one from 0 to 10000000"},
		{"time: 0.1}", "time: 0.1, queue: {capacity: 1e99}}", "is not a whole number"},
		{"time: 0.1}", "time: {exp: -1}}", "service.s.time.exp: -1 is out of range"},
		{"time: 0.1}", "time: {pareto: 1}}",
			"there is no member \"pareto\" here; known are exp, lognormal, gamma, constant and empirical"},
		{"servers: 1", "severs: 1", "x.yaml:5:15: service.s: there is no member \"severs\" here (did you mean servers?)"},
		{"lab: 1", "lab: 2", "x.yaml:1:6: lab: only version 1 of the format is supported; write lab: 1"},
		{"duration: 100", "duration: 1e300", "is not a time"},
		{"duration: 100", "duration: 100\nwarmup: 100", "leaves nothing of the duration"},
		{"calls:", "faults: [{at: 200, for: 1, service: s, capacity: 0.5}]\ncalls:",
			"x.yaml:6:15: faults[0].at: the fault begins at 3m20s, when the duration of 1m40s is over"},
		{"calls:", "faults: [{at: 20, for: 1e8, service: s, capacity: 0.5}]\ncalls:", "out of range"},
		{"calls:", "faults: [{at: 20, for: 10000, service: s, capacity: 0.5}]\ncalls:",
			"after the duration and the drain"},
		{"calls:", "faults: [{at: 20, for: 1, service: t, capacity: 0.5}]\ncalls:",
			"there is no service \"t\"; there is s"},
		{"calls:", "faults: [{at: 20, for: 1, service: s}]\ncalls:",
			"a fault has exactly one of capacity, servers, cache, errors and metric"},
		{"calls:", "expect: [{policy: p, metric: fame, is: \"> 1\"}]\ncalls:", "there is no metric \"fame\""},
		{"calls:", "expect: [{policy: p, metric: success, is: \"about 1\"}]\ncalls:", "is not a comparison"},
		{"calls:", "observe: {period: 90}\ncalls:", "whole minutes"},
		{"calls:", "faults: [{at: 1, for: 1, service: s, cache: empty}]\ncalls:", "the service s has no cache"},
		{"calls:", "faults: [{at: 1, for: 1, service: s, servers: 2}]\ncalls:", "2 is out of range"},
		{"calls:", "faults: [{at: 1, for: 1, service: s, servers: 0.5, after: 1}]\ncalls:", "only a trace has after"},
		{"calls:", "faults: [{trace: gone.csv, service: s}]\ncalls:", "gone.csv: there is no such file"},
		{"calls:", "faults: [{trace: gone.csv, service: s, at: 1}]\ncalls:", "a trace has no at"},
		{"servers: 1", "servers: 1, partitions: {count: 1}", "1 is out of range"},
		{"servers: 1", "servers: 1, quota: {burst: 5}", "rate"},
		{"servers: 1", "servers: 1, quota: {rate: 0}", "0 is out of range"},
		{"servers: 1", "servers: 3, autoscale: {max: 2}", "max is below the 3 servers"},
		{"servers: 1", "servers: 1, cache: {keys: 0, time: 0}", "0 is out of range"},
		{"servers: 1", "servers: 1, coldStart: {keep: 5}", "time"},
		{"servers: 1", "servers: 1, calls: {service: t}", "there is no service \"t\"; there is s"},
		{"servers: 1", "servers: 1, calls: {service: s}", "the service calls itself"},
		{"poisson, rate: 1", "poisson, rate: 1000000", "at most 5000000 are simulated"},
		{"poisson, rate: 1", "poisson, rate: 1, period: 5", "process poisson has no period; it has rate"},
		{"poisson, rate: 1", "trace, trace: gone.csv", "gone.csv: there is no such file"},
		{"retry: none", "retry: table:Nowhere", "state \"Nowhere\" is not in the retry table"},
		{"retry: none", "retry: pattern:wild", "there is no pattern or preset \"wild\""},
		{"retry: none", "retry: [{errors: [E], jitter: SOME}]",
			"\"SOME\" is not allowed here; write NONE, FULL, PARTIAL, DECORRELATED or PROPORTIONAL"},
		{"state: S", "state: T", "calls has no entry for the state \"T\""},
		{"name: small", "name: small\nname: large", "x.yaml:3:1: the member \"name\" occurs twice"},
		{"name: small", "name: &a small", "anchors, aliases and merges are not supported"},
		{"name: small", "name: !!binary small", "the tag"},
		{small, "", "the file is empty"},
		{small, "{", "x.yaml:1:1: this is not YAML"},
		{small, "[]", "an object is expected here, not a list"},
		{small, small + "---\nlab: 1\n", "more than one YAML document"},
	} {
		text := strings.Replace(small, c.from, c.to, 1)
		_, err := scenario.Parse("x.yaml", []byte(text), scenario.Options{ReadFile: readFile})
		var problems strictyaml.Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q instead of %q: %v\nwant %s", c.to, c.from, err, c.want)
		}
	}
}

// The scenario in the manual is valid.
func TestTheManualsScenario(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/laboratory.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	yaml, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the manual has no scenario")
	}
	if _, err := scenario.Parse("laboratory.md", []byte(yaml), scenario.Options{}); err != nil {
		t.Error(err)
	}
}

func TestMatchIsThatOfStepFunctions(t *testing.T) {
	t.Parallel()
	r := []scenario.Retrier{{Errors: []string{"A"}}, {Errors: []string{"States.TaskFailed"}},
		{Errors: []string{"States.ALL"}}}
	for name, want := range map[string]int{"A": 0, "B": 1, "States.Timeout": 2, "States.Runtime": -1} {
		if got := scenario.Match(r, name); got != want {
			t.Errorf("%s is taken by retrier %d, want %d", name, got, want)
		}
	}
	if got := scenario.Match(r[:1], "B"); got != -1 {
		t.Errorf("B is taken by retrier %d, want none", got)
	}
}

func TestDefinitionsThatCannotServe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		files["machine.asl.json"]: `no state "Load"; its Task states are Save`,
		`{"StartAt":"A"}`:         "is not a valid definition",
		`nonsense: [`:             "is not a valid definition",
	} {
		if _, err := scenario.FromDefinition("m.json", text, "Load"); err == nil || !strings.Contains(err.Error(),
			want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

// No text makes the parser panic or hang, and what it accepts has numbers within bounds.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add(small)
	f.Add("lab: 1\nfaults: [{gilbert: {}}]\nworkload: [[]]\nservice: {a: {time: {exp: {}}}}")
	f.Add("? [a]\n: b")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scenario.Parse("f.yaml", []byte(text), scenario.Options{ReadFile: readFile})
		if (s == nil) == (err == nil) {
			t.Fatalf("scenario %v with error %v", s, err)
		}
		if s == nil {
			return
		}
		if s.Duration <= 0 || s.Warmup < 0 || s.Warmup >= s.Duration || len(s.Workloads) == 0 || len(s.Services) == 0 {
			t.Fatalf("accepted %+v", s)
		}
		for _, w := range s.Workloads {
			if w.Call.Service >= len(s.Services) || (w.Arrivals == nil) == (w.Map == nil) {
				t.Fatalf("accepted %+v", w)
			}
		}
	})
}

func ExampleParse() {
	_, err := scenario.Parse("mine.yaml", []byte(strings.Replace(small, "servers: 1", "servers: 0", 1)),
		scenario.Options{})
	fmt.Println(err)
	// Output: mine.yaml:5:24: service.s.servers: 0 is out of range; write a whole number from 1 to 1000000
}

// The lines of an incident's trace are checked, with file and line.
func TestTracesOfIncidentsAreChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0,1\n":                  "line 1: it has 2 fields; write time,speed,errors",
		"seconds,speed\n5,1,0\n": "fewer than two rows",
		"5,1,0\n5,1,0\n":         "line 2: \"5\" is not after the time of the line before",
		"5,-1,0\n6,1,0\n":        "line 1: \"-1\" is not a speed",
		"5,NaN,0\n6,1,0\n":       "line 1: \"NaN\" is not a speed",
		"5,1,1.1\n6,1,0\n":       "line 1: \"1.1\" is not a share of failing calls",
		"5,1,0\n99999999,1,0\n":  "after the duration and the drain",
	} {
		faulty := strings.Replace(small, "calls:", "faults: [{trace: incident.csv, service: s}]\ncalls:", 1)
		_, err := scenario.Parse("x.yaml", []byte(faulty), scenario.Options{ReadFile: func(string) ([]byte, error) {
			return []byte(text), nil
		}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want %q in it", text, err, want)
		}
	}
}

// TestQuotasOfAWS reads the quotas that a service names instead of numbers.
func TestQuotasOfAWS(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]scenario.Quota{
		"{rate: 4}":                            {Rate: 4, Burst: 4, Error: "TooManyRequestsException"},
		"{rate: 0.5, burst: 3, error: Busy}":   {Rate: 0.5, Burst: 3, Error: "Busy"},
		"{of: dynamodb, rate: 100}":            {Rate: 100, Burst: 30_000, Error: "ProvisionedThroughputExceededException"},
		"{of: lambda}":                         {Rate: 70, Burst: 70, Error: "TooManyRequestsException"},
		"{of: api-gateway}":                    {Rate: 10_000, Burst: 5_000, Error: "TooManyRequestsException"},
		"{of: api-gateway, rate: 5, burst: 9}": {Rate: 5, Burst: 9, Error: "TooManyRequestsException"},
	} {
		s, err := scenario.Parse("s.yaml", []byte(`
lab: 1
name: q
duration: 10
workload: [{name: w, arrivals: {process: constant, rate: 1}, machine: {state: S, retry: none}}]
service: {s: {servers: 7, time: 0.1, quota: `+text+`}}
calls: {S: {service: s}}
`), scenario.Options{})
		if err != nil || *s.Services[0].Quota != want {
			t.Errorf("%s: %+v, %v", text, s.Services[0].Quota, err)
		}
	}
}
