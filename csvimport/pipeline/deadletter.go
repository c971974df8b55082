package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"stepback/engine/journal"
)

// DeadLetter says which row of a file was given up, and why.
type DeadLetter struct {
	// Row is the row's number from 0, as items of a Map are counted, Line that of its line in the file, from 1.
	Row   int64  `json:"row"`
	Line  int64  `json:"line"`
	Error string `json:"error"`
}

// firstDeadLetter reads the first line of a file of dead letters; nil when there is none.
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

// errFound ends a walk through child executions.
var errFound = errors.New("found")

// ChildOfRow finds the child execution of an import that has a row of the file, counted from 0, and which of the
// child's items it is, from 0. The error says when there is none: the import may have ended before it.
func ChildOfRow(ctx context.Context, j journal.Journal, parent *journal.Execution, row int64) (
	child *journal.Execution, item int64, err error) {
	err = Children(ctx, j, parent, func(x *journal.Execution) error {
		if row < x.FirstItem || row >= x.FirstItem+max(x.Items, 1) {
			return nil
		}
		child, item = x, row-x.FirstItem
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return child, item, nil
	case err != nil:
		return nil, 0, err
	default:
		return nil, 0, fmt.Errorf("no child execution of %s has the row %d; rows are counted from 0", parent.Name, row)
	}
}
