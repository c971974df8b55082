package sqlitestore

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"stepback/csvimport"
)

const (
	codeFull     = 13
	codeIOError  = 10
	codeBusy     = 5
	codeReadOnly = 8
)

// failure names an error of SQLite by its result code.
func failure(doing string, err error) error {
	var f *csvimport.Failure
	var code *sqlite.Error
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return csvimport.AsFailure(err)
	case errors.As(err, &code):
		return &csvimport.Failure{Name: csvimport.NameOfSQLiteCode(code.Code()), Message: fmt.Sprintf("SQLite cannot %s: %s%s", doing, code.Error(), advice(code.Code())), Err: err}
	}
	return csvimport.Fail(csvimport.DatabaseConnectionError, "SQLite cannot %s: %w", doing, err)
}

func advice(code int) string {
	switch code & 0xff {
	case codeFull:
		return ": free space on the disk, then redrive"
	case codeReadOnly:
		return ": make the file and its directory writable"
	case codeBusy:
		return ": another process holds the write lock"
	}
	return ""
}

// hitsEveryone tells whether an error is about the database as a whole, so that
// trying the records of a group one by one would meet it again.
func hitsEveryone(err error) bool {
	var code *sqlite.Error
	if !errors.As(err, &code) {
		return true
	}
	switch code.Code() & 0xff {
	case codeBusy, codeFull, codeIOError, codeReadOnly:
		return true
	}
	return false
}
