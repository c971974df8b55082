package narration

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/terminal"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/internal/spelling"
)

// Narrator prints a line for each execution that starts, and for each failure, retry and outcome. Of a Map Run's
// child executions, it prints only those that fail. If lines come faster than they can be read, it omits some and
// prints how many.
type Narrator struct {
	w  io.Writer
	on terminal.Screen

	mu      sync.Mutex
	open    map[string]*Traced
	second  int64 // a second of the run's clock; printed counts the lines of this second
	printed int
	left    int
}

// linesASecond is the most lines printed in a second, already more than the eye can follow.
const linesASecond = 40

// NewNarrator returns a narrator that writes to w, shown on a screen.
func NewNarrator(w io.Writer, on terminal.Screen) *Narrator {
	return &Narrator{w: w, on: on, open: map[string]*Traced{}}
}

// Follow prints the events of a step. The engine's workers call it.
func (n *Narrator) Follow(x *journal.Execution, events []history.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if x.MapRunARN != "" {
		if x.Ended() && x.Status != history.Succeeded {
			n.line(x, events[len(events)-1].Time, string(x.Status), "child execution from item "+
				strconv.FormatInt(x.FirstItem, 10)+why(x.Failure))
		}
		return
	}
	of := n.open[x.ARN]
	if of == nil {
		of = NewTraced(terminal.DataWidth)
		n.open[x.ARN] = of
	}
	for i := range events {
		e := &events[i]
		v, said := of.Event(e)
		switch {
		case e.Type == history.ExecutionStarted:
			n.line(x, e.Time, "started", "")
		case e.Type == history.ExecutionRedriven:
			n.line(x, e.Time, "redriven", "")
		case Fails(e.Type):
			n.line(x, e.Time, "failing", v.label()+said)
		case strings.HasPrefix(said, "retry "):
			n.line(x, e.Time, "retrying", v.label()+said)
		}
	}
	if x.Ended() {
		n.line(x, events[len(events)-1].Time, string(x.Status), "after "+terminal.Duration(x.Stop.Sub(x.Start))+why(x.Failure))
		delete(n.open, x.ARN)
	}
}

// line prints a line unless the limit for this second has been reached.
func (n *Narrator) line(x *journal.Execution, at int64, what, more string) {
	if second := at / int64(time.Second); second != n.second {
		if n.left > 0 {
			n.write(fmt.Sprintf("%s  … and %s more %s, not shown",
				time.Unix(n.second, 0).Format(time.TimeOnly), terminal.Grouped(int64(n.left)),
				spelling.Noun(n.left, "line")))
		}
		n.second, n.printed, n.left = second, 0, 0
	}
	if n.printed++; n.printed > linesASecond {
		n.left++
		return
	}
	name := executions.NameIn(x.MachineARN) + " " + x.Name
	text := n.on.Fit(strings.TrimRight(fmt.Sprintf("%s  %s  %s  %s", time.Unix(0, at).Format(time.TimeOnly), name, what,
		more), " "))
	n.write(strings.Replace(text, "  "+what, "  "+n.on.Status(what), 1))
}

// an error of writing cannot be reported anywhere
func (n *Narrator) write(line string) { _, _ = io.WriteString(n.w, line+"\n") }
