package sqlitestore

import (
	"context"
	"database/sql/driver"
	"io"

	"stepback/csvimport"
)

// maxRuns limits the number of cached runs.
const maxRuns = 1024

// numbers are the IDs of a file and a run in the tables.
type numbers struct {
	file int64
	run  int64 // 0 for a run without a name
}

// number returns the IDs of a run, which are assigned on first use.
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

// numberOf returns the id of a table's row, adding the row if it is missing.
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

// find reads the columns of a query's single row, and reports whether there is one.
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
