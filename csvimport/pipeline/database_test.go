package pipeline_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver with which the test locks the database

	"stepback/csvimport/pipeline"
	"stepback/csvimport/postgresstore/postgrestest"
)

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	for name, test := range map[string]func(*testing.T, *postgrestest.Server){
		"Import": testImport, "GoesAwayAndComesBack": testGoesAwayAndComesBack, "StaysAway": testStaysAway,
		"BulkGoesAwayForAMinute": testBulkGoesAwayForAMinute,
	} {
		t.Run(name, func(t *testing.T) { test(t, server) }) // sequentially: three of them stop the server
	}
}

func testImport(t *testing.T, server *postgrestest.Server) {
	rows := activities(400, 100)
	tr := newTrial(t, "activity.csv", plain(rows))
	tr.cfg.Database = server.Database(t)
	tr.fault(t, "ProcessSingleUserRecord:crash:10%", "ProcessSingleUserRecord:DeadlockException:10%")
	r := tr.run(t, false)
	ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
	tr.accounts(t, r, rows)
	again := tr.run(t, true)
	if again.Rows.AlreadyApplied != 396 {
		t.Errorf("%+v", *again.Rows)
	}
	tr.accounts(t, again, rows)
}

// testGoesAwayAndComesBack stops the server in the middle of a run and starts it again while rows are retried.
func testGoesAwayAndComesBack(t *testing.T, server *postgrestest.Server) {
	server.NeedsControl(t)
	rows := activities(600, 150)
	tr := newTrial(t, "activity.csv", plain(rows))
	tr.cfg.Database, tr.cfg.Batch, tr.cfg.Concurrency = server.Database(t), 10, 4
	tr.tolerate(100)
	stopped := make(chan struct{})
	tr.before(func(n int64) {
		switch n {
		case 300:
			tell(t, server.Stop())
			close(stopped)
		case 400:
			<-stopped
			tell(t, server.Restart())
		}
	})
	r := tr.run(t, false)
	if r.Status != "SUCCEEDED" {
		t.Fatalf("%s: %s", r.Error, r.Cause)
	}
	tr.accounts(t, r, rows)
	tr.balanced(t, r)
	var lost int64
	for _, x := range r.Retries {
		if x.Error == "DatabaseConnectionError" || x.Error == "AuroraTemporaryError" {
			lost += x.Failures
		}
	}
	if lost == 0 {
		t.Errorf("nobody noticed: %+v", r.Retries)
	}
}

// testBulkGoesAwayForAMinute stops the server in the middle of a run in bulk, and restarts it a minute of the run's
// time later. No row is lost, and none becomes a dead letter because of it.
func testBulkGoesAwayForAMinute(t *testing.T, server *postgrestest.Server) {
	server.NeedsControl(t)
	rows := activities(2000, 100)
	tr := newBulk(t, rows)
	tr.cfg.Database, tr.cfg.Batch, tr.cfg.Concurrency = server.Database(t), 50, 4
	var p *pipeline.Pipeline
	var mu sync.Mutex
	var since time.Time
	tr.before(func(n int64) {
		mu.Lock()
		defer mu.Unlock()
		now := p.Platform().Clock.Now()
		switch {
		case n == 12:
			tell(t, server.Stop())
			since = now
		case !since.IsZero() && now.Sub(since) >= time.Minute:
			tell(t, server.Restart())
			since = time.Time{}
		}
	})
	p = tr.open(t)
	r := imported(t, p, tr.file, false)
	closed(t, p)
	if !since.IsZero() {
		t.Error("the server is still away")
		tell(t, server.Restart())
	}
	ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
	tr.accounts(t, r, rows)
	if r.Rows.Applied != 1980 || r.Rows.DeadLettered != 0 || r.Waited < pipeline.Seconds(time.Minute) {
		t.Errorf("%+v, waited %v", *r.Rows, time.Duration(r.Waited))
	}
	tr.bulkBalanced(t, r)
}

// testStaysAway stops the server for good: the run fails with that cause, and a later one finishes the import.
func testStaysAway(t *testing.T, server *postgrestest.Server) {
	server.NeedsControl(t)
	rows := activities(300, 100)
	tr := newTrial(t, "activity.csv", plain(rows))
	tr.cfg.Database, tr.cfg.Batch, tr.cfg.Concurrency = server.Database(t), 10, 4
	tr.before(func(n int64) {
		if n == 150 {
			tell(t, server.Stop())
		}
	})
	r := tr.run(t, false)
	if r.Verdict() != pipeline.Unsuccessful || r.State != "AggregateResults" || r.Error != "CircuitOpen" ||
		!strings.Contains(r.Cause, "DatabaseConnectionError") || !strings.Contains(r.Advice(), "--again") {
		t.Errorf("%s in %s: %s\n%s", r.Error, r.State, r.Cause, r.Advice())
	}
	tell(t, server.Restart())
	tr.cfg.AdjustFunction(nil)
	r = tr.run(t, true)
	ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
	tr.accounts(t, r, rows)
	if r.Rows.AlreadyApplied < 50 || r.Rows.Applied < 50 {
		t.Errorf("%+v", *r.Rows)
	}
}

// TestAnotherProcessLocksTheDatabase holds SQLite's write lock for a while.
func TestAnotherProcessLocksTheDatabase(t *testing.T) {
	t.Parallel()
	rows := activities(300, 100)
	tr := newTrial(t, "activity.csv", plain(rows))
	other, err := sql.Open("sqlite", filepath.Join(tr.cfg.Dir, "users.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetMaxOpenConns(1)
	exec := func(statement string) {
		if _, err := other.ExecContext(t.Context(), statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	tr.cfg.Batch, tr.cfg.Concurrency = 10, 2
	locked := make(chan struct{})
	tr.before(func(n int64) { // the ten rows of a batch arrive together, whatever their outcomes
		switch n {
		case 92:
			exec("PRAGMA busy_timeout = 5000")
			exec("BEGIN IMMEDIATE")
			exec("UPDATE users SET login_count = login_count")
			close(locked)
		case 100:
			<-locked
			exec("ROLLBACK")
		}
	})
	r := tr.run(t, false)
	ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
	tr.accounts(t, r, rows)
}

// TestTheDirectoryCannotBeWritten uses a data directory below a file.
func TestTheDirectoryCannotBeWritten(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, "activity.csv", "")
	tr.cfg.Dir = filepath.Join(tr.file, "data")
	if _, err := pipeline.Open(t.Context(), tr.cfg); err == nil || !strings.HasPrefix(err.Error(),
		"data directory: mkdir "+tr.file) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(tr.file); err != nil {
		t.Error(err)
	}
}

// tell reports an error from any goroutine.
func tell(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
