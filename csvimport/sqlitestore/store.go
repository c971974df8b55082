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
	"stepback/retry"

	_ "modernc.org/sqlite" // the driver
)

// pragmas of every connection. The cache is of 12 MB, for which the driver takes up to twice as much, since it rounds
// what a page needs up to a power of two; what it does not hold is with the system. An import of users that are all
// different takes no longer than with 24 or 64 MB; and what a larger one would hold of a long file are the records of
// rows that are long done. The write-ahead log grows to 32 MB before its pages go into the database:
// most pages of a table of users change in every large transaction, and to copy them after each was a fifth of an
// import's processor time.
var pragmas = []string{"busy_timeout(5000)", "cache_size(-12288)", "temp_store(MEMORY)", "wal_autocheckpoint(8192)"}

// Durability says what a commit survives once it has been answered.
type Durability string

// The two durabilities. Neither can damage the database or lose a commit when the process dies.
const (
	Full   Durability = "FULL"   // also a loss of power: the commit is synced to the disk
	Normal Durability = "NORMAL" // a loss of power may take the last commits back
)

// Store is a csvimport.Store.
type Store struct {
	db      *sql.DB // for reading
	tasks   chan task
	closing chan struct{}
	done    chan struct{}
	once    sync.Once
	err     error // of closing; read after done
}

// Open opens the database at path, and creates the file, its directory and its tables when they are missing. Several
// processes may do so at once.
func Open(ctx context.Context, path string, d Durability) (*Store, error) {
	return open(ctx, path, d, nil)
}

// open has a hook that runs after each commit, before it is answered.
func open(ctx context.Context, path string, d Durability, committed func()) (*Store, error) {
	if dir := filepath.Dir(path); dir != "." {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, failure("create the directory of "+path, err)
		}
	}
	db, err := sql.Open("sqlite", dsn(path, d))
	if err != nil {
		return nil, failure("open "+path, err)
	}
	for _, prepare := range []func(context.Context, *sql.DB) error{useWAL, migrate} {
		if err := prepare(ctx, db); err != nil {
			return nil, errors.Join(failure("open "+path, err), db.Close())
		}
	}
	w, err := newWriter(ctx, db, path, d)
	if err != nil {
		return nil, errors.Join(failure("open "+path, err), db.Close())
	}
	w.committed = committed
	s := &Store{db: db, tasks: make(chan task, maxGroup), closing: make(chan struct{}), done: make(chan struct{})}
	go func() { //nolint:contextcheck // the writer serves all callers until Close; ctx is about opening only
		defer close(s.done)
		s.err = w.run(s.tasks, s.closing)
	}()
	return s, nil
}

func dsn(path string, d Durability) string {
	all := append([]string{"synchronous(" + string(d) + ")"}, pragmas...)
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + url.Values{"_pragma": all}.Encode()
}

// Close commits what is waiting and closes the database. Calls that come later fail with DatabaseConnectionError.
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.closing)
		<-s.done
		s.err = errors.Join(s.err, s.db.Close())
	})
	return s.err
}

// do hands a task to the writer and waits for its answer. When ctx ends first the outcome is unknown; repeating the
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
