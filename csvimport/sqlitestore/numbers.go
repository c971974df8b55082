package sqlitestore

import (
	"context"
	"database/sql/driver"
	"io"

	"stepback/csvimport"
)

// maxRuns bounds the numbers that are remembered.
const maxRuns = 1024

// numbers stand for a run in the tables.
type numbers struct {
	file int64
	run  driver.Value // an int64; nil for a run without a name
}

// number is what stands for a run, given on first use.
func (w *writer) number(run csvimport.Run) (numbers, error) {
	if n, ok := w.known[run]; ok {
		return n, nil
	}
	var n numbers
	var err error
	if n.file, err = w.numberOf(w.stmts.findFile, w.stmts.addFile, run.File.Bucket, run.File.Key,
		run.File.ETag); err != nil {
		return n, err
	}
	if run.Name != "" {
		if n.run, err = w.numberOf(w.stmts.findRun, w.stmts.addRun, n.file, run.Name); err != nil {
			return n, err
		}
	}
	if len(w.known) >= maxRuns {
		clear(w.known)
	}
	w.known[run] = n
	w.fresh = append(w.fresh, run)
	return n, nil
}

// numberOf is the id of a table's row, which is added when it is not there.
func (w *writer) numberOf(find driver.StmtQueryContext, add driver.StmtExecContext, key ...driver.Value) (int64,
	error) {
	var id [1]driver.Value
	if found, err := w.find(id[:], find, key...); err != nil {
		return 0, err
	} else if number, ok := id[0].(int64); found && ok {
		return number, nil
	}
	result, err := add.ExecContext(context.Background(), w.bind(key))
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// storedRow is what the table says of a row whose key is taken.
type storedRow struct {
	fingerprint driver.Value // nil when Settle has closed the row
	run         driver.Value // nil when the run had no name
}

func (w *writer) findRow(file, row int64) (storedRow, error) {
	var columns [2]driver.Value
	_, err := w.find(columns[:], w.stmts.findRow, file, row)
	return storedRow{columns[0], columns[1]}, err
}

// outcome is what a stored row means for a run.
func (r storedRow) outcome(n numbers) csvimport.Outcome {
	switch {
	case r.fingerprint == nil:
		return csvimport.DeadLettered
	case n.run != nil && r.run == n.run:
		return csvimport.Applied
	}
	return csvimport.AlreadyApplied
}

// find reads the columns of the one row of a query.
func (w *writer) find(columns []driver.Value, stmt driver.StmtQueryContext, args ...driver.Value) (bool, error) {
	rows, err := stmt.QueryContext(context.Background(), w.bind(args))
	if err != nil {
		return false, err
	}
	defer rows.Close()
	switch err := rows.Next(columns); err {
	case nil:
		return true, nil
	case io.EOF:
		return false, nil
	default:
		return false, err
	}
}
