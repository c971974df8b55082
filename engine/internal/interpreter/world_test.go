package interpreter_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stepback/asl"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// world is a minimal shell: it answers tasks at once and lets time pass only if nothing else happens.
type world struct {
	x       *interpreter.Execution
	now     time.Time
	seed    uint64
	history []history.Event
	queue   []interpreter.Signal
	timers  map[int64]time.Time
	answer  func(c *interpreter.TaskCall) interpreter.Signal
	mapRun  func(c *interpreter.MapRunCall) interpreter.Signal
	waited  []time.Duration
	signals []interpreter.Signal // as they were applied
}

func compile(tb testing.TB, definition string) *plan.Plan {
	tb.Helper()
	m, diagnostics := asl.Parse(definition)
	if m == nil {
		tb.Fatalf("the definition is refused: %v", diagnostics)
	}
	p, err := plan.Compile(m)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func newWorld(tb testing.TB, definition, input string) *world {
	tb.Helper()
	return &world{
		x: interpreter.New(interpreter.Machine{
			Plan: compile(tb, definition), Name: "m", RoleARN: "arn:aws:iam::1:role/r", Region: "us-east-1",
		}, &history.Info{
			ARN: "arn:aws:states:us-east-1:1:execution:m:e", MachineARN: "arn:aws:states:us-east-1:1:stateMachine:m",
			Origin: history.Origin{Name: "e", Input: input},
		}),
		now: epoch, timers: map[int64]time.Time{},
	}
}

func (w *world) step(e interpreter.Signal) {
	w.seed++
	e.At, e.Seed = w.now, w.seed
	var r interpreter.Result
	w.x.Step(&e, &r)
	w.signals = append(w.signals, e)
	w.history = append(w.history, r.History...)
	for _, f := range r.Effects {
		switch f.Kind {
		case interpreter.InvokeTask:
			if w.answer != nil {
				if a := w.answer(f.Task); a.Kind != 0 {
					a.ID = f.ID
					w.queue = append(w.queue, a)
				}
			}
		case interpreter.StartMapRun:
			a := w.mapRun(f.MapRun)
			a.ID = f.ID
			w.queue = append(w.queue, a)
		case interpreter.SetTimer:
			w.timers[f.ID] = f.At
		case interpreter.CancelTimer:
			delete(w.timers, f.ID)
		case interpreter.Yield:
			w.queue = append(w.queue, interpreter.Signal{Kind: interpreter.Continue})
		default:
		}
	}
}

// run runs the execution to its end.
func (w *world) run(tb testing.TB) *world {
	tb.Helper()
	w.step(interpreter.Signal{Kind: interpreter.Start})
	return w.finish(tb)
}

// finish runs a started execution to its end, or until an evaluation is interrupted.
func (w *world) finish(tb testing.TB) *world {
	tb.Helper()
	for w.x.Status() == history.Running && !w.x.Interrupted() {
		if len(w.queue) > 0 {
			e := w.queue[0]
			w.queue = w.queue[1:]
			w.step(e)
			continue
		}
		var id int64
		for i, at := range w.timers {
			if id == 0 || at.Before(w.timers[id]) || at.Equal(w.timers[id]) && i < id {
				id = i
			}
		}
		if id == 0 {
			tb.Fatalf("the execution waits for nothing:\n%s", w.trace())
		}
		if at := w.timers[id]; at.After(w.now) {
			w.waited = append(w.waited, at.Sub(w.now))
			w.now = at
		}
		delete(w.timers, id)
		w.step(interpreter.Signal{Kind: interpreter.TimerFired, ID: id})
	}
	return w
}

// trace writes one line per event: id<previous type name data error.
func (w *world) trace() string {
	var b strings.Builder
	for _, e := range w.history {
		fmt.Fprintf(&b, "%d<%d %s", e.ID, e.Previous, e.Type)
		if e.Name != "" {
			fmt.Fprintf(&b, " %s", e.Name)
		}
		if e.More != nil {
			switch {
			case e.Type == history.MapStateStarted:
				fmt.Fprintf(&b, " length=%d", e.More.Length)
			case strings.HasPrefix(e.Type.String(), "MapIteration"):
				fmt.Fprintf(&b, "[%d]", e.More.Index)
			}
			if e.More.Failure.HasName() {
				fmt.Fprintf(&b, " error=%s", e.More.Failure.Name)
			}
			for _, a := range e.More.Assigned {
				fmt.Fprintf(&b, " $%s=%s", a.Name, a.Value)
			}
		}
		if e.Data != "" && e.Type != history.ExecutionStarted {
			fmt.Fprintf(&b, " %s", e.Data)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (w *world) expect(tb testing.TB, want string) {
	tb.Helper()
	lines := strings.Split(strings.TrimSpace(want), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	if got := strings.TrimSpace(w.trace()); got != strings.Join(lines, "\n") {
		tb.Errorf("history:\n%s\nwant:\n%s", got, strings.Join(lines, "\n"))
	}
}

// script answers each run of a state with the next of its answers; "!Name" fails with that error, "-" never answers.
func script(answers map[string][]string) func(c *interpreter.TaskCall) interpreter.Signal {
	used := map[string]int{}
	return func(c *interpreter.TaskCall) interpreter.Signal {
		list := answers[c.State]
		a := list[min(used[c.State], len(list)-1)]
		used[c.State]++
		switch {
		case a == "-":
			return interpreter.Signal{}
		case strings.HasPrefix(a, "!"):
			return interpreter.Signal{Kind: interpreter.TaskFailed, Failure: history.NewFailure(a[1:], "because")}
		default:
			return interpreter.Signal{Kind: interpreter.TaskSucceeded, Output: jsonvalue.TextDocument(a)}
		}
	}
}

const lambda = `"Type":"Task","Resource":"arn:aws:states:::lambda:invoke"`

// earliest returns the time of the next timer.
func earliest(timers map[int64]time.Time) time.Time {
	var first time.Time
	for _, at := range timers {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

func TestWhatFailsAfterTheWorkFollowsFromIt(t *testing.T) {
	t.Parallel()
	for _, field := range []string{`"ResultSelector":{"x.$":"$.no"}`, `"OutputPath":"$.no"`, `"Assign":{"x.$":"$.no"}`,
		`"ResultPath":"$.a.b"`} {
		w := newWorld(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel",`+field+`,"End":true,
			"Branches":[{"StartAt":"A","States":{"A":{"Type":"Succeed"}}}]}}}`, `{"a":1}`).run(t)
		if trace := w.trace(); !strings.Contains(trace, "\n7<5 ExecutionFailed") {
			t.Errorf("%s:\n%s", field, trace)
		}
	}
}
