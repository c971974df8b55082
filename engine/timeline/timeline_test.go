package timeline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"stepback"
	"stepback/asl"
	"stepback/engine/history"
	"stepback/engine/timeline"
	"stepback/stepbacktest"
)

const function = `"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:`

// fails returns functions that fail with the given errors in order and then succeed.
func fails(byName map[string][]string) stepbacktest.Options {
	functions := stepback.Functions{}
	for name, failures := range byName {
		functions[name] = stepback.Func(func(context.Context, any) (string, error) {
			if len(failures) == 0 {
				return "done", nil
			}
			next := failures[0]
			failures = failures[1:]
			return "", &stepback.Failure{Name: next, Cause: "not now"}
		})
	}
	return stepbacktest.Options{Functions: functions}
}

// story formats a timeline as lines: the visits with their attempts and waits.
func story(l *timeline.Timeline) string {
	var b strings.Builder
	for _, v := range l.Visits {
		fmt.Fprintf(&b, "%s%s", strings.Repeat("  ", v.Depth), v.State)
		if v.Index >= 0 {
			fmt.Fprintf(&b, "#%d", v.Index)
		}
		fmt.Fprintf(&b, " %s", v.Outcome)
		for _, a := range v.Attempts {
			fmt.Fprintf(&b, " | %d %s", a.Number, a.Outcome)
			if a.Failure.Name != "" {
				b.WriteString(" " + a.Failure.Name)
			}
		}
		for _, w := range v.Waits() {
			if w.Until.IsZero() {
				b.WriteString(" | waits")
				continue
			}
			fmt.Fprintf(&b, " | waited %s", w.Until.Sub(w.From))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestTimelines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		definition string
		cfg        stepbacktest.Options
		want       string
	}{
		"each attempt and each wait": {
			`{"StartAt":"Pause","States":{"Pause":{"Type":"Wait","Seconds":60,"Next":"Charge"},"Charge":{` + function +
				`charge","Retry":[{"ErrorEquals":["Busy"],"IntervalSeconds":2,"BackoffRate":2}],"End":true}}}`,
			fails(map[string][]string{"charge": {"Busy", "Busy"}}), `
Pause succeeded
Charge succeeded | 1 failed Busy | 2 failed Busy | 3 succeeded | waited 2s | waited 4s
`},
		"caught": {
			`{"StartAt":"Charge","States":{"Charge":{` + function +
				`charge","Catch":[{"ErrorEquals":["States.ALL"],"Next":"Undo"}],"End":true},"Undo":{"Type":"Pass","End":true}}}`,
			fails(map[string][]string{"charge": {"Refused"}}), `
Charge caught | 1 failed Refused
Undo succeeded
`},
		"the execution fails": {
			`{"StartAt":"Charge","States":{"Charge":{` + function +
				`charge","Retry":[{"ErrorEquals":["Busy"],"MaxAttempts":1}],"End":true}}}`,
			fails(map[string][]string{"charge": {"Busy", "Busy"}}), `
Charge failed | 1 failed Busy | 2 failed Busy | waited 1s
`},
		"a Parallel state that is retried": {
			`{"StartAt":"Both","States":{"Both":{"Type":"Parallel","Retry":[{"ErrorEquals":["Busy"],"IntervalSeconds":5}],
				"Branches":[{"StartAt":"A","States":{"A":{` + function + `a","End":true}}},
				{"StartAt":"B","States":{"B":{"Type":"Wait","Seconds":3,"End":true}}}],"End":true}}}`,
			fails(map[string][]string{"a": {"Busy"}}), `
Both succeeded | 1 failed Busy | 2 succeeded | waited 5s
  A#0 failed | 1 failed Busy
  B#1 aborted
  A#0 succeeded | 1 succeeded
  B#1 succeeded
`},
		"a Map in a Parallel that is caught": {
			`{"StartAt":"Both","States":{"Both":{"Type":"Parallel","Catch":[{"ErrorEquals":["States.ALL"],"Next":"Undo"}],
				"Branches":[{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":1,"ItemsPath":"$.items","ItemProcessor":{"StartAt":"I",
				"States":{"I":{` + function + `i","End":true}}},"End":true}}}],"End":true},"Undo":{"Type":"Pass","End":true}}}`,
			fails(map[string][]string{"i": {"Bad", "Bad"}}), `
Both caught | 1 failed Bad
  M#0 failed | 1 failed Bad
    I#0 failed | 1 failed Bad
Undo succeeded
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := stepbacktest.Run(t, c.definition, map[string]any{"items": []int{1, 2}}, c.cfg)
			if got := "\n" + story(timeline.Read(run.Events)); got != c.want {
				t.Errorf("got%swant%s", got, c.want)
			}
		})
	}
}

// event returns an event for a handwritten history, one second after the preceding one.
func event(id, previous int64, typ history.Type, name, failure string) history.Event {
	e := history.Event{ID: id, Previous: previous, Type: typ, Name: name, Time: (1_790_000_000 + id) * 1e9}
	if failure != "" {
		e.More = &history.Details{Failure: history.NewFailure(failure, "not now")}
	}
	return e
}

func machine(t *testing.T, definition string) *asl.Machine {
	t.Helper()
	m, diagnostics := asl.Parse(definition)
	if m == nil {
		t.Fatal(diagnostics)
	}
	return m
}

func TestNow(t *testing.T) {
	t.Parallel()
	m := machine(t, `{"StartAt":"Charge","States":{"Charge":{`+function+`charge","TimeoutSeconds":10,"Retry":[
		{"ErrorEquals":["Busy"],"IntervalSeconds":4,"MaxAttempts":3,"BackoffRate":2},
		{"ErrorEquals":["States.ALL"],"IntervalSeconds":1,"MaxAttempts":2,"JitterStrategy":"FULL"}],"End":true}}}`)
	events := []history.Event{
		event(1, 0, history.ExecutionStarted, "", ""),
		event(2, 0, history.TaskStateEntered, "Charge", ""),
		event(3, 2, history.LambdaFunctionScheduled, "", ""),
		event(4, 3, history.LambdaFunctionStarted, "", ""),
		event(5, 4, history.LambdaFunctionFailed, "", "Other"),
		event(6, 5, history.LambdaFunctionScheduled, "", ""),
		event(7, 6, history.LambdaFunctionStarted, "", ""),
		event(8, 7, history.LambdaFunctionFailed, "", "Busy"),
		event(9, 8, history.LambdaFunctionScheduled, "", ""),
		event(10, 9, history.LambdaFunctionStarted, "", ""),
		event(11, 10, history.LambdaFunctionFailed, "", "Busy"),
	}
	at := events[10].At().Add(time.Second)
	next := events[10].At().Add(8 * time.Second)
	for name, c := range map[string]struct {
		events  int
		pending []history.Pending
		want    string
	}{
		"by what the engine knows": {11,
			[]history.Pending{{ID: 7, Kind: history.PendingRetry, State: "Charge", Entered: 2, At: next,
				Retries: 3, Retrier: []int64{2, 1}}},
			"Charge: attempt 3 of 5 failed with Busy; the next attempt is at " + next.Format("15:04:05") +
				" (in 7s) and it gives up by " + next.Add(36*time.Second).Format("15:04:05") + " (waits start at 4s and double)"},
		"by the history alone": {11, nil,
			"Charge: attempt 3 of 5 failed with Busy; the next attempt is at about " + next.Format("15:04:05") +
				" (in 7s) and it gives up by " + next.Add(36*time.Second).Format("15:04:05") + " (waits start at 4s and double)"},
		"full jitter": {5, nil, "Charge: attempt 1 of 3 failed with Other; the next attempt is between " +
			events[4].At().Format("15:04:05") + " and " + events[5].At().Format("15:04:05") + " and it gives up by " +
			events[5].At().Add(22*time.Second).Format("15:04:05") + " (waits start at 1s and double, full jitter)"},
		"under way": {10, nil, "Charge: attempt 3 of 5 has been running for 3s; the previous one failed with Busy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := timeline.Read(events[:c.events])
			now := l.Now(m, c.pending)
			if len(now) != 1 {
				t.Fatalf("%+v", now)
			}
			if got := now[0].Text(at); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A redrive continues a failed state without a second StateEntered event.
func TestRedriven(t *testing.T) {
	t.Parallel()
	l := timeline.Read([]history.Event{
		event(1, 0, history.ExecutionStarted, "", ""),
		event(2, 0, history.TaskStateEntered, "B", ""),
		event(3, 2, history.TaskScheduled, "", ""),
		event(4, 3, history.TaskStarted, "", ""),
		event(5, 4, history.TaskFailed, "", "Boom"),
		event(6, 5, history.ExecutionFailed, "", "Boom"),
		event(7, 6, history.ExecutionRedriven, "", ""),
		event(8, 7, history.TaskScheduled, "", ""),
		event(9, 8, history.TaskStarted, "", ""),
		event(10, 9, history.TaskSucceeded, "", ""),
		event(11, 10, history.TaskStateExited, "B", ""),
		event(12, 11, history.ExecutionSucceeded, "", ""),
	})
	if got, want := story(l), "B succeeded | 1 failed Boom | 2 succeeded\n"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	if l.Status != history.Succeeded || len(l.Redrives) != 1 || l.Of(9) != l.Visits[0] ||
		l.Took(l.End) != 11*time.Second {
		t.Errorf("%+v", l)
	}
}

// Histories whose events do not fit together are read without a panic.
func TestAnyEventsAreRead(t *testing.T) {
	t.Parallel()
	for typ := history.Unknown; typ <= history.EvaluationFailed; typ++ {
		for other := history.Unknown; other <= history.EvaluationFailed; other++ {
			l := timeline.Read([]history.Event{
				event(1, 0, history.ExecutionStarted, "", ""), event(2, 1, history.MapStateEntered, "M", ""),
				event(3, 2, typ, "M", "E"), event(4, 3, other, "M", ""), event(5, 99, typ, "", ""),
				event(6, 3, other, "x", "E"), event(7, 0, typ, "M", ""),
			})
			l.Now(nil, nil)
			for _, v := range l.Visits {
				v.Waits()
			}
		}
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		12 * time.Microsecond: "12µs", 340 * time.Millisecond: "340ms", 3200 * time.Millisecond: "3.2s",
		3 * time.Second: "3s", 42 * time.Second: "42s", 250 * time.Second: "4m 10s", 2 * time.Hour: "2h",
		76 * time.Hour: "3d 4h", -time.Second: "-1s",
	} {
		if got := timeline.Short(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	events := []history.Event{event(1, 0, history.ExecutionStarted, "", "")}
	for id := int64(2); id < 25_000; id += 5 {
		events = append(events, event(id, id-1, history.TaskStateEntered, "A", ""),
			event(id+1, id, history.TaskScheduled, "", ""), event(id+2, id+1, history.TaskStarted, "", ""),
			event(id+3, id+2, history.TaskSucceeded, "", ""), event(id+4, id+3, history.TaskStateExited, "A", ""))
	}
	for b.Loop() {
		timeline.Read(events)
	}
}
