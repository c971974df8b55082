package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"

	"stepback/retry"
)

// Config says how a store works; the zero value is fine.
type Config struct {
	// Now is the clock of leases and waits; nil means time.Now.
	Now func() time.Time
	// Look is how often a relay looks for what other connections committed; 0 means every 10 milliseconds.
	Look time.Duration
}

// Store is an outbox.Store, and the source of the outbox's dead letters.
type Store struct {
	db   *sql.DB
	now  func() time.Time
	look time.Duration

	mu    sync.Mutex // of the one connection that writes, from BEGIN to COMMIT
	conn  *sql.Conn
	stmts statements
	keyed bool // the last claim saw messages with keys

	listening sync.Mutex
	wakes     map[*func()]struct{}
}

var pragmas = []string{"busy_timeout(5000)", "synchronous(NORMAL)", "cache_size(-16384)", "temp_store(MEMORY)"}

// Open opens the database at path, and creates the file, its directory and the outbox when they are missing. Several
// processes may do so at once. The file is turned to write-ahead logging.
func Open(ctx context.Context, path string, o Config) (*Store, error) {
	if dir := filepath.Dir(path); dir != "." {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("open the outbox: %w", err)
		}
	}
	db, err := sql.Open("sqlite",
		"file:"+(&url.URL{Path: path}).EscapedPath()+"?"+url.Values{"_pragma": pragmas}.Encode())
	if err != nil {
		return nil, fmt.Errorf("open the outbox %s: %w", path, failure(err))
	}
	s := &Store{db: db, now: o.Now, look: o.Look, wakes: map[*func()]struct{}{}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.look <= 0 {
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
	if err := useWAL(ctx, s.conn); err != nil {
		return err
	}
	if err := migrate(ctx, s.conn); err != nil {
		return err
	}
	return s.stmts.prepare(ctx, s.conn)
}

// Close waits for calls under way and closes the database.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := []error{s.stmts.close()}
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	return errors.Join(append(errs, s.db.Close())...)
}

// write does something in a transaction of the connection that writes.
func (s *Store) write(ctx context.Context, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return failure(transact(ctx, s.conn, do))
}

// micros is a time as the table holds it.
func (s *Store) micros() int64 { return s.now().UnixMicro() }

// CodeError is an error of SQLite that names itself as the retry table does.
type CodeError struct {
	Code int // of the result, extended
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

// useWAL turns on the write-ahead log, which the file then remembers. SQLite does not wait for other processes that
// do the same at this moment, so this does, for up to five seconds.
func useWAL(ctx context.Context, conn *sql.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	const busy = 5
	for {
		_, err := conn.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		if code, ok := errors.AsType[*sqlite.Error](err); !ok || code.Code()&0xff != busy {
			return err
		}
		again := time.NewTimer(5 * time.Millisecond)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return err
		}
	}
}
