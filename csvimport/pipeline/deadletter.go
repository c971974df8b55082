package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"stepback/csvimport"
	"stepback/csvimport/aggregate"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/statemachine"
)

// DeadLetter describes a row of a file that was given up, and why.
type DeadLetter struct {
	// Row is the row's number, counted from 0 like the items of a Map. Line is the number of the row's line in the
	// file, counted from 1.
	Row   int64  `json:"row"`
	Line  int64  `json:"line"`
	Error string `json:"error"`
}

// firstDeadLetter reads the first line of a dead-letter file; nil if there is none.
func firstDeadLetter(file string) *DeadLetter {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var d DeadLetter
	if json.NewDecoder(f).Decode(&d) != nil {
		return nil
	}
	return &d
}

// errFound ends an iteration over child executions once the wanted one is found.
var errFound = errors.New("found")

// ChildOfRow returns the child execution of an import that processed a row of the file, counted from 0, and the number
// under which its events have the row: that in the part of the file that it belongs to. It returns an error if there is
// none, because the import may have ended before that row.
func ChildOfRow(ctx context.Context, j journal.Journal, parent *journal.Execution, row int64) (child *journal.Execution,
	inPart int64, err error) {
	events, err := j.History(ctx, parent.ARN)
	if err != nil {
		return nil, 0, err
	}
	run, before := mapRunOfRow(events, row)
	inPart = row - before
	err = Children(ctx, j, parent, func(x *journal.Execution) error {
		if x.MapRunARN != run || inPart < x.FirstItem || inPart >= x.FirstItem+max(x.Items, 1) {
			return nil
		}
		child = x
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return child, inPart, nil
	case err != nil:
		return nil, 0, err
	default:
		return nil, 0, fmt.Errorf("no child execution of %s has the row %d; rows are counted from 0", parent.Name, row)
	}
}

// nextOf returns the next part of a file from the output of a task; nil if the task is not AggregateResults, or no part
// follows.
func nextOf(output string) *aggregate.Next {
	var answer struct{ Payload aggregate.Output }
	if json.Unmarshal([]byte(output), &answer) != nil {
		return nil
	}
	return answer.Payload.Next
}

// mapRunOfRow returns the ARN of the Map Run that processes a row, from the history of an import, and the number of
// rows before the part that it processes. A Map that was retried has several for the same rows; the last one counts.
func mapRunOfRow(events []history.Event, row int64) (arn string, before int64) {
	var part csvimport.Part
	for i := range events {
		e := &events[i]
		switch {
		case e.Type == history.MapRunStarted:
			if state := history.StateOf(events, e); state == statemachine.ProcessUserRecords &&
				part.Offset.Rows <= row {
				arn, before = e.More.MapRunARN, part.Offset.Rows
			}
		case e.Type.Step() == history.StepSucceeded:
			if next := nextOf(e.Data); next != nil {
				part = next.Report.Part
			}
		}
	}
	return arn, before
}

// InputIsOfRow reports whether the input of a state is that of the import's iteration for a row, counted from 0 in its
// part of the file. In
// bulk, a child's inner Map has only the rows that the batch left, so an iteration's index does not identify its row.
func InputIsOfRow(input string, row int64) bool {
	var in struct {
		Row *int64 `json:"row"`
	}
	return json.Unmarshal([]byte(input), &in) == nil && in.Row != nil && *in.Row == row
}
