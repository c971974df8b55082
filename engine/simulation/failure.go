package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
)

// shown is the number of events of a history that a failure shows.
const shown = 80

// Failure reports the fault that a simulation found, with everything that led to it.
type Failure struct {
	Err               error
	Definition, Input string
	Events            []history.Signal // as they were applied
	History           []history.Event
	Trace             []string // in a simulation of the whole engine: what happened around it
}

// Unwrap returns the fault.
func (f *Failure) Unwrap() error { return f.Err }

// Error implements error, with all details.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n\ndefinition:\n%s\ninput: %s\n\nevents:\n", f.Err, indented(f.Definition), f.Input)
	for i := range f.Events[:min(len(f.Events), shown)] {
		e := &f.Events[i]
		fmt.Fprintf(&b, "%4d %s %s %d %s\n", i+1, e.At.Format(time.RFC3339Nano), eventNames[e.Kind], e.ID,
			e.Failure.Name)
	}
	b.WriteString("\nhistory:\n")
	for i := range f.History[:min(len(f.History), shown)] {
		e := &f.History[i]
		fmt.Fprintf(&b, "%4d <%d %s %s %s %s", e.ID, e.Previous, e.At().Format(time.RFC3339Nano), e.Type, e.Name,
			e.Data)
		if e.More != nil {
			fmt.Fprintf(&b, " %s %d", e.More.Failure.Name, e.More.Index)
		}
		b.WriteByte('\n')
	}
	if len(f.Trace) > 0 {
		fmt.Fprintf(&b, "\ntrace:\n%s\n", strings.Join(f.Trace[max(0, len(f.Trace)-2*shown):], "\n"))
	}
	return b.String()
}

func indented(definition string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(definition), "", " "); err != nil {
		return definition
	}
	return b.String()
}

var eventNames = map[interpreter.SignalKind]string{
	interpreter.Start: "Start", interpreter.Continue: "Continue", interpreter.TimerFired: "TimerFired",
	interpreter.TaskScheduled: "TaskScheduled", interpreter.TaskStarted: "TaskStarted",
	interpreter.TaskSubmitted: "TaskSubmitted", interpreter.TaskHeartbeat: "TaskHeartbeat",
	interpreter.TaskSucceeded: "TaskSucceeded", interpreter.TaskFailed: "TaskFailed",
	interpreter.TaskStartFailed:  "TaskStartFailed",
	interpreter.TaskSubmitFailed: "TaskSubmitFailed", interpreter.MapRunSucceeded: "MapRunSucceeded",
	interpreter.MapRunFailed: "MapRunFailed", interpreter.Stop: "Stop",
}
