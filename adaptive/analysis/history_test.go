package analysis_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"stepback/adaptive/analysis"
	"stepback/engine/history"
)

// events parses a history from lines of ID, previous ID, second, type and a name, which is the state, the error or
// the callee.
func events(t *testing.T, text string) []history.Event {
	t.Helper()
	types := map[string]history.Type{}
	for i := history.Unknown; i <= history.EvaluationFailed; i++ {
		types[i.String()] = i
	}
	var all []history.Event
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var e history.Event
		var second int64
		var kind, name string
		if n, err := fmt.Sscan(line, &e.ID, &e.Previous, &second, &kind, &name); n < 4 {
			t.Fatal(line, err)
		}
		e.Time, e.Type = began.Add(time.Duration(second)*time.Second).UnixNano(), types[kind]
		switch {
		case e.Type.Entered():
			e.Name = name
		case strings.HasSuffix(kind, "Scheduled"):
			e.More = &history.Details{Resource: name}
		case strings.HasSuffix(kind, "Failed"), strings.HasSuffix(kind, "TimedOut"):
			e.More = &history.Details{Failure: history.Named(name)}
		}
		all = append(all, e)
	}
	return all
}

const retried = `
1 0 0 ExecutionStarted
2 0 0 TaskStateEntered Save
3 2 0 LambdaFunctionScheduled arn:aws:lambda:us-east-1:000000000000:function:db:live
4 3 0 LambdaFunctionStarted
5 4 2 LambdaFunctionTimedOut States.Timeout
6 5 4 LambdaFunctionScheduled arn:aws:lambda:us-east-1:000000000000:function:db:live
7 6 4 LambdaFunctionStarted
8 7 5 LambdaFunctionFailed Busy
`

// read analyses one history; a task without a failure adds no class.
func read(t *testing.T, text string, ended bool) *analysis.Report {
	t.Helper()
	var c analysis.Collector
	c.AddHistory(analysis.Execution{ARN: "x", Ended: ended}, events(t, text))
	r, err := c.Analyze(analysis.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestHistoriesEndAsTheyEnd(t *testing.T) {
	t.Parallel()
	type counts struct{ Attempts, Recovered, GivenUp, Censored, Changed, Running, Gaps, CutByGaps int }
	for name, c := range map[string]struct {
		more    string
		running bool
		want    counts
	}{
		"recovered": {more: `9 8 9 LambdaFunctionScheduled arn:aws:lambda:us-east-1:000000000000:function:db:live
10 9 9 LambdaFunctionSucceeded
11 10 9 TaskStateExited Save`, want: counts{Attempts: 3, Recovered: 1, Changed: 1}},
		"failed":            {more: "9 8 5 ExecutionFailed Busy", want: counts{Attempts: 2, GivenUp: 1, Changed: 1}},
		"caught":            {more: "9 8 5 TaskStateExited Save", want: counts{Attempts: 2, GivenUp: 1, Changed: 1}},
		"stopped":           {more: "9 8 5 ExecutionAborted", want: counts{Attempts: 2, Censored: 1, Changed: 1}},
		"timed out":         {more: "9 8 5 ExecutionTimedOut", want: counts{Attempts: 2, Censored: 1, Changed: 1}},
		"redriven":          {more: "9 8 5 ExecutionRedriven", want: counts{Attempts: 2, Censored: 1, Changed: 1}},
		"sibling's failure": {more: "9 1 5 ExecutionFailed Busy", want: counts{Attempts: 2, Censored: 1, Changed: 1}},
		"still waiting":     {running: true, want: counts{Attempts: 2, Censored: 1, Changed: 1, Running: 1}},
		"under way": {
			more:    "9 8 9 LambdaFunctionScheduled arn:aws:lambda:us-east-1:000000000000:function:db:live",
			running: true, want: counts{Attempts: 3, Censored: 1, Changed: 1, Running: 1},
		},
		"a gap behind": {
			more: "12 11 9 LambdaFunctionScheduled arn:aws:lambda:us-east-1:000000000000:function:db:live\n" +
				"13 12 9 LambdaFunctionSucceeded\n14 13 9 ExecutionSucceeded",
			want: counts{Attempts: 2, Censored: 1, Changed: 1, Gaps: 1, CutByGaps: 2},
		},
	} {
		r := read(t, retried+c.more, !c.running)
		x := &r.Classes[0]
		got := counts{r.Attempts, x.Recovered, x.GivenUp, x.Censored, x.Changed, r.Running, r.Gaps, r.CutByGaps}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if x.State != "Save" || x.Callee != "lambda db" || x.Error != "States.Timeout" {
			t.Errorf("%s: the class is %s, %s, %s", name, x.State, x.Callee, x.Error)
		}
	}
}

func TestEventsInAnyOrderAndTwice(t *testing.T) {
	t.Parallel()
	all := events(t, retried+"9 8 5 ExecutionFailed Busy")
	var c, shuffled analysis.Collector
	c.AddHistory(analysis.Execution{ARN: "x", Ended: true}, all)
	mixed := append([]history.Event{all[7], all[7]}, all...)
	shuffled.AddHistory(analysis.Execution{ARN: "x", Ended: true}, mixed)
	a, err := c.Analyze(analysis.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	b, err := shuffled.Analyze(analysis.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("shuffled: %+v, in order: %+v", b, a)
	}
}

// FuzzAddHistory checks that no history, however damaged, makes an analysis fail or count more endings than tasks.
func FuzzAddHistory(f *testing.F) {
	f.Add([]byte{1, 0, 13, 2, 1, 22, 3, 2, 26, 4, 3, 22})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var all []history.Event
		for i := 0; i+2 < len(raw); i += 3 {
			all = append(all, history.Event{ID: int64(raw[i]), Previous: int64(raw[i+1]), Time: int64(i) * 1e9,
				Type: history.Type(raw[i+2]) % (history.EvaluationFailed + 1), Name: "S"})
		}
		var c analysis.Collector
		c.AddHistory(analysis.Execution{ARN: "x"}, all)
		r, err := c.Analyze(analysis.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Classes {
			if x.Recovered+x.GivenUp+x.Censored != x.Tasks {
				t.Errorf("%d recovered, %d given up and %d censored of %d", x.Recovered, x.GivenUp, x.Censored, x.Tasks)
			}
		}
	})
}
