package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"modernc.org/sqlite"

	"stepback/internal/checksumvfs"
	"stepback/internal/ctxerr"
	"stepback/internal/ownerfile"
	"stepback/internal/sqlitewal"
	"stepback/retry"
)

// Config configures a store; the zero value is usable.
type Config struct {
	// Now is the clock of leases and waits; nil means time.Now.
	Now func() time.Time
	// Look is the interval at which a relay checks for commits of other connections; 0 means every 10 milliseconds.
	Look time.Duration
}

// Store implements outbox.Store, and deadletters.Store for the outbox's dead letters.
type Store struct {
	db   *sql.DB
	now  func() time.Time
	look time.Duration

	mu    sync.Mutex // guards the one connection that writes, from BEGIN to COMMIT
	conn  *sql.Conn
	stmts statements
	keyed bool // the last claim saw messages with keys

	listening sync.Mutex
	wakes     map[*func()]struct{}
}

var pragmas = []string{"busy_timeout(5000)", "synchronous(NORMAL)", "cache_size(-16384)", "temp_store(MEMORY)"}

// Open opens the database at path, and creates the file, its directory and the outbox if they are missing: only their
// owner can read what Open creates. Several processes may do so at once. The file is switched to write-ahead logging.
// If the pages of the database have checksums in the format of SQLite's checksum VFS, as those of an import's database
// do, they are verified and kept.
func Open(ctx context.Context, path string, o Config) (*Store, error) {
	if o.Look < 0 {
		return nil, fmt.Errorf("open the outbox %s: Look is %s; it must be 0 (10ms) or more", path, o.Look)
	}
	if err := ownerfile.Create(path); err != nil {
		return nil, fmt.Errorf("open the outbox: %w", err)
	}
	if err := checksumvfs.Register(); err != nil {
		return nil, fmt.Errorf("open the outbox %s: %w", path, err)
	}
	if err := checksumvfs.CheckLog(path); err != nil { // before SQLite recovers the log
		return nil, fmt.Errorf("open the outbox: %w", err)
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+
		url.Values{"_pragma": pragmas, "vfs": {checksumvfs.Name}}.Encode())
	if err != nil {
		return nil, fmt.Errorf("open the outbox %s: %w", path, failure(err))
	}
	s := &Store{db: db, now: o.Now, look: o.Look, wakes: map[*func()]struct{}{}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.look == 0 {
		s.look = 10 * time.Millisecond
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the outbox %s: %w", path, failure(err)), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return err
	}
	if err := sqlitewal.Use(ctx, s.conn); err != nil {
		return err
	}
	if err := migrate(ctx, s.conn); err != nil {
		return err
	}
	return s.stmts.prepare(ctx, s.conn)
}

// Close waits for running calls and closes the database.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := []error{s.stmts.close()}
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	return errors.Join(append(errs, s.db.Close())...)
}

// write calls do in a transaction on the connection that writes.
func (s *Store) write(ctx context.Context, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctxerr.Of(ctx); err != nil {
		return err
	}
	return failure(transact(ctx, s.conn, do))
}

// micros returns the current time as the table stores it.
func (s *Store) micros() int64 { return s.now().UnixMicro() }

// CodeError is an SQLite error that provides its own classification in the retry table.
type CodeError struct {
	Code int // extended result code
	Err  error
}

func (e *CodeError) Error() string { return e.Err.Error() }

// Unwrap returns the driver's error.
func (e *CodeError) Unwrap() error { return e.Err }

// ClassifyRetry implements [retry.Classified].
func (e *CodeError) ClassifyRetry() (retry.Classification, bool) {
	return retry.ClassifySQLite(e.Code)
}

func failure(err error) error {
	if code, ok := errors.AsType[*sqlite.Error](err); ok {
		return &CodeError{Code: code.Code(), Err: err}
	}
	return err
}
