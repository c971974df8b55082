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
	"stepback/retry"
)

// Reader reads the users of a database that is there, which may lie on a disk that takes no writes.
type Reader struct {
	db   *sql.DB
	path string
	// still is the file as it was when it was opened without SQLite's locks, because nothing can be written beside it;
	// nil otherwise.
	still os.FileInfo
}

// OpenReader opens the database at path for reading. It makes and changes no table.
//
// SQLite wants to write beside a database with a write-ahead log even to read it. Where it cannot, the file is read by
// itself, which is right as long as there is nothing in the log and nobody writes: a log that holds something is
// refused here, a file that has changed meanwhile by Export.
func OpenReader(ctx context.Context, path string) (*Reader, error) {
	if f, err := os.Open(path); err != nil { // says more than SQLite
		return nil, failure("open "+path, err)
	} else if err := f.Close(); err != nil {
		return nil, failure("open "+path, err)
	}
	r, err := openReader(ctx, path, "ro")
	if err == nil || !needsToWrite(err) {
		return r, err
	}
	before, e := os.Stat(path)
	if e != nil {
		return nil, err
	}
	if e := nothingInLog(path); e != nil {
		return nil, e
	}
	if r, e = openReader(ctx, path, "immutable"); e != nil {
		return nil, e
	}
	r.still = before
	return r, nil
}

func openReader(ctx context.Context, path, how string) (*Reader, error) {
	options := url.Values{"_pragma": append([]string{"query_only(1)"}, pragmas...)}
	if how == "immutable" {
		options.Set("immutable", "1")
	}
	options.Set("mode", "ro")
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, failure("open "+path, err)
	}
	db.SetMaxOpenConns(1)
	if err := readable(ctx, db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Reader{db: db, path: path}, nil
}

// readable checks that there is something in a form that is known.
func readable(ctx context.Context, db *sql.DB, path string) error {
	var current int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&current); err != nil {
		return failure("open "+path, err)
	}
	switch {
	case current > schemaVersion:
		return newer(current)
	case current == 0:
		return csvimport.Fail(retry.InvalidInput, "%s is no database of user counters", path)
	}
	return nil
}

// needsToWrite tells whether a database could not be opened because nothing can be written beside it.
func needsToWrite(err error) bool {
	var code *sqlite.Error
	return errors.As(err, &code) && (code.Code()&0xff == codeCantOpen || code.Code()&0xff == codeReadOnly)
}

// nothingInLog refuses a database whose write-ahead log holds transactions that the file lacks, as that of a process
// that was killed.
func nothingInLog(path string) error {
	log, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() == 0 {
		return nil
	}
	if err != nil {
		return failure("open "+path, err)
	}
	return csvimport.Fail(retry.StorageError,
		"%s-wal holds records that are not in %[1]s yet, and nothing can be written here, which reading them takes: copy both files to a directory that"+
			" can be written to and read them there (--db sqlite:/that/directory/%s)", path, filepath.Base(path))
}

// Export calls visit with each user in the order of their IDs, until it fails.
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
		err = nothingInLog(r.path)
	} else if err == nil {
		err = csvimport.Fail(retry.StorageError,
			"%s was written to while it was read: read it once more when nobody writes", r.path)
	}
	return err
}

// Close closes the database.
func (r *Reader) Close() error { return r.db.Close() }
