package sqlretry_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	_ "modernc.org/sqlite" // the driver

	"stepback/resilience"
	"stepback/resilience/sqlretry"
	"stepback/retry"
)

var three = retry.Policy{Interval: time.Second, Rate: 2, MaxAttempts: 3}

// state is a driver's error with an SQLSTATE.
type state string

func (s state) Error() string    { return "SQLSTATE " + string(s) }
func (s state) SQLState() string { return string(s) }

// fake is a driver whose transactions do nothing and whose commits fail as configured.
type fake struct {
	commits            []error
	begun, rolled, put int
}

func (f *fake) Connect(context.Context) (driver.Conn, error) { return &conn{f}, nil }
func (f *fake) Driver() driver.Driver                        { return nil }

type conn struct{ *fake }

func (*conn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("no statements") }
func (*conn) Close() error                        { return nil }
func (c *conn) Begin() (driver.Tx, error)         { c.begun++; return c, nil }
func (c *conn) Rollback() error                   { c.rolled++; return nil }
func (c *conn) Commit() error {
	c.put++
	if c.put <= len(c.commits) {
		return c.commits[c.put-1]
	}
	return nil
}

func run(t *testing.T, f *fake, errs []error, options ...resilience.Option) (int, error) {
	t.Helper()
	db := sql.OpenDB(f)
	defer db.Close()
	e, err := sqlretry.New(three, options...)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	return sqlretry.InTx(t.Context(), e, db, nil, func(context.Context, *sql.Tx) (int, error) {
		if runs++; runs <= len(errs) {
			return 0, errs[runs-1]
		}
		return runs, nil
	})
}

func TestTheWholeTransactionIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{commits: []error{state("40001")}}
		runs, err := run(t, f, []error{state("40P01"), state("55P03")})
		if runs != 4 || err != nil || f.begun != 4 || f.rolled != 2 || f.put != 2 {
			t.Errorf("%d runs, %v, %+v", runs, err, f)
		}
	})
}

func TestConnectionsThatAreLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lost := state("08006")
		if runs, err := run(t, &fake{}, []error{lost}); runs != 2 { // before the commit: no effect
			t.Errorf("%d runs, %v", runs, err)
		}
		_, err := run(t, &fake{commits: []error{lost}}, nil) // during the commit: outcome unknown
		if !errors.Is(err, resilience.ErrNotIdempotent) {
			t.Errorf("error is %v", err)
		}
		if runs, err := run(t, &fake{commits: []error{lost}}, nil, resilience.WithIdempotent()); runs != 2 {
			t.Errorf("%d runs, %v", runs, err)
		}
	})
}

func TestWhatIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, code := range []state{"23505", "42601", "22003", "53100", "57014", "40002"} {
		f := &fake{}
		_, err := run(t, f, []error{code})
		if !errors.Is(err, resilience.ErrPermanent) || !errors.Is(err, code) || f.begun != 1 || f.rolled != 1 {
			t.Errorf("%s: %v, %+v", string(code), err, f)
		}
	}
}

func TestAPanicRollsBack(t *testing.T) {
	t.Parallel()
	f := &fake{}
	db := sql.OpenDB(f)
	defer db.Close()
	e, err := sqlretry.New(three)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != "boom" || f.rolled != 1 || f.put != 0 {
			t.Errorf("recovered %v, %+v", r, f)
		}
	}()
	_, _ = sqlretry.InTx(t.Context(), e, db, nil, func(context.Context, *sql.Tx) (int, error) { panic("boom") })
}

// TestSQLite has two connections whose transactions read and then write: the second writer gets SQLITE_BUSY_SNAPSHOT,
// which only a new transaction resolves.
func TestSQLite(t *testing.T) {
	t.Parallel()
	path := "file:" + filepath.Join(t.TempDir(), "db") + "?_pragma=journal_mode(WAL)"
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(),
		"CREATE TABLE counts (n INTEGER); INSERT INTO counts VALUES (0)"); err != nil {
		t.Fatal(err)
	}
	e, err := sqlretry.New(retry.Policy{Interval: time.Millisecond, Rate: 1, MaxAttempts: 3})
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	n, err := sqlretry.InTx(t.Context(), e, db, nil, func(ctx context.Context, tx *sql.Tx) (n int, err error) {
		runs++
		if err := tx.QueryRowContext(ctx, "SELECT n FROM counts").Scan(&n); err != nil {
			return 0, err
		}
		if runs == 1 { // another transaction commits first
			if _, err := db.ExecContext(ctx, "UPDATE counts SET n = 10"); err != nil {
				return 0, err
			}
		}
		_, err = tx.ExecContext(ctx, "UPDATE counts SET n = ?", n+1)
		return n + 1, err
	})
	if n != 11 || err != nil || runs != 2 {
		t.Errorf("n is %d after %d runs, %v; want 11 after 2", n, runs, err)
	}
}
