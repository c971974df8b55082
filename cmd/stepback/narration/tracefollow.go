package narration

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"stepback/cmd/stepback/terminal"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// Trace prints what an execution does as it happens: states entered and left, calls, failures, retries with their
// waits, caught errors and the progress of Maps. The lines of executions that it starts appear in between, prefixed
// with the names of their state machines. Of a Map Run's child executions, it prints the failures and the number
// that have ended.
type Trace struct {
	w    io.Writer
	on   terminal.Screen
	main string // name of the execution

	mu         sync.Mutex
	began      int64 // Unix nanoseconds of the first event
	executions map[string]*Traced
	mapRuns    map[string]*tracedMapRun
}

// NewTrace returns a trace of the execution named main, which writes to w, shown on a screen.
func NewTrace(w io.Writer, on terminal.Screen, main string) *Trace {
	return &Trace{w: w, on: on, main: main, executions: map[string]*Traced{}, mapRuns: map[string]*tracedMapRun{}}
}

// NewTraced returns a Traced without events. data is the number of characters to show of an input or output.
func NewTraced(data int) *Traced {
	return &Traced{visits: map[int64]*Visit{}, types: map[int64]history.Type{}, times: map[int64]int64{},
		index: map[int64]int64{}, data: data}
}

// Traced records the visit of a state to which each event of an execution belongs.
type Traced struct {
	name   string // the state machine's name; empty for the execution that was asked for
	visits map[int64]*Visit
	types  map[int64]history.Type
	times  map[int64]int64
	index  map[int64]int64 // the indices of the iterations, by the ID of their MapIterationStarted event
	open   []*Visit        // visits that have been entered and neither left nor aborted, oldest first
	last   *Visit          // the visit in which something failed last
	data   int             // the number of characters of an input or output to show
}

// tracedMapRun counts the child executions of a Map Run.
type tracedMapRun struct {
	of           *Traced
	state        *Visit
	ended, items int64
	failed       int64
}

// Follow prints the events of a step. The engine's workers call it.
func (t *Trace) Follow(x *journal.Execution, events []history.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began == 0 {
		t.began = events[0].Time
	}
	if x.MapRunARN != "" {
		if x.Ended() {
			t.childEnded(x, events[len(events)-1].Time)
		}
		return
	}
	of := t.executions[x.ARN]
	if of == nil {
		of = NewTraced(t.on.Data())
		if x.Name != t.main {
			of.name = x.MachineARN[strings.LastIndexByte(x.MachineARN, ':')+1:]
		}
		t.executions[x.ARN] = of
	}
	for i := range events {
		e := &events[i]
		v, said := of.Event(e)
		if e.Type == history.MapRunStarted {
			t.mapRuns[e.More.MapRunARN] = &tracedMapRun{of: of, state: v}
		}
		if said != "" {
			t.line(of, v, e.Time, said)
		}
	}
}

// line prints one line for a visit, with the time since the start.
func (t *Trace) line(of *Traced, v *Visit, at int64, said string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%10s  ", "+"+offset(at-t.began))
	if of.name != "" {
		fmt.Fprintf(&b, "[%s] ", of.name)
	}
	b.WriteString(strings.Repeat("  ", v.depth()) + v.label() + said)
	_, _ = io.WriteString(t.w, t.on.Fit(b.String())+"\n") // an error of writing cannot be reported anywhere
}

// childEnded counts a child execution that has ended. It prints failures, and now and then how many have ended.
func (t *Trace) childEnded(x *journal.Execution, at int64) {
	run := t.mapRuns[x.MapRunARN]
	if run == nil {
		return
	}
	run.ended++
	run.items += max(x.Items, 1)
	if !x.Failure.IsZero() {
		if run.failed++; run.failed <= shownFailures {
			t.line(run.of, run.state, at, fmt.Sprintf("child execution from item %d on %s%s", x.FirstItem, x.Status,
				why(x.Failure)))
		}
	}
	if landmark(run.ended) {
		t.line(run.of, run.state, at, run.progress())
	}
}

// shownFailures is the maximum number of a Map Run's failed child executions that are shown individually.
const shownFailures = 10

func (r *tracedMapRun) progress() string {
	said := terminal.Counted(r.ended, "child execution") + " ended, with " + terminal.Counted(r.items, "item")
	if r.failed > 0 {
		said += fmt.Sprintf("; %d failed", r.failed)
	}
	return said
}

// landmark reports whether n is 1, 2 or 5 times a power of ten.
func landmark(n int64) bool {
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 1 || n == 2 || n == 5
}

// End prints the result of the execution, and the advice if there is any.
func (t *Trace) End(x *journal.Execution, advice string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, run := range t.mapRuns {
		if run.ended > 0 && !landmark(run.ended) {
			t.line(run.of, run.state, x.Stop.UnixNano(), run.progress())
		}
	}
	var where string
	if of := t.executions[x.ARN]; of != nil && of.last != nil && x.Failure != (history.Failure{}) {
		where = " in " + of.last.name
	}
	fmt.Fprintf(t.w, "%s after %s, %s%s%s\n", t.on.Status(string(x.Status)), x.Stop.Sub(x.Start).Round(time.Millisecond),
		terminal.Counted(x.HistorySize, "event"), where, Failure(x.Failure))
	if advice != "" {
		fmt.Fprintln(t.w, advice)
	}
}

// why formats a failure on one line; it returns "" if there is none.
func why(f history.Failure) string {
	if f.HasCause() {
		return " " + strings.TrimSpace(f.Name+": "+terminal.Shortened(f.Cause))
	}
	if f.HasName() {
		return " " + f.Name
	}
	return ""
}

// Failure formats a failure on several lines, with its complete cause.
func Failure(f history.Failure) string {
	var b strings.Builder
	if f.HasName() {
		b.WriteString("\n  error: " + f.Name)
	}
	if f.HasCause() {
		b.WriteString("\n  cause: " + strings.ReplaceAll(f.Cause, "\n", "\n         "))
	}
	return b.String()
}
