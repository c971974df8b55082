package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"

	"stepback/csvimport"
	"stepback/retry"
)

// Check lets SQLite check the structure of a database. It changes nothing. A database that does not exist is no error.
// SQLite has no checksums: a changed byte within a value is not found. A checksum of the closed file would find it, but
// several processes may have the file open, and a large one would be read at each opening.
func Check(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	mode := "mode=ro"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) { // closed: no file is created beside it
		mode += "&immutable=1"
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+mode)
	if err != nil {
		return failure("open "+path, err)
	}
	defer db.Close()
	verdict := ""
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return damaged(path, err.Error())
	}
	if verdict != "ok" {
		return damaged(path, verdict)
	}
	return nil
}

func damaged(path, why string) error {
	return csvimport.Fail(retry.StorageError, "the database %s is damaged: %s; restore it from a backup", path, why)
}
