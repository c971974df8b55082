package design_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/analysis"
	"stepback/adaptive/design"
	"stepback/adaptive/lab/simulation"
	"stepback/retrypatterns"
)

const rows = `
design: 1
name: rows
state: Save
map: {items: 1000, concurrency: 10}
call: {timeout: 60}
faults: [{name: outage, for: [15, 30], errors: 1, error: Away}]
objective: {saved: 0.99, within: 300}
period: 300
allow: []
`

// play records a Map Run of a design in the laboratory, on a callee that may differ from the design's.
func play(t *testing.T, c *analysis.Collector, d *design.Design, callee design.Callee, condition, run int,
	rules string,
) {
	t.Helper()
	truth := &design.Design{Problem: d.Problem, Result: d.Result}
	truth.Callee, truth.Seed = callee, uint64(100+run)
	s, p := truth.Scenario(condition)
	tasks := map[int]*analysis.Task{}
	var order []int
	from := began.Add(time.Duration(run) * time.Hour)
	_, err := simulation.Run(t.Context(), simulation.Options{Scenario: s, Policy: p, Seed: truth.Seed,
		Trace: func(a simulation.Attempt) {
			x := tasks[a.Item]
			if x == nil {
				x = &analysis.Task{Execution: fmt.Sprint(run, a.Item), State: "Save", Callee: "lambda save", Rules: rules,
					MapRun: fmt.Sprint("run ", run)}
				tasks[a.Item] = x
				order = append(order, a.Item)
			}
			x.Attempts = append(x.Attempts,
				analysis.Attempt{Start: from.Add(a.Start), End: from.Add(a.End), Error: a.Error})
			x.Ending = analysis.Done
			if a.Error != "" {
				x.Ending = analysis.GivenUp
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range order {
		c.Add(*tasks[item])
	}
}

// The loop over a callee whose numbers are known: a design that is fitted to calm Map Runs holds for calm runs and
// for runs through an outage, whose last retries find a callee without load. A callee of half the speed is noticed,
// and the next design has its capacity.
func TestAFittedDesignHoldsOnTheCalleeThatItWasFittedTo(t *testing.T) {
	t.Parallel()
	truth := design.Callee{Servers: design.Exactly(5), Mean: design.Exactly(0.025), CV: 0.5, Queue: 1000,
		Rejection: "Full"}
	fitted := func(of *design.Design, runs []int, mean func(run int) float64) *design.Design {
		var found analysis.Collector
		for _, run := range runs {
			callee := truth
			callee.Mean = design.Exactly(mean(run))
			play(t, &found, of, callee, 0, run, "before")
		}
		fit, err := found.Fit("Save")
		if err != nil {
			t.Fatal(err)
		}
		d, err := design.Read("rows.yaml", []byte(rows), true)
		if err != nil {
			t.Fatal(err)
		}
		d.Problem = d.Fitted(fit, false)
		return d
	}
	before := solve(t, rows+"callee: {servers: 5, mean: 0.025}\n", 0)
	// The callee's speed varies by a few percent between the runs.
	mean := func(run int) float64 { return 0.025 * (1 + 0.03*float64(run*7%5-2)/2) }
	d := fitted(before, []int{0, 1, 2, 3, 4, 5, 6, 7}, mean)
	if x := d.Callee.Capacity(); x.Low > 200 || x.High < 200 || x.High > 1.2*x.Low {
		t.Errorf("fitted %+v: %s calls/s", d.Callee, x)
	}
	if len(d.Unknown) != 0 {
		t.Errorf("not known: %q", d.Unknown)
	}
	if err := d.Run(t.Context(), design.Options{}); err != nil {
		t.Fatal(err)
	}
	compare := func(speed float64) (*design.Comparison, *analysis.Fit) {
		o := d.Observe()
		found := &analysis.Collector{Each: o.Add}
		found.Rules("designed", map[string][]retrypatterns.Retrier{"Save": d.RetryBlock(&d.Result.Settings)})
		for run := range 6 {
			callee := truth
			callee.Mean = design.Exactly(mean(run+20) / speed)
			play(t, found, d, callee, run%2, run+20, "designed")
		}
		fit, err := found.Fit("Save")
		if err != nil {
			t.Fatal(err)
		}
		c, err := o.Compare(found, fit)
		if err != nil {
			t.Fatal(err)
		}
		return c, fit
	}
	c, fit := compare(1)
	if !c.Holds || float64(c.Inside) < 0.8*float64(c.Values) || c.Values != 42 || !fit.Slowed {
		var text strings.Builder
		c.WriteText(&text)
		t.Errorf("%s\n%+v", &text, fit)
	}
	c, fit = compare(0.5)
	reasons := strings.Join(c.Reasons, "\n")
	if c.Holds || !strings.Contains(reasons, "s on average with 10 in flight, and the design assumed") {
		t.Errorf("%s", reasons)
	}
	next := d.Fitted(fit, true)
	if x := next.Callee.Capacity(); x.Low > 100 || x.High < 100 || x.High > 1.3*x.Low ||
		next.Callee.Servers != design.Exactly(5) {
		t.Errorf("the next design has %+v: %s calls/s", next.Callee, x)
	}
	// A single Map Run does not show how much runs vary, and the file of the design keeps that.
	one := fitted(before, []int{0}, func(int) float64 { return 0.5 })
	if len(one.Unknown) != 1 || !strings.HasPrefix(one.Unknown[0], "the histories cover one Map Run") {
		t.Errorf("not known: %q", one.Unknown)
	}
	var file bytes.Buffer
	if err := one.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := design.Read("one.json", file.Bytes(), false)
	if err != nil || fmt.Sprint(again.Unknown) != fmt.Sprint(one.Unknown) {
		t.Errorf("%v, %+v", err, again)
	}
	// Calls that always find ten in flight show neither a lone call's time nor the capacity above ten.
	unknown := d.Fitted(&analysis.Fit{
		From: began, To: began.Add(95 * time.Second), Closed: true, Items: 1000, Periods: 11,
		Few: 9, Typical: 10, Many: 10, Mean: analysis.Bounds{Low: 0.04, High: 0.06},
		Servers: analysis.Bounds{Low: 11, High: 11},
	}, true).Unknown
	want := []string{
		"the histories show no overload, so the capacity is the least that the callee has served; give callee.servers " +
			"if it has more",
		"the calls found 9 to 10 in flight, themselves included; one that finds fewer may take less time",
		"the range of a call's time contains the variation between 11 Map Runs within 1m35s; how much it varies over " +
			"longer times is not known",
	}
	if fmt.Sprint(unknown) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", unknown, want)
	}
}

// Alarms count dead letters in the singular, too.
func TestAlarmsCountDeadLetters(t *testing.T) {
	t.Parallel()
	d := solve(t, strings.Replace(rows, "saved: 0.99,", "saved: 0.998,", 1)+"callee: {servers: 1, mean: 0.1}\n", 0)
	if want := "more than 1 dead letter in 5m0s: more than the named faults leave"; d.Result.Alarms[1].Text != want {
		t.Errorf("%q, want %q", d.Result.Alarms[1].Text, want)
	}
}
