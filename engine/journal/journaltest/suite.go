// Package journaltest is the test suite that every journal must pass.
package journaltest

import (
	"errors"
	"iter"
	"reflect"
	"slices"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
	"stepback/jsonvalue"
)

// Run tests the journals returned by open; each call must return a fresh, empty one.
func Run(t *testing.T, open func(t *testing.T) journal.Journal) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, journal.Journal){
		"what was committed is found":                     found,
		"what is missing is not found":                    missing,
		"listing follows a prefix in order":               listing,
		"a running execution has no history yet":          running,
		"what has not ended comes back with its steps":    unfinished,
		"long texts are read back wherever they occur":    longTexts,
		"one that ends in its first step is never open":   ephemeral,
		"signals are kept of what ended badly":            events,
		"a record is taken up at once":                    takenUp,
		"records become durable in order":                 ordered,
		"a redriven execution is open again":              redriven,
		"a redrive may end at once":                       redrivenAndOver,
		"EXPRESS executions are kept when they end":       express,
		"definitions are kept with their first execution": definitions,
		"Map Runs are found by ARN and by execution":      mapRuns,
		"lists are what a scan finds":                     lists,
		"a redriven EXPRESS execution is listed once":     listedAnew,
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); test(t, open(t)) })
	}
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Begun returns the description of an execution that has just started.
func Begun(arn string) *journal.Execution {
	return &journal.Execution{
		Info: history.Info{
			ARN: arn, MachineARN: "m", Origin: history.Origin{Name: "n", Input: `{"a":1}`},
		},
		Status: history.Running, Start: start,
	}
}

// Commit commits a record and waits until it is durable.
func Commit(t testing.TB, j journal.Journal, r *journal.Record) {
	t.Helper()
	result := make(chan error, 1)
	j.Commit(r, func(err error) { result <- err })
	if err := <-result; err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

// First returns the first step of an execution.
func First(x *journal.Execution) *journal.Record {
	return &journal.Record{
		Execution: x, Begin: true,
		Signals: []history.Signal{{Kind: interpreter.Start, At: start, Seed: 7}},
		History: []history.Event{{ID: 1, Type: history.ExecutionStarted, Data: x.Input, Time: start.UnixNano()}},
	}
}

// Second returns a step in the middle of an execution.
func Second(x *journal.Execution) *journal.Record {
	return &journal.Record{
		Execution: x, Step: 1,
		Signals: []history.Signal{{Kind: interpreter.TaskSucceeded, ID: 1, At: start, Seed: 8,
			Output: jsonvalue.TextDocument(`{"b":2}`)}},
		History: []history.Event{{ID: 2, Previous: 1, Type: history.TaskSucceeded, Data: `{"b":2}`,
			Time: start.UnixNano()}},
	}
}

// Last returns the last step of an execution whose earlier steps are First and Second.
func Last(x *journal.Execution, s history.Status) *journal.Record {
	x.Status, x.Stop = s, start.Add(time.Second)
	typ := history.ExecutionFailed
	if s == history.Succeeded {
		x.Output, typ = `{"b":2}`, history.ExecutionSucceeded
	}
	r := &journal.Record{
		Execution: x, Step: 2, End: true,
		Signals: []history.Signal{{Kind: interpreter.TimerFired, ID: 2, At: x.Stop, Seed: 9}},
		History: []history.Event{{ID: 3, Previous: 2, Type: typ, Data: x.Output, Time: x.Stop.UnixNano()}},
	}
	r.All = append(append(First(x).History, Second(x).History...), r.History...)
	x.HistorySize = int64(len(r.All))
	return r
}

func all[T any](t *testing.T, values iter.Seq2[*T, error]) []*T {
	t.Helper()
	var found []*T
	for v, err := range values {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, v)
	}
	return found
}

func found(t *testing.T, j journal.Journal) {
	x := Begun("arn:1")
	Commit(t, j, First(x))
	Commit(t, j, Second(x))
	rec := Last(x, history.Succeeded)
	Commit(t, j, rec)
	got, err := j.Execution(t.Context(), "arn:1")
	if err != nil || !reflect.DeepEqual(got, x) {
		t.Errorf("Execution: %+v, %v; want %+v", got, err, x)
	}
	h, err := j.History(t.Context(), "arn:1")
	if err != nil || !reflect.DeepEqual(h, rec.All) {
		t.Errorf("History: %+v, %v", h, err)
	}
	if open := all(t, j.Unfinished(t.Context(), "")); len(open) > 0 {
		t.Errorf("still unfinished: %+v", open[0])
	}
}

func missing(t *testing.T, j journal.Journal) {
	ctx := t.Context()
	for name, read := range map[string]func() error{
		"Execution":  func() error { _, err := j.Execution(ctx, "none"); return err },
		"History":    func() error { _, err := j.History(ctx, "none"); return err },
		"Signals":    func() error { _, err := j.Signals(ctx, "none"); return err },
		"Definition": func() error { _, err := j.Definition(ctx, "none"); return err },
		"MapRun":     func() error { _, err := j.MapRun(ctx, "none"); return err },
	} {
		if err := read(); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func listing(t *testing.T, j journal.Journal) {
	for _, arn := range []string{"a:2", "a:1", "b:1"} {
		Commit(t, j, First(Begun(arn)))
	}
	executions := all(t, j.Executions(t.Context(), "a:"))
	got := make([]string, 0, len(executions))
	for _, x := range executions {
		got = append(got, x.ARN)
	}
	if want := []string{"a:1", "a:2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

func running(t *testing.T, j journal.Journal) {
	Commit(t, j, First(Begun("arn:1")))
	if _, err := j.History(t.Context(), "arn:1"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("History: %v", err)
	}
}

func unfinished(t *testing.T, j journal.Journal) {
	x, y := Begun("arn:1"), Begun("arn:10")
	for _, r := range []*journal.Record{First(y), First(x), Second(x), First(Begun("other:1"))} {
		Commit(t, j, r)
	}
	got := all(t, j.Unfinished(t.Context(), "arn:"))
	if len(got) != 2 {
		t.Fatalf("%d unfinished executions", len(got))
	}
	for i, want := range []*journal.Unfinished{
		{Execution: x, Steps: []journal.Step{{Signals: First(x).Signals, History: First(x).History},
			{Signals: Second(x).Signals, History: Second(x).History}}},
		{Execution: y, Steps: []journal.Step{{Signals: First(y).Signals, History: First(y).History}}},
	} {
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("%+v, want %+v", got[i], want)
		}
	}
}

func ephemeral(t *testing.T, j journal.Journal) {
	x := Begun("arn:1")
	r := Last(x, history.Succeeded)
	r.Begin, r.Step = true, 0
	Commit(t, j, r)
	if open := all(t, j.Unfinished(t.Context(), "")); len(open) > 0 {
		t.Errorf("unfinished: %+v", open[0])
	}
	if got, err := j.Execution(t.Context(), "arn:1"); err != nil || got.Status != history.Succeeded {
		t.Errorf("%+v, %v", got, err)
	}
}

func events(t *testing.T, j journal.Journal) {
	x, y := Begun("arn:1"), Begun("arn:2")
	for _, r := range []*journal.Record{First(x), Second(x), First(y), Second(y)} {
		Commit(t, j, r)
	}
	Commit(t, j, Last(x, history.Failed))
	Commit(t, j, Last(y, history.Succeeded))
	got, err := j.Signals(t.Context(), "arn:1")
	want := append(append(First(x).Signals, Second(x).Signals...), Last(x, history.Failed).Signals...)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := j.Signals(t.Context(), "arn:2"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("signals of a success: %v", err)
	}
}

// Redrive returns the step that redrives an execution whose steps were First, Second and Last.
func Redrive(x *journal.Execution) *journal.Record {
	last := Last(x, history.Failed)
	past := &journal.Past{Stopped: x.Stop, Status: x.Status}
	past.Signals = append(append(First(x).Signals, Second(x).Signals...), last.Signals...)
	past.History = last.All
	x.Status, x.Stop, x.HistorySize, x.RedriveCount, x.Redriven = history.Running, time.Time{}, 0, 1,
		start.Add(time.Hour)
	return &journal.Record{
		Execution: x, Step: 1, Past: past,
		Signals: []history.Signal{{Kind: interpreter.Redrive, At: x.Redriven, Seed: 10}},
		History: []history.Event{{ID: 4, Previous: 3, Type: history.ExecutionRedriven, Time: x.Redriven.UnixNano(),
			More: &history.Details{RedriveCount: 1}}},
	}
}

func failed(t *testing.T, j journal.Journal) *journal.Execution {
	x := Begun("arn:1")
	for _, r := range []*journal.Record{First(x), Second(x), Last(x, history.Failed)} {
		Commit(t, j, r)
	}
	return x
}

func redriven(t *testing.T, j journal.Journal) {
	x := failed(t, j)
	r := Redrive(x)
	Commit(t, j, r)
	if got, err := j.Execution(t.Context(), "arn:1"); err != nil || !reflect.DeepEqual(got, x) {
		t.Errorf("%+v, %v; want %+v", got, err, x)
	}
	if _, err := j.History(t.Context(), "arn:1"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the history of the end is still there: %v", err)
	}
	open := all(t, j.Unfinished(t.Context(), ""))
	want := []journal.Step{r.Past.Step, {Signals: r.Signals, History: r.History}}
	if len(open) != 1 || !reflect.DeepEqual(open[0].Steps, want) {
		t.Errorf("%+v, want %+v", open, want)
	}
	over := Last(x, history.Failed)
	over.All = slices.Concat(r.Past.History, r.History, over.History)
	Commit(t, j, over)
	if open := all(t, j.Unfinished(t.Context(), "")); len(open) > 0 {
		t.Errorf("still unfinished: %+v", open[0])
	}
	if got, err := j.Signals(t.Context(), "arn:1"); err != nil || len(got) != 5 || got[3].Kind != interpreter.Redrive {
		t.Errorf("%+v, %v", got, err)
	}
}

func redrivenAndOver(t *testing.T, j journal.Journal) {
	x := failed(t, j)
	r := Redrive(x)
	x.Status, x.Stop = history.Failed, x.Redriven
	r.End, r.All = true, slices.Concat(r.Past.History, r.History)
	Commit(t, j, r)
	if open := all(t, j.Unfinished(t.Context(), "")); len(open) > 0 {
		t.Errorf("unfinished: %+v", open[0])
	}
	if got, err := j.Signals(t.Context(), "arn:1"); err != nil || len(got) != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := j.History(t.Context(), "arn:1"); err != nil || len(got) != 4 {
		t.Errorf("%+v, %v", got, err)
	}
}

func takenUp(t *testing.T, j journal.Journal) {
	x := Begun("arn:1")
	r := First(x)
	result := make(chan error, 1)
	j.Commit(r, func(err error) { result <- err })
	r.Signals[0], r.History[0], x.Input = interpreter.Signal{}, history.Event{}, "overwritten"
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	got := all(t, j.Unfinished(t.Context(), ""))
	if len(got) != 1 || got[0].Input != `{"a":1}` || got[0].Steps[0].Signals[0].Seed != 7 ||
		got[0].Steps[0].History[0].ID != 1 {
		t.Errorf("%+v", got)
	}
}

func ordered(t *testing.T, j journal.Journal) {
	const n = 100
	order := make(chan int, n)
	for i := range n {
		j.Commit(First(Begun("arn:"+string(rune('a'+i)))), func(error) { order <- i })
	}
	for i := range n {
		if got := <-order; got != i {
			t.Fatalf("record %d became durable after %d others", got, i)
		}
	}
}

func express(t *testing.T, j journal.Journal) {
	x := Begun("arn:1")
	x.Express = true
	Commit(t, j, First(x))
	if _, err := j.Execution(t.Context(), "arn:1"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("under way: %v", err)
	}
	Commit(t, j, Last(x, history.Failed))
	Commit(t, j, First(Begun("arn:2"))) // syncing this record also syncs the end
	if got, err := j.Execution(t.Context(), "arn:1"); err != nil || got.Status != history.Failed {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := j.Signals(t.Context(), "arn:1"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("events: %v", err)
	}
}

func definitions(t *testing.T, j journal.Journal) {
	d := journal.NewDefinition("m", "role", `{"StartAt":"P"}`, false)
	if other := journal.NewDefinition("m", "role", `{"StartAt":"P"}`, true); other.ID == d.ID {
		t.Error("different definitions have the same ID")
	}
	for _, arn := range []string{"arn:1", "arn:2"} {
		r := First(Begun(arn))
		r.Definition = d
		Commit(t, j, r)
	}
	if got, err := j.Definition(t.Context(), d.ID); err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("%+v, %v", got, err)
	}
}

func mapRuns(t *testing.T, j journal.Journal) {
	m := &journal.MapRun{
		ARN: "run:1", Execution: "arn:1", Machine: "m/l", Children: "c:1-", Status: history.Running, Started: start,
		Source:       "etag",
		MapRunLimits: journal.MapRunLimits{MaxConcurrency: 3, ToleratedFailurePercentage: 2.5, PercentageGiven: true},
	}
	j.PutMapRun(m, nil)
	over := *m
	over.Status, over.Stopped, over.Items = history.Failed, start.Add(time.Minute), journal.Tally{Succeeded: 2,
		Failed: 1}
	redriven := over
	redriven.ARN, redriven.Execution, redriven.RedriveCount, redriven.Redriven = "run:3", "arn:3", 1,
		start.Add(2*time.Minute)
	redriven.Items.NotRedrivable, redriven.Executions.PendingRedrive = 4, 5
	for _, m := range []*journal.MapRun{&over, &redriven, {ARN: "run:2", Execution: "arn:10"},
		{ARN: "run:0", Execution: "arn:1"}} {
		done := make(chan error, 1)
		j.PutMapRun(m, func(err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []*journal.MapRun{&over, &redriven} {
		if got, err := j.MapRun(t.Context(), want.ARN); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	runs := all(t, j.MapRuns(t.Context(), "arn:1"))
	arns := make([]string, 0, len(runs))
	for _, m := range runs {
		arns = append(arns, m.ARN)
	}
	if want := []string{"run:0", "run:1", "run:2"}; !reflect.DeepEqual(arns, want) {
		t.Errorf("%v, want %v", arns, want)
	}
}
