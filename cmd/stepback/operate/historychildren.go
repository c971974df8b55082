package operate

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"stepback/cmd/stepback/narration"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/csvimport/pipeline"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/retrymetrics"
)

// childJSON is the JSON form of a child execution.
type childJSON struct {
	narration.ExecutionJSON
	// FailedAttempts, Retries and LatestError are set only with --failed.
	FailedAttempts int64  `json:"failedAttempts,omitempty"`
	Retries        int64  `json:"retries,omitempty"`
	LatestError    string `json:"latestError,omitempty"`
}

// printChildren prints the child executions of a Map Run as a table, or with --json one a line, since there may be a
// million.
func (c *History) printChildren(ctx context.Context, w io.Writer, j journal.Journal,
	parent *journal.Execution) error {
	heads := []string{"child execution", "status", ">items", ">events"}
	if c.Failed {
		heads = append(heads, ">failed attempts", ">retries", "latest error")
	}
	t, rows := terminal.NewTable(heads...), 0
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	err := pipeline.Children(ctx, j, parent, func(x *journal.Execution) error {
		child := childJSON{ExecutionJSON: narration.DescribeExecution(x)}
		if c.Failed {
			if err := child.count(ctx, j, x); err != nil || child.FailedAttempts == 0 && x.Failure.IsZero() {
				return err
			}
		}
		rows++
		if c.JSON {
			return lines.Encode(child)
		}
		cells := []any{x.Name, x.Status, terminal.Grouped(x.Items), terminal.Grouped(x.HistorySize)}
		if c.Failed {
			cells = append(cells, terminal.Grouped(child.FailedAttempts), terminal.Grouped(child.Retries),
				child.LatestError)
		}
		t.Add(cells...)
		return nil
	})
	switch {
	case err != nil, c.JSON:
		return err
	case rows == 0 && c.Failed:
		_, err = io.WriteString(w, "no attempt failed in a child execution of "+parent.Name+"\n")
	case rows == 0:
		_, err = io.WriteString(w, parent.Name+" has no child executions\n")
	default:
		t.Print(w, "")
	}
	return err
}

// count counts the failed attempts and retries of a child execution.
func (c *childJSON) count(ctx context.Context, j journal.Journal, x *journal.Execution) error {
	events, err := workspace.HistoryOf(ctx, j, x)
	if err != nil {
		return err
	}
	var counter retrymetrics.Counter
	counter.Add(events)
	for _, t := range counter.Tallies() {
		c.FailedAttempts += t.Failures
		c.Retries += t.Retries
	}
	for i := range events {
		if e := &events[i]; narration.Fails(e.Type) && e.More != nil && e.More.Failure.HasName() {
			c.LatestError = e.More.Failure.Name
		}
	}
	return nil
}

// ofRow returns the IDs of a child execution's events that concern one row of an import: those of the iteration whose
// input names the row. If there is none, the batch decided the row, and the events outside of iterations are returned.
// ofRow returns nil, which means all events, if the history has no iterations.
func ofRow(events []history.Event, row int64) map[int64]bool {
	var (
		paths  = make([]string, len(events)) // the iterations that each event belongs to
		places = narration.NewTraced(terminal.DataWidth)
		own    string
		maps   bool
	)
	for i := range events {
		e := &events[i]
		v, _ := places.Event(e)
		paths[i] = v.Iterations()
		switch e.Type { //nolint:exhaustive // the others are of no iteration
		case history.MapIterationStarted, history.MapIterationSucceeded, history.MapIterationFailed,
			history.MapIterationAborted:
			maps = true
			paths[i] = v.Iterated(e.More.Index)
		}
		if own == "" && paths[i] != "" && e.Type.Entered() && pipeline.InputIsOfRow(e.Data, row) {
			own = paths[i]
		}
	}
	if !maps {
		return nil
	}
	kept := map[int64]bool{}
	for i, path := range paths {
		if path == own || own != "" && strings.HasPrefix(path, own+"/") {
			kept[events[i].ID] = true
		}
	}
	return kept
}
