package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"stepback/csvimport"
	"stepback/internal/checksumvfs"
	"stepback/retry"
)

// Reader reads the users of an existing database, which may be on a read-only disk.
type Reader struct {
	db   *sql.DB
	path string
	// still is the file's state when it was opened, if it was opened without SQLite's locks because its directory
	// is not writable. Otherwise it is nil.
	still os.FileInfo
}

// OpenReader opens the database at path for reading. It creates and changes no table.
//
// Even to read a database with a write-ahead log, SQLite needs to write files next to it. If it cannot, OpenReader
// reads the database file alone. The result is correct as long as the log is empty and nothing writes to the
// database. OpenReader therefore refuses a log that is not empty, and Export fails if the file has changed in the
// meantime.
func OpenReader(ctx context.Context, path string) (*Reader, error) {
	if _, err := os.Stat(path); err != nil { // gives a better error than SQLite
		return nil, failure("open "+path, err)
	}
	if err := checksumvfs.CheckLog(path); err != nil { // before SQLite recovers the log
		return nil, failure("open "+path, damagedLog(err))
	}
	r, err := openReader(ctx, path, "ro")
	if err == nil || !needsToWrite(err) {
		return r, err
	}
	before, e := os.Stat(path)
	if e != nil {
		return nil, err
	}
	if e := checkLogEmpty(path); e != nil {
		return nil, e
	}
	if r, e = openReader(ctx, path, "immutable"); e != nil {
		// Package os says why, such as a missing permission. It is not asked before: closing the file would end the
		// locks that connections of this process have on it.
		if f, why := os.Open(path); why != nil {
			e = failure("open "+path, why)
		} else {
			_ = f.Close()
		}
		return nil, e
	}
	r.still = before
	return r, nil
}

func openReader(ctx context.Context, path, how string) (*Reader, error) {
	if err := checksumvfs.Register(); err != nil {
		return nil, failure("open "+path, err)
	}
	options := url.Values{"_pragma": append([]string{"query_only(1)"}, pragmas...), "vfs": {checksumvfs.Name}}
	if how == "immutable" {
		options.Set("immutable", "1")
	}
	options.Set("mode", "ro")
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, failure("open "+path, err)
	}
	db.SetMaxOpenConns(1)
	if err := checkVersion(ctx, db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Reader{db: db, path: path}, nil
}

// checkVersion checks that the database has a known schema version.
func checkVersion(ctx context.Context, db *sql.DB, path string) error {
	var current int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&current); err != nil {
		return failure("open "+path, err)
	}
	switch {
	case current > schemaVersion:
		return newer(current)
	case current == 0:
		return csvimport.Fail(retry.InvalidInput, "%s is not a database of user counters", path)
	case current < withChecksums:
		return nil
	}
	return requireChecksums(ctx, db, path)
}

// needsToWrite reports whether a database could not be opened because SQLite cannot write files next to it.
func needsToWrite(err error) bool {
	var code *sqlite.Error
	return errors.As(err, &code) && (code.Code()&0xff == codeCantOpen || code.Code()&0xff == codeReadOnly)
}

// checkLogEmpty returns an error if the write-ahead log holds transactions that are missing from the database file,
// as it may after a process was killed.
func checkLogEmpty(path string) error {
	log, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() == 0 {
		return nil
	}
	if err != nil {
		return failure("open "+path, err)
	}
	return csvimport.Fail(retry.StorageError,
		"%s-wal holds records that are not in %[1]s yet, and reading them needs write access: copy both files to a writable "+
			"directory and read them there (--db sqlite:/that/directory/%s)", path, filepath.Base(path))
}

// Export calls visit for each user in the order of their IDs, and stops at its first error.
func (r *Reader) Export(ctx context.Context, visit func(csvimport.User) error) error {
	if err := export(ctx, r.db, visit); err != nil {
		return err
	}
	if r.still == nil {
		return nil
	}
	now, err := os.Stat(r.path)
	if err == nil && os.SameFile(now, r.still) && now.Size() == r.still.Size() &&
		now.ModTime().Equal(r.still.ModTime()) {
		err = checkLogEmpty(r.path)
	} else if err == nil {
		err = csvimport.Fail(retry.StorageError,
			"%s was changed while it was read: read it again when no process is writing to it", r.path)
	}
	return err
}

// Close closes the database.
func (r *Reader) Close() error { return r.db.Close() }
