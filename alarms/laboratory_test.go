package alarms_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/simulation"
	"stepback/alarms"
	"stepback/engine/history"
	"stepback/retry"
	"stepback/retrymetrics"
	"stepback/statemachine"
)

// The laboratory's imports: 12 batches of 250 rows a minute arrive, and the database could serve 300. The functions
// have everything that is deployed, and the state ApplyBatch has its own Retry block.
const (
	imports = `
lab: 1
name: imports
duration: %d
warmup: 60
drain: 21600
workload:
  - name: batches
    arrivals: {process: poisson, rate: %g}
    machine: {state: ApplyBatch, definition: machine.asl.json}
service:
  db: {servers: 5, time: {exp: 1}, queue: {capacity: 1000}%s}
calls: {ApplyBatch: {service: db, timeout: 28, timeoutError: TimeoutError, cost: lambda-1024}}%s
`
	rowsOfBatch = 250
	perSecond   = 0.2
	// calmPerSecond is the rate of the calm days, which are many.
	calmPerSecond = 0.05
	// arriving is the number of batches of 28 days.
	arriving = perSecond * 28 * 24 * 3600
	// begins is when the faults begin: after a time that is longer than the longest window of a page. The hours before
	// leadIn are the same for all scenarios and simulated once.
	begins = 7 * time.Hour
	leadIn = 6 * time.Hour
)

// trouble is a scenario: faults of the database in the laboratory's language.
type trouble struct {
	name   string
	faults []string
	errors string // of the service, at all times
}

func window(fault string, minutes int) []string {
	return []string{
		fmt.Sprintf("{at: %d, for: %d, service: db, %s}", int((begins - leadIn).Seconds()), 60*minutes, fault),
	}
}

func flapping() (all []string) {
	for k := range 6 {
		all = append(all, fmt.Sprintf("{at: %d, for: 900, service: db, errors: {p: 1, name: DatabaseConnectionError}}",
			int((begins-leadIn).Seconds())+1800*k))
	}
	return all
}

// troubles lists the twelve scenarios.
func troubles() []trouble {
	return []trouble{
		{name: "every call fails for 4 minutes", faults: window("errors: {p: 1, name: DatabaseConnectionError}", 4)},
		{name: "every call fails for 14 minutes", faults: window("errors: {p: 1, name: DatabaseConnectionError}", 14)},
		{name: "every call fails for 30 minutes", faults: window("errors: {p: 1, name: DatabaseConnectionError}", 30)},
		{name: "every call fails for 3 hours", faults: window("errors: {p: 1, name: DatabaseConnectionError}", 180)},
		{
			name:   "half of the calls fail for 2 hours",
			faults: window("errors: {p: 0.5, name: DatabaseConnectionError}", 120),
		},
		{
			name:   "one call in ten fails for 2 hours",
			faults: window("errors: {p: 0.1, name: DatabaseConnectionError}", 120),
		},
		{name: "nothing answers for 2 hours", faults: window("capacity: 0", 120)},
		{name: "the database is 100 times slower for 2 hours", faults: window("capacity: 0.01", 120)},
		{
			name:   "every call is throttled for 2 hours",
			faults: window("errors: {p: 1, name: Lambda.TooManyRequestsException}", 120),
		},
		{name: "out for 15 of 30 minutes, six times", faults: flapping()},
		{
			name:   "deadlocks in 90 % of the calls for 2 hours",
			faults: window("errors: {p: 0.9, name: DeadlockException}", 120),
		},
		{name: "a mistake fails every call for 2 hours", faults: window("errors: {p: 1, name: TypeError}", 120)},
	}
}

// calm is 28 days with an error in a hundred calls, and an outage of about 20 seconds about once a day.
var calm = trouble{
	name:   "28 calm days",
	errors: ", errors: [{name: DatabaseConnectionError, p: 0.01}]",
	faults: []string{
		"{gilbert: {meanGood: 86400, meanBad: 20}, service: db, errors: {p: 1, name: DatabaseConnectionError}}",
	},
}

// uncontrolled is the policy adaptive without its controller.
const uncontrolled = `
policy: 1
name: uncontrolled
about: adaptive without the controller
limiter: {}
breaker: {preset: callee}
deferral: {interval: 30, rate: 1.5, maxDelay: 300, maxAttempts: 20, jitter: FULL, failures: true}
poison: true
`

// epoch is when the simulations begin.
var epoch = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// laboratory simulates a trouble from a time on and counts its histories as the deployed functions do. It returns the
// data of the metrics that pages watch.
func laboratory(t *testing.T, x trouble, from, length time.Duration) []retrymetrics.Point {
	t.Helper()
	faults := ""
	if len(x.faults) > 0 {
		faults = "\nfaults:\n  - " + strings.Join(x.faults, "\n  - ")
	}
	rate := perSecond
	if x.name == calm.name {
		rate = calmPerSecond
	}
	text := fmt.Sprintf(imports, int(length.Seconds()), rate, x.errors, faults)
	s, err := scenario.Parse("imports.yaml", []byte(text), scenario.Options{ReadFile: func(string) ([]byte, error) {
		return statemachine.Definition(statemachine.DefaultTable(), statemachine.Substitutions())
	}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Named("adaptive")
	if x.name == calm.name { // the controller, which decides each minute, changes nothing on calm days
		p, err = policy.Parse("calm.yaml", []byte(uncontrolled))
	}
	if err != nil {
		t.Fatal(err)
	}
	start := epoch.Add(from)
	_, watched := paging(t)
	c := retrymetrics.Collector{}
	var points []retrymetrics.Point
	take := func() {
		points = append(
			points,
			slices.DeleteFunc(c.Take(), func(p retrymetrics.Point) bool { return !watched[p.Metric] })...)
	}
	taken := time.Duration(0)
	open := map[int][]attempt{}
	o := simulation.Options{Scenario: s, Policy: p, Seed: 10_000}
	o.Trace = func(a simulation.Attempt) {
		open[a.Item] = append(open[a.Item], attempt{a.Start, a.End, a.Error})
	}
	o.Refused = func(r simulation.Refusal) {
		name := retry.RetryBudgetExhausted
		switch {
		case r.Open:
			name = retry.CircuitOpen
		case r.Brief:
			name = retry.LimitReached
		}
		open[r.Item] = append(open[r.Item], attempt{r.At, r.At, name})
	}
	o.Closed = func(x simulation.Closing) {
		if hour := x.At.Truncate(time.Hour); hour != taken { // a small collector is a fast one
			take()
			taken = hour
		}
		c.Add(fmt.Sprintf("arn:aws:states:us-east-1:000000000000:execution:%s/ProcessUserRecords:%d", machine, x.Item),
			historyOf(start, x, open[x.Item]))
		rows := retrymetrics.Rows{Applied: rowsOfBatch}
		if !x.Done {
			rows = retrymetrics.Rows{DeadLettered: rowsOfBatch}
		}
		c.AddRows(machine, start.Add(x.At), rows)
		delete(open, x.Item)
	}
	if _, err := simulation.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	take()
	return points
}

// lateBatches returns the sorted times at which batches turned out to be late.
func lateBatches(points []retrymetrics.Point) (late []time.Duration) {
	for _, p := range points {
		if p.Metric == retrymetrics.BatchesLate {
			for i, v := range p.Values {
				for range int64(v) * p.Counts[i] {
					late = append(late, p.Start.Sub(epoch))
				}
			}
		}
	}
	slices.Sort(late)
	return late
}

// paging returns the alarms that page, alone or together with another one, and the metrics that they watch.
func paging(t *testing.T) (s alarms.Set, watched map[*retrymetrics.Metric]bool) {
	t.Helper()
	s = newSet(t, retrymetrics.LevelAll)
	parts := map[string]bool{}
	for _, b := range alarms.Burns() {
		parts[b.LongName()], parts[b.ShortName()] = b.Page, b.Page
	}
	s.Alarms = slices.DeleteFunc(s.Alarms, func(a alarms.Alarm) bool { return a.Page == "" && !parts[a.Name] })
	watched = map[*retrymetrics.Metric]bool{}
	for _, a := range s.Alarms {
		if a.Series != nil {
			watched[a.Series.Metric] = true
			continue
		}
		for _, term := range a.Rate.Terms {
			watched[term.Metric] = true
		}
	}
	return s, watched
}

// attempt is an attempt of a batch; error is empty for a success.
type attempt struct {
	start, end time.Duration
	error      string
}

// historyOf returns the history of a batch's execution. Rows that are given up do not fail it.
func historyOf(start time.Time, x simulation.Closing, all []attempt) []history.Event {
	id := int64(0)
	events := make([]history.Event, 0, 4+3*len(all))
	add := func(at time.Duration, typ history.Type, more *history.Details) {
		id++
		events = append(events, history.Event{ID: id, Previous: id - 1, Time: start.Add(at).UnixNano(), Type: typ,
			Name: statemachine.ApplyBatch, More: more})
	}
	add(x.Arrived, history.ExecutionStarted, nil)
	add(x.Arrived, history.TaskStateEntered, nil)
	for _, a := range all {
		add(a.start, history.TaskScheduled, nil)
		add(a.start, history.TaskStarted, nil)
		if a.error == "" {
			add(a.end, history.TaskSucceeded, nil)
		} else {
			add(a.end, history.TaskFailed, &history.Details{Failure: history.Failure{Name: a.error}})
		}
	}
	add(x.At, history.TaskStateExited, nil)
	add(x.At, history.ExecutionSucceeded, nil)
	return events
}

// verdict holds the first page of one family of pages in a trouble, and the number of its pages.
type verdict struct {
	first time.Duration // since the fault began; -1 if it does not page
	pages int
}

func (v verdict) String() string {
	if v.first < 0 {
		return "–, 0"
	}
	return fmt.Sprintf("%g min, %d", v.first.Minutes(), v.pages)
}

// judge evaluates the alarms that page and returns the pages by thresholds and those by the objective's burn rates.
func judge(t *testing.T, points []retrymetrics.Point) (thresholds, objective verdict, at []time.Duration) {
	t.Helper()
	s, _ := paging(t)
	changes := map[string][]alarms.Change{}
	for _, a := range s.Alarms {
		var err error
		if changes[a.Name], err = s.Evaluate(a, points); err != nil {
			t.Fatal(err)
		}
	}
	// Each page is a composite, which is in ALARM while one of its terms is.
	terms := map[alarms.Page][]func(at time.Time) bool{}
	for _, a := range s.Alarms {
		if a.Page != "" {
			terms[a.Page] = append(terms[a.Page], func(at time.Time) bool { return alarmed(changes[a.Name], at) })
		}
	}
	for _, b := range alarms.Burns() {
		if b.Page {
			terms[alarms.PageObjective] = append(terms[alarms.PageObjective], func(at time.Time) bool {
				return alarmed(changes[b.LongName()], at) && alarmed(changes[b.ShortName()], at)
			})
		}
	}
	var moments []time.Time
	for _, all := range changes {
		for _, c := range all {
			moments = append(moments, c.At)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	moments = slices.CompactFunc(moments, time.Time.Equal)
	thresholds, objective = verdict{first: -1}, verdict{first: -1}
	in := map[alarms.Page]bool{}
	for _, moment := range moments {
		for page, all := range terms {
			is := slices.ContainsFunc(all, func(term func(time.Time) bool) bool { return term(moment) })
			if is && !in[page] {
				v := &thresholds
				if page == alarms.PageObjective {
					v = &objective
					at = append(at, moment.Sub(epoch))
				}
				v.pages++
				if since := moment.Sub(epoch) - begins; v.first < 0 {
					v.first = since
				}
			}
			in[page] = is
		}
	}
	return thresholds, objective, at
}

// judgedFile is the table of docs/alarms.md.
const judgedFile = "judged.md"

// TestPagesAreJudged is the table of docs/alarms.md: it compares the pages by thresholds with those by the objective in
// twelve troubles and 28 calm days. Each fault that makes more batches late than 2 % of the budget of 28 days is paged
// within ten minutes of that moment, and calm days are not.
func TestPagesAreJudged(t *testing.T) {
	t.Parallel()
	const budget = 0.005 * arriving
	var table bytes.Buffer
	fmt.Fprintln(
		&table,
		"| scenario | late batches, % of the budget | 2 % of it used after | thresholds: first page, pages | objective: first page, pages |",
	)
	fmt.Fprintln(&table, "|---|---|---|---|---|")
	before := laboratory(t, trouble{name: "before the fault"}, 0, leadIn)
	for _, x := range append(troubles(), calm) {
		var points []retrymetrics.Point
		if x.name == calm.name {
			points = laboratory(t, x, 0, 28*24*time.Hour)
		} else {
			points = append(slices.Clone(before), laboratory(t, x, leadIn, begins-leadIn+5*time.Hour)...)
		}
		late := lateBatches(points)
		thresholds, objective, at := judge(t, points)
		used := "–"
		if n := int(math.Floor(0.02 * float64(budget))); len(late) > n {
			moment := late[n] + time.Minute // when the minute in which it is counted is over
			used = fmt.Sprintf("%g min", (moment - begins).Minutes())
			inTime := slices.ContainsFunc(at, func(a time.Duration) bool { return a <= moment+10*time.Minute })
			if x.name != calm.name && !inTime {
				t.Errorf(
					"%s: 2 %% of the budget are used after %s, and the objective pages at %v",
					x.name,
					used,
					objective,
				)
			}
		}
		if x.name == calm.name && thresholds.pages+objective.pages > 0 {
			t.Errorf("calm days page: thresholds %v, objective %v", thresholds, objective)
		}
		fmt.Fprintf(
			&table,
			"| %s | %.1f | %s | %s | %s |\n",
			x.name,
			100*float64(len(late))/budget,
			used,
			thresholds,
			objective,
		)
	}
	if *update {
		if err := os.WriteFile(judgedFile, table.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(judgedFile)
	if err != nil || string(want) != table.String() {
		t.Errorf(
			"%s is out of date (%v): run go test ./alarms -update -run Judged, then go generate ./alarms\n%s",
			judgedFile,
			err,
			table.String(),
		)
	}
}
