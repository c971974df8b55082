package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"modernc.org/sqlite"

	"stepback/internal/ctxerr"
	"stepback/internal/ownerfile"
	"stepback/resilience"
	"stepback/resilience/idempotency"
	"stepback/retry"
)

// Durability determines which failures an acknowledged commit survives.
type Durability string

// The durabilities. With either of them, the death of the process neither damages the database nor loses a commit.
const (
	Full   Durability = "FULL"   // commits also survive a loss of power
	Normal Durability = "NORMAL" // a loss of power may undo the last commits: those requests may run again
)

// maxGroup is the maximum number of calls in one transaction.
const maxGroup = 256

// Store implements idempotency.Store.
type Store struct {
	work    chan *work
	closing chan struct{}
	done    chan struct{}
	once    sync.Once
	err     error // from closing; read after done
}

// work is one call for the writer to execute.
type work struct {
	do   func(*writer) error
	err  error
	done chan struct{}
}

// Open opens the database at path, and creates the file, its directory and its table if they are missing: only their
// owner can read what Open creates.
func Open(ctx context.Context, path string, d Durability) (*Store, error) {
	if err := ownerfile.Create(path); err != nil {
		return nil, fmt.Errorf("idempotency: open %s: %w", path, err)
	}
	// Processes that turn on the write-ahead log at the same time conflict, which SQLite's own timeout does not
	// cover.
	interactive, _ := retry.PresetNamed("interactive")
	w, err := resilience.Do(ctx, func(ctx context.Context) (*writer, error) {
		w, err := newWriter(ctx, dsn(path, d))
		return w, marked(err)
	}, interactive.Policy)
	if err != nil {
		return nil, fmt.Errorf("idempotency: open %s: %w", path, err)
	}
	s := &Store{work: make(chan *work, maxGroup), closing: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.err = w.run(s.work, s.closing)
	}()
	return s, nil
}

func dsn(path string, d Durability) string {
	pragmas := []string{
		"busy_timeout(5000)",
		"journal_mode(WAL)",
		"synchronous(" + string(d) + ")",
		"cache_size(-16384)",
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + url.Values{"_pragma": pragmas}.Encode()
}

// Close commits the waiting calls and closes the database.
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.closing)
		<-s.done
	})
	return s.err
}

// MaxAnswer returns 0: SQLite has no limit below 1 GB.
func (s *Store) MaxAnswer() int { return 0 }

// Begin implements idempotency.Store.
func (s *Store) Begin(ctx context.Context, c idempotency.Claim) (idempotency.Standing, error) {
	var standing idempotency.Standing
	err := s.do(ctx, func(w *writer) (err error) {
		standing, err = w.begin(c)
		return err
	})
	if err != nil {
		return idempotency.Standing{}, err // the writer may still be using standing
	}
	return standing, nil
}

// Extend implements idempotency.Store.
func (s *Store) Extend(ctx context.Context, key, token string, until time.Time) error {
	return s.held(ctx, func(w *writer) (int64, error) { return w.change(w.extend, until.UnixMilli(), key, token) })
}

// Finish implements idempotency.Store.
func (s *Store) Finish(ctx context.Context, key, token string, a idempotency.Answer, expires time.Time) error {
	header, err := idempotency.EncodeHeader(a.Header)
	if err != nil {
		return err
	}
	return s.held(ctx, func(w *writer) (int64, error) {
		n, err := w.change(w.finish, int64(a.Status), header, a.Body, expires.UnixMilli(), key, token)
		if n > 0 || err != nil {
			return n, err
		}
		return w.finished(key, token)
	})
}

// Release implements idempotency.Store.
func (s *Store) Release(ctx context.Context, key, token string) error {
	return s.do(ctx, func(w *writer) error {
		_, err := w.change(w.release, key, token)
		return err
	})
}

// Purge implements idempotency.Store.
func (s *Store) Purge(ctx context.Context, now time.Time, most int) (int, error) {
	var n int64
	err := s.do(ctx, func(w *writer) (err error) {
		n, err = w.change(w.purge, now.UnixMilli(), int64(most))
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}

// held makes a change that requires a held claim; it returns ErrLeaseLost if no row was changed.
func (s *Store) held(ctx context.Context, change func(*writer) (int64, error)) error {
	lost := false
	err := s.do(ctx, func(w *writer) error {
		n, err := change(w)
		lost = n == 0
		return err
	})
	if err == nil && lost {
		return idempotency.ErrLeaseLost
	}
	return err
}

// do hands work to the writer and waits for it. If ctx ends first, the outcome is unknown; all calls may be repeated.
func (s *Store) do(ctx context.Context, f func(*writer) error) error {
	if err := ctxerr.Of(ctx); err != nil {
		return err
	}
	w := &work{do: f, done: make(chan struct{})}
	select {
	case s.work <- w:
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	case <-s.closing:
		return errClosed
	}
	select {
	case <-w.done: // the variables that f set may be read
		return marked(w.err)
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	case <-s.done:
	}
	select { // the writer may have answered just before it stopped
	case <-w.done:
		return marked(w.err)
	default:
		return errClosed
	}
}

var errClosed = resilience.Mark(errors.New("idempotency: the database is closed"), retry.Permanent,
	retry.DatabaseConnectionError)

// marked returns an error of SQLite with its classification.
func marked(err error) error {
	var code *sqlite.Error
	if errors.As(err, &code) {
		if c, ok := retry.ClassifySQLite(code.Code()); ok {
			return resilience.Mark(err, c.Class, c.Error)
		}
	}
	return err
}
