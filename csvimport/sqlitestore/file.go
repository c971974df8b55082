package sqlitestore

import (
	"context"
	"database/sql/driver"
	"io"

	"stepback/csvimport"
)

// maxFiles bounds the numbers that are remembered.
const maxFiles = 1024

// fileID is the number of a file, given on first use.
func (w *writer) fileID(file csvimport.Source) (int64, error) {
	if id, ok := w.files[file]; ok {
		return id, nil
	}
	id, found, err := w.find(w.stmts.findFile, file.Bucket, file.Key, file.ETag)
	if err != nil {
		return 0, err
	}
	number, _ := id.(int64)
	if !found {
		result, err := w.stmts.addFile.ExecContext(context.Background(), w.bind([]driver.Value{file.Bucket, file.Key, file.ETag}))
		if err != nil {
			return 0, err
		}
		if number, err = result.LastInsertId(); err != nil {
			return 0, err
		}
	}
	if len(w.files) >= maxFiles {
		clear(w.files)
	}
	w.files[file] = number
	w.fresh = append(w.fresh, file)
	return number, nil
}

// find returns the one column of the one row of a query.
func (w *writer) find(stmt driver.StmtQueryContext, args ...driver.Value) (value driver.Value, found bool, err error) {
	rows, err := stmt.QueryContext(context.Background(), w.bind(args))
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	var row [1]driver.Value
	switch err := rows.Next(row[:]); err {
	case nil:
		return row[0], true, nil
	case io.EOF:
		return nil, false, nil
	default:
		return nil, false, err
	}
}
