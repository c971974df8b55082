package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"stepback/engine/journal"
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

// ChildOfRow returns the child execution of an import that processed a row of the file, counted from 0. It returns an
// error if there is none, because the import may have ended before that row.
func ChildOfRow(ctx context.Context, j journal.Journal, parent *journal.Execution, row int64) (child *journal.Execution,
	err error) {
	err = Children(ctx, j, parent, func(x *journal.Execution) error {
		if row < x.FirstItem || row >= x.FirstItem+max(x.Items, 1) {
			return nil
		}
		child = x
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return child, nil
	case err != nil:
		return nil, err
	default:
		return nil, fmt.Errorf("no child execution of %s has the row %d; rows are counted from 0", parent.Name, row)
	}
}

// InputIsOfRow reports whether the input of a state is that of the import's iteration for a row, counted from 0. In
// bulk, a child's inner Map has only the rows that the batch left, so an iteration's index does not identify its row.
func InputIsOfRow(input string, row int64) bool {
	var in struct {
		Row *int64 `json:"row"`
	}
	return json.Unmarshal([]byte(input), &in) == nil && in.Row != nil && *in.Row == row
}
