package sqlitestore

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"stepback/csvimport"
	"stepback/internal/checksumvfs"
	"stepback/retry"
)

const (
	codeFull     = 13
	codeIOError  = 10
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeCantOpen = 14

	codeNoRoomForSharedMemory = codeIOError | 19<<8 // the index of the write-ahead log could not grow
)

// failure converts an error to a Failure: an SQLite error is named by its result code, a file system error by the
// system's error.
func failure(doing string, err error) error {
	var f *csvimport.Failure
	var code *sqlite.Error
	switch {
	case errors.As(err, &f):
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return csvimport.AsFailure(err)
	case errors.As(err, &code):
		return &csvimport.Failure{Name: nameOf(code.Code()), Message: fmt.Sprintf("SQLite cannot %s: %s%s", doing,
			code.Error(), advice(code.Code())), Err: err}
	}
	name := retry.DatabaseConnectionError
	if c, ok := retry.Classify(err); ok && c.Class == retry.Permanent {
		name = c.Error
	}
	return csvimport.Fail(name, "SQLite cannot %s: %w", doing, err)
}

// nameOf returns the error name for a result code. A code that does not stand for an error gives
// RetryNotWorthwhile, so the call is not retried.
func nameOf(code int) string {
	if c, ok := retry.ClassifySQLite(code); ok {
		return c.Error
	}
	return retry.RetryNotWorthwhile
}

func advice(code int) string {
	if code == checksumvfs.Damaged {
		return ": a page of the database does not have the checksum with which it was written; `stepback data check` names it: " +
			"restore the database from a backup"
	}
	switch code & 0xff {
	case codeFull:
		return ": free space on the disk, then redrive"
	case codeReadOnly, codeCantOpen:
		return ": make the file and its directory writable"
	case codeBusy:
		return ": another process holds the write lock"
	}
	return ""
}

// isDatabaseError reports whether an error concerns the database as a whole, so that retrying the records of a
// group one by one would fail in the same way.
func isDatabaseError(err error) bool {
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

// IsDiskFull reports whether an error of a Store was caused by a full disk.
func IsDiskFull(err error) bool {
	var code *sqlite.Error
	return errors.As(err, &code) && (code.Code()&0xff == codeFull || code.Code() == codeNoRoomForSharedMemory)
}
