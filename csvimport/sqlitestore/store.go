package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"stepback/csvimport"
	"stepback/internal/checksumvfs"
	"stepback/internal/ownerfile"
	"stepback/retry"

	_ "modernc.org/sqlite" // registers the driver
)

// pragmas are set on every connection.
//
// The cache is 12 MB. The driver uses up to twice as much memory for it, because it rounds the size of a page's
// entry up to a power of two. The operating system caches the remaining pages. If all users of an import are
// different, it takes no longer than with 24 or 64 MB, and in a long file a larger cache would only hold the
// records of rows that were done long before.
//
// The write-ahead log grows to 32 MB before its pages are copied into the database. Most pages of a table of users
// change in every large transaction, and copying them after each one took a fifth of an import's processor time.
var pragmas = []string{"busy_timeout(5000)", "cache_size(-12288)", "temp_store(MEMORY)", "wal_autocheckpoint(8192)"}

// Durability determines which failures a commit survives once it has been acknowledged.
type Durability string

// The two durabilities. With either, a crash of the process neither damages the database nor loses a commit.
const (
	Full   Durability = "FULL"   // survives a power loss: commits are synced to the disk
	Normal Durability = "NORMAL" // a power loss may undo the last commits
)

// Store is a csvimport.Store.
type Store struct {
	path    string
	db      *sql.DB // for reads; the writer holds one of its connections
	tasks   chan task
	closing chan struct{}
	done    chan struct{}
	once    sync.Once
	err     error // error of closing; valid once done is closed
}

// Open opens the database at path, creating the file, its directory and its tables if they are missing. Several
// processes may do so concurrently.
func Open(ctx context.Context, path string, d Durability) (*Store, error) {
	return open(ctx, path, d, nil)
}

// open opens the database. The function committed, if not nil, is called after each commit, before the answers are
// sent.
func open(ctx context.Context, path string, d Durability, committed func()) (*Store, error) {
	if dir := filepath.Dir(path); dir != "." {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, failure("create the directory of "+path, err)
		}
	}
	_ = ownerfile.Create(path) // SQLite reports what prevents the file's creation
	if err := checksumvfs.Register(); err != nil {
		return nil, failure("open "+path, err)
	}
	if err := checksumvfs.CheckLog(path); err != nil { // before SQLite recovers the log
		return nil, failure("open "+path, damagedLog(err))
	}
	db, err := sql.Open("sqlite", dsn(path, d))
	if err != nil {
		return nil, failure("open "+path, err)
	}
	for _, prepare := range []func(context.Context, *sql.DB) error{begin, migrate} {
		if err := prepare(ctx, db); err != nil {
			return nil, errors.Join(failure("open "+path, err), db.Close())
		}
	}
	w, err := newWriter(ctx, db, path, d)
	if err != nil {
		return nil, errors.Join(failure("open "+path, err), db.Close())
	}
	w.committed = committed
	s := &Store{path: path, db: db, tasks: make(chan task, maxGroup), closing: make(chan struct{}),
		done: make(chan struct{})}
	go func() { //nolint:contextcheck // the writer serves all callers until Close; ctx is about opening only
		defer close(s.done)
		s.err = w.run(s.tasks, s.closing)
	}()
	return s, nil
}

func dsn(path string, d Durability) string {
	all := append([]string{"synchronous(" + string(d) + ")"}, pragmas...)
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + url.Values{"_pragma": all, "vfs": {checksumvfs.Name}}.Encode()
}

// Close commits the waiting tasks and closes the database. Later calls fail with DatabaseConnectionError.
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.closing)
		<-s.done
		s.err = errors.Join(s.err, s.db.Close())
	})
	return s.err
}

// do sends a task to the writer and waits for its answer. If ctx ends first, the outcome is unknown; repeating the
// call is safe.
func (s *Store) do(ctx context.Context, t task, answer <-chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return csvimport.AsFailure(err)
	}
	select {
	case s.tasks <- t:
	case <-ctx.Done():
		return csvimport.AsFailure(ctx.Err())
	case <-s.closing:
		return errClosed()
	}
	select {
	case <-answer:
		return nil
	case <-ctx.Done():
		return csvimport.AsFailure(ctx.Err())
	case <-s.done:
	}
	select { // the writer may have answered just before it ended
	case <-answer:
		return nil
	default:
		return errClosed()
	}
}

func errClosed() error {
	return csvimport.Fail(retry.DatabaseConnectionError, "the database is closed")
}
