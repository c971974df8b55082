package design_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/analysis"
	"stepback/adaptive/design"
	"stepback/asl"
	"stepback/retrypatterns"
	"stepback/retrypatterns/tablefile"
)

const orders = `
design: 1
name: save-orders
state: Save
arrivals: {rate: 4}
callee: {servers: 1, mean: [0.18, 0.2], errors: [{name: Invalid, share: 0.002, permanent: true}]}
call: {memory: 1024}
faults: [{name: outage, for: [20, 40], errors: 1, error: DatabaseConnectionError}]
objective: {saved: 0.97, within: 600}
period: 600
`

func read(t testing.TB, text string) *design.Design {
	t.Helper()
	d, err := design.Read("problem.yaml", []byte(text), false)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func solve(t testing.TB, text string, workers int) *design.Design {
	t.Helper()
	d := read(t, text)
	if err := d.Run(t.Context(), design.Options{Workers: workers}); err != nil {
		t.Fatal(err)
	}
	return d
}

func written(t testing.TB, d *design.Design) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A design file is its own input: it is computed again byte for byte, whatever the number of processors.
func TestAFileIsComputedAgain(t *testing.T) {
	t.Parallel()
	d := solve(t, orders, 2)
	first := written(t, d)
	if !d.Result.Feasible || len(d.Result.Predictions) != 2 || len(d.Result.Without) == 0 {
		t.Fatalf("no design in %s", first)
	}
	if again := written(t, read(t, first)); again != first {
		t.Errorf("the file changes when it is read and written:\n%s\n%s", first, again)
	}
	if again := written(t, solve(t, first, 1)); again != first {
		t.Errorf("with one worker it is\n%s\nwith two\n%s", again, first)
	}
}

func TestFormsOfOutput(t *testing.T) {
	t.Parallel()
	d := read(t, orders)
	d.Result = &design.Result{Feasible: true, Settings: design.Settings{
		Retry: design.Backoff{Interval: 2, Rate: 2, MaxDelay: 30, MaxAttempts: 3}, Timeout: 2, Limiter: true,
		LimiterMax: 1000,
		Paced:      &design.Backoff{Interval: 10, Rate: 1.5, MaxDelay: 60, MaxAttempts: 40},
	}}
	const text = `{
  "StartAt": "Save",
  "States": {
    "Save": {
      "Type": "Task",
      "Resource": "arn:aws:states:::lambda:invoke",
      "Parameters": {"FunctionName": "save"},
      "Retry": [{"ErrorEquals": ["CardDeclined"], "MaxAttempts": 0}, {"ErrorEquals": ["States.ALL"]}],
      "End": true
    }
  }
}
`
	const want = `--- a/save.asl.json
+++ b/save.asl.json
@@ -2,10 +2,16 @@
   "StartAt": "Save",
   "States": {
     "Save": {
+      "TimeoutSeconds": 2,
       "Type": "Task",
       "Resource": "arn:aws:states:::lambda:invoke",
       "Parameters": {"FunctionName": "save"},
-      "Retry": [{"ErrorEquals": ["CardDeclined"], "MaxAttempts": 0}, {"ErrorEquals": ["States.ALL"]}],
+      "Retry": [
+        {"ErrorEquals":["CardDeclined"],"MaxAttempts":0},
+        {"ErrorEquals":["CircuitOpen","RetryBudgetExhausted"],"IntervalSeconds":10,"MaxAttempts":40,"BackoffRate":1.5,"MaxDelaySeconds":60,"JitterStrategy":"FULL"},
+        {"ErrorEquals":["Invalid"],"MaxAttempts":0},
+        {"ErrorEquals":["States.ALL"],"IntervalSeconds":2,"MaxAttempts":3,"BackoffRate":2,"MaxDelaySeconds":30,"JitterStrategy":"FULL"}
+      ],
       "End": true
     }
   }
`
	c, err := d.Apply("save.asl.json", text)
	if err != nil || c.Diff != want {
		t.Fatalf("%v\n%s\nwant\n%s", err, c.Diff, want)
	}
	if _, found := asl.Parse(
		c.Text,
	); asl.HasErrors(found) || len(c.Notes) != 1 ||
		!strings.Contains(c.Notes[0], "has no Catch") {
		t.Errorf("%v, %v", found, c.Notes)
	}
	if again, err := d.Apply("save.asl.json", c.Text); err != nil || strings.Count(again.Diff, "\n+") > 1 {
		t.Errorf("%v: the second time changes\n%s", err, again.Diff)
	}
	table, err := tablefile.Read("row.yaml", []byte(d.TableRow()))
	if err != nil || len(table.States) != 1 || table.States[0].Timeout != 2*time.Second {
		t.Fatalf("%v in\n%s", err, d.TableRow())
	}
	compiled, err := table.States[0].Compile()
	if err != nil || len(compiled.Retry) != 3 || compiled.Retry[2].MaxAttempts != 3 ||
		compiled.Retry[0].IntervalSeconds != 10 {
		t.Errorf("%+v, %v", compiled, err)
	}
	if !strings.Contains(
		d.CDK(),
		`task.addRetry({ errors: ["States.ALL"], interval: Duration.seconds(2), backoffRate: 2,`,
	) {
		t.Error(d.CDK())
	}
	for file, text := range map[string]string{
		"definitions in JSON only": "StartAt: Save\n", "is not a valid definition": `{"StartAt":"A","States":{}}`,
		`there is no Task state "Save"`: `{"StartAt":"A","States":{"A":{"Type":"Succeed"}}}`,
	} {
		if _, err := d.Apply("x.json", text); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestImpossibleObjectivesAreNamed(t *testing.T) {
	t.Parallel()
	replace := func(from, to string) string { return strings.Replace(orders, from, to, 1) }
	for want, text := range map[string]string{
		"outage: no policy can save more than 97.5 %":     replace("saved: 0.97, within: 600", "saved: 0.998, within: 5"),
		"1,000 records cost at least $0.0282":             replace("within: 600", "within: 600, usdPerThousand: 0.01"),
		"3 % of the records never succeed":                strings.Replace(replace("saved: 0.97", "saved: 0.999"), "share: 0.002", "share: 0.03", 1),
		"because the callee serves at most 5.556 calls/s": strings.Replace(replace("rate: 4", "rate: 8"), "within: 600", "within: 60", 1) + "allow: []\n",
	} {
		d := solve(t, text, 0)
		if d.Result.Feasible || !strings.Contains(d.Result.Because, want) ||
			!strings.Contains(d.Result.Nearest, "% of the records succeed") {
			t.Errorf(
				"%q: feasible %t, because %q, nearest %q",
				want,
				d.Result.Feasible,
				d.Result.Because,
				d.Result.Nearest,
			)
		}
	}
}

// Only a bound proves that an objective cannot be met.
func TestASearchIsNoProof(t *testing.T) {
	t.Parallel()
	for want, bounds := range map[string][]design.Bound{
		"\ncannot be met, because of it\nthe nearest is: that\n":   {{Name: "stability"}, {Name: "fluid", Excludes: true}},
		"\nno design found, because of it\nthe nearest is: that\n": {{Name: "stability"}},
	} {
		d := read(t, orders)
		d.Result = &design.Result{Because: "of it", Nearest: "that", Bounds: bounds}
		var b strings.Builder
		d.WriteText(&b)
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// An outage may leave a backlog that drains for many minutes. Waits of the usual lengths then fail: their retries keep
// the callee busy until they are used up. Waits as long as the backlog takes to drain succeed.
func TestRetriesAreSpreadOverTheDrain(t *testing.T) {
	t.Parallel()
	d := solve(t, `
design: 1
name: spread
state: Save
arrivals: {rate: 4}
period: 900
callee: {servers: 3, mean: [0.45, 0.6]}
faults: [{name: outage, for: [60, 90], errors: 1}]
objective: {saved: 0.99, within: 900, callsPerRecord: 1.5}
allow: []
`, 2)
	want := design.Settings{
		Retry:   design.Backoff{Interval: 450, Rate: 1.5, MaxDelay: 900, MaxAttempts: 2},
		Timeout: 12,
	}
	if !d.Result.Feasible || d.Result.Settings != want {
		t.Errorf("feasible %t, %s; want %s", d.Result.Feasible, &d.Result.Settings, &want)
	}
}

func TestBadProblemsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"design: 1", "design: 2", "problem.yaml:2:9: design: this is version 2 of the design file, and this program reads version 1"},
		{"servers: 1", "servers: 0", "has no capacity"},
		{"mean: [0.18, 0.2]", "mean: 0", "a call takes more than 0 s"},
		{"mean: [0.18, 0.2]", "mean: [0.2, 0.18]", "the range begins above its end"},
		{"saved: 0.97, within: 600", "saved: 0.97, within: 0.1", "objective.within is 0.1 s, and a single call takes 0.18 to 0.2 s"},
		{"within: 600", "within: 600, callsPerRecord: 0.5", "every record needs at least one call"},
		{"within: 600", "within: 600, finish: 60", "objective.finish is for a map"},
		{"for: [20, 40]", "for: 400", "more than half of the period"},
		{"errors: 1, error: DatabaseConnectionError", "errors: 0", "changes nothing"},
		{"rate: 4", "rate: 1000", "at most 200000 are simulated"},
		{"saved: 0.97", "saved: 1.2", "1.2 is out of range"},
		{"state: Save", "state: Save\nallow: [breaker]", "the breaker requires the limiter"},
		{"arrivals: {rate: 4}", "map: {items: 10000000}", "at most 200000 are simulated"},
		{"period: 600", "period: 600\nresult: {feasibly: true}", "the result cannot be read"},
		{"arrivals: {rate: 4}", "#", "arrivals"},
	} {
		text := strings.Replace(orders, c.from, c.to, 1)
		_, err := design.Read("problem.yaml", []byte(text), false)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q in it", c.to, err, c.want)
		}
	}
	contradiction := strings.Replace(orders, "within: 600", "within: 0.1", 1)
	if _, err := design.Read("p.yaml", []byte(contradiction), false); !errors.Is(err, design.ErrContradiction) {
		t.Errorf("%v is not ErrContradiction", err)
	}
}

// record adds tasks of the given mean durations to a collector, one per second.
func record(c *analysis.Collector, from time.Time, count int, took time.Duration) {
	for i := range count {
		at := from.Add(time.Duration(i) * time.Second)
		c.Add(analysis.Task{Execution: "x", State: "Save", Callee: "lambda save", Ending: analysis.Done,
			Attempts: []analysis.Attempt{{Start: at, End: at.Add(took + time.Duration(i%7)*time.Millisecond)}}})
	}
}

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestRecordsThatDescribeNoCalleeAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want error
		fill func(*analysis.Collector)
	}{
		{analysis.ErrTooLittle, func(c *analysis.Collector) { record(c, began, 1, time.Second) }},
		{analysis.ErrChanged, func(c *analysis.Collector) {
			record(c, began, 300, 200*time.Millisecond)
			record(c, began.Add(300*time.Second), 300, 500*time.Millisecond)
		}},
		{analysis.ErrClocks, func(c *analysis.Collector) {
			record(c, began, 300, 200*time.Millisecond)
			record(c, began, 10, -time.Second)
		}},
		{nil, func(c *analysis.Collector) { record(c, began, 600, 200*time.Millisecond) }},
	} {
		var found analysis.Collector
		c.fill(&found)
		f, err := found.Fit("Save")
		if !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
		if c.want == nil && (f.Mean.Low > 0.203 || f.Mean.High < 0.203 || f.Rate.Low > 1 || f.Rate.High < 1 ||
			f.Closed) {
			t.Errorf("fitted %+v", f)
		}
	}
}

// The loop: predictions that hold are confirmed, and a slower callee is noticed and gives the next design.
func TestWhatHappenedIsComparedWithThePredictions(t *testing.T) {
	t.Parallel()
	d := solve(
		t,
		strings.NewReplacer(
			"rate: 4",
			"rate: [0.9, 1.1]",
			", errors: [{name: Invalid, share: 0.002, permanent: true}]",
			"",
			"[0.18, 0.2]",
			"[0.19, 0.21], cv: 0",
		).Replace(
			orders,
		),
		0,
	)
	compare := func(took time.Duration) (*design.Comparison, *analysis.Fit) {
		o := d.Observe()
		found := analysis.Collector{Each: o.Add}
		record(&found, began, 2400, took)
		fit, err := found.Fit("Save")
		if err != nil {
			t.Fatal(err)
		}
		c, err := o.Compare(&found, fit)
		if err != nil {
			t.Fatal(err)
		}
		return c, fit
	}
	if c, _ := compare(200 * time.Millisecond); !c.Holds || len(c.Periods) != 4 ||
		c.Periods[0].Condition != design.Calm {
		t.Errorf("%+v", c)
	}
	c, fit := compare(600 * time.Millisecond)
	if c.Holds || !strings.Contains(strings.Join(c.Reasons, "\n"), "a call takes 0.59") {
		t.Errorf("%+v", c)
	}
	next := d.Fitted(fit, true)
	if next.Callee.Mean.Low < 0.55 || next.Callee.Mean.High > 0.65 || next.Callee.Servers != d.Callee.Servers {
		t.Errorf("the next problem has the callee %+v", next.Callee)
	}
	if _, err := d.Observe().Compare(
		&analysis.Collector{},
		nil,
	); err == nil ||
		!strings.Contains(err.Error(), "covers no period") {
		t.Errorf("an empty record: %v", err)
	}
}

// Of a Map, every Map Run is a period, and tasks under another Retry block are left out.
func TestMapRunsAreComparedWithThePredictions(t *testing.T) {
	t.Parallel()
	d := solve(t, `
design: 1
name: rows
state: Save
map: {items: 300, concurrency: 2}
callee: {servers: 4, mean: [0.19, 0.21], cv: 0}
call: {timeout: 10}
faults: [{name: outage, for: [20, 30], errors: 1, error: Away}]
objective: {saved: 0.98, within: 900}
allow: []
`, 0)
	block := d.RetryBlock(&d.Result.Settings)
	o := d.Observe()
	found := analysis.Collector{Each: o.Add}
	found.Rules("designed", map[string][]retrypatterns.Retrier{"Save": block})
	found.Rules(
		"before",
		map[string][]retrypatterns.Retrier{"Save": {{ErrorEquals: []string{"States.ALL"}, MaxAttempts: 1}}},
	)
	run := func(name, rules string, from time.Time, items int) {
		for i := range items {
			at := from.Add(time.Duration(i/2) * 200 * time.Millisecond)
			found.Add(
				analysis.Task{
					Execution: fmt.Sprint(name, i),
					State:     "Save",
					Callee:    "lambda save",
					Ending:    analysis.Done,
					MapRun:    name,
					Rules:     rules,
					Attempts:  []analysis.Attempt{{Start: at, End: at.Add(200 * time.Millisecond)}},
				},
			)
		}
	}
	run("first", "designed", began, 300)
	run("second", "designed", began.Add(time.Hour), 300)
	run("small", "designed", began.Add(2*time.Hour), 100)
	run("older", "before", began.Add(-time.Hour), 300)
	fit, err := found.Fit("Save")
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.Compare(&found, fit)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Periods) != 3 || c.Other != 300 || !c.Holds {
		t.Errorf("%+v", c)
	}
	if p := c.Periods[0]; p.Tasks != 300 || p.Condition != design.Calm || math.Abs(p.Outcome.Finish-30) > 0.01 ||
		p.Outcome.Saved != 1 {
		t.Errorf("the first Map Run: %+v", p)
	}
	if fit.Items != 300 || d.Fitted(fit, true).Map.Items != 300 {
		t.Errorf("the Map has %d items", fit.Items)
	}
	// The small Map Run is compared in neither its dead letters nor its end.
	if c.Values != 7+7+5 {
		t.Errorf("%d values are compared", c.Values)
	}
	// Through an outage that begins late in a Map Run, its last items only wait for their retries.
	for i := range 300 {
		at := began.Add(3*time.Hour + time.Duration(i/2)*200*time.Millisecond)
		attempts := []analysis.Attempt{{Start: at, End: at.Add(200 * time.Millisecond)}}
		if i >= 290 {
			attempts[0].Error = "Away"
			again := at.Add(26*time.Second + time.Duration(i)*time.Millisecond)
			attempts = append(attempts, analysis.Attempt{Start: again, End: again.Add(200 * time.Millisecond)})
		}
		found.Add(analysis.Task{Execution: fmt.Sprint("late", i), State: "Save", Callee: "lambda save", Ending: analysis.Done,
			MapRun: "late", Rules: "designed", Attempts: attempts})
	}
	if c, err = o.Compare(&found, nil); err != nil || len(c.Periods) != 4 || c.Periods[3].Condition != "outage" ||
		math.Abs(c.Periods[3].FaultSeconds-26.29) > 0.01 {
		t.Errorf("%+v, %v", c, err)
	}
	only := d.Observe()
	before := analysis.Collector{Each: only.Add}
	before.Rules(
		"before",
		map[string][]retrypatterns.Retrier{"Save": {{ErrorEquals: []string{"States.ALL"}, MaxAttempts: 1}}},
	)
	before.Add(analysis.Task{Execution: "x", State: "Save", MapRun: "run", Rules: "before", Ending: analysis.Done,
		Attempts: []analysis.Attempt{{Start: began, End: began.Add(time.Second)}}})
	if _, err := only.Compare(&before, nil); err == nil || !strings.Contains(err.Error(), "deploy the design first") {
		t.Errorf("a record from before the design: %v", err)
	}
}

// Settings without one of their parts differ from them: a Map that needs no MaxConcurrency once made the search
// endless.
func TestAMapThatNeedsNoMaxConcurrency(t *testing.T) {
	t.Parallel()
	d := solve(t, `
design: 1
name: rows
state: Save
map: {items: 1000}
callee: {servers: [9, 51], mean: [0.1069, 0.3577]}
call: {timeout: 60}
faults: [{name: outage, for: [15, 30], errors: 1, error: Away}]
objective: {saved: 0.99, within: 300}
period: 300
allow: []
`, 0)
	if !d.Result.Feasible || d.Result.Settings.Concurrency != 10_000 {
		t.Errorf("%s, %s", &d.Result.Settings, d.Result.Because)
	}
}
