package sqlitestore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"stepback/csvimport"
	"stepback/internal/groupcommit"
)

// Limits of a transaction. maxGroup is the maximum number of tasks. maxRows is the number of rows from which on the
// transaction takes no further task. The more rows it has, the less often a page of users is written, which is most
// of an import's cost. An import keeps twice as many rows in flight, so that one transaction can be filled while
// another is written.
const (
	maxGroup = 1024
	maxRows  = 10_000
)

// manySums is the number of sums that one statement adds. Binding, starting and ending a statement for each sum took a
// quarter of a transaction's processor time. 64 sums take as long as 32.
const (
	manySums   = 32
	sumColumns = 3
)

// increments returns the statement that adds n sums to different users. It changes fewer than n rows if a counter would
// overflow.
func increments(n int) string {
	return "INSERT INTO users (user_id, login_count, post_count, version) VALUES (?, ?, ?, 1)" +
		strings.Repeat(", (?, ?, ?, 1)", n-1) + `
		ON CONFLICT (user_id) DO UPDATE SET login_count = login_count + excluded.login_count,
			post_count = post_count + excluded.post_count, version = version + 1
		WHERE login_count <= 9223372036854775807 - excluded.login_count
			AND post_count <= 9223372036854775807 - excluded.post_count`
}

// task is work for a transaction of the writer. apply does the work. answer reports the result to the caller after
// the commit; err is the error if the transaction failed.
type task interface {
	size() int // number of rows
	apply(w *writer) error
	answer(err error)
}

// writer owns the only connection that writes. It calls the driver directly, because database/sql's bookkeeping costs
// as much as SQLite's work.
type writer struct {
	conn  driver.Conn
	known map[csvimport.Run]numbers // IDs of committed runs
	fresh []csvimport.Run           // runs that got their IDs in the current transaction
	stmts statements
	args  [manySums * sumColumns]driver.NamedValue
	file  identity

	blocks   blocks
	sums     []csvimport.Increment // sums to add in the current transaction, one per user
	many     []driver.Value        // arguments of incrementMany
	sumOf    map[string]int        // index in sums by user
	rowByRow bool                  // write each row immediately, to identify a row that overflows

	committed func() // a test's hook between commit and answer; nil otherwise
}

type statements struct {
	begin, commit, rollback      driver.StmtExecContext
	increment, incrementMany     driver.StmtExecContext
	putBlock                     driver.StmtExecContext
	findBlock, findFile, findRun driver.StmtQueryContext
	addFile, addRun              driver.StmtExecContext
}

func newWriter(ctx context.Context, db *sql.DB, path string, d Durability) (*writer, error) {
	file, err := identify(path)
	if err != nil {
		return nil, err
	}
	conn, err := db.Driver().Open(dsn(path, d))
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, known: map[csvimport.Run]numbers{}, file: file,
		blocks: blocks{held: map[blockKey]*heldBlock{}}, sumOf: map[string]int{}}
	for i := range w.args {
		w.args[i].Ordinal = i + 1
	}
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return w, nil
}

func (w *writer) prepare(ctx context.Context) error {
	conn, ok := w.conn.(driver.ConnPrepareContext)
	if !ok {
		return errors.New("the driver cannot prepare statements under a context")
	}
	s := &w.stmts
	for _, p := range []struct {
		exec  *driver.StmtExecContext
		query *driver.StmtQueryContext
		sql   string
	}{
		{exec: &s.begin, sql: "BEGIN IMMEDIATE"},
		{exec: &s.commit, sql: "COMMIT"},
		{exec: &s.rollback, sql: "ROLLBACK"},
		{exec: &s.increment, sql: increments(1)},
		{exec: &s.incrementMany, sql: increments(manySums)},
		{query: &s.findBlock, sql: "SELECT data FROM import_blocks WHERE file_id = ? AND block = ?"},
		{exec: &s.putBlock, sql: "INSERT OR REPLACE INTO import_blocks (file_id, block, data) VALUES (?, ?, ?)"},
		{query: &s.findFile, sql: "SELECT id FROM import_files WHERE bucket = ? AND key = ? AND etag = ?"},
		{exec: &s.addFile, sql: "INSERT INTO import_files (bucket, key, etag) VALUES (?, ?, ?)"},
		{query: &s.findRun, sql: "SELECT id FROM import_runs WHERE file_id = ? AND name = ?"},
		{exec: &s.addRun, sql: "INSERT INTO import_runs (file_id, name) VALUES (?, ?)"},
	} {
		stmt, err := conn.PrepareContext(ctx, p.sql)
		if err != nil {
			return err
		}
		if p.exec != nil {
			*p.exec = stmt.(driver.StmtExecContext)
		} else {
			*p.query = stmt.(driver.StmtQueryContext)
		}
	}
	return nil
}

// run processes tasks until closing is closed, and then those still waiting. Only the goroutine that runs it uses
// the connection.
func (w *writer) run(tasks <-chan task, closing <-chan struct{}) error {
	group := make([]task, 0, maxGroup)
	for {
		select {
		case t := <-tasks:
			group = groupcommit.Gather(append(group[:0], t), tasks, full)
			w.commitGroup(group)
			clear(group)
			continue
		case <-closing:
		}
		if group = groupcommit.Collect(group[:0], tasks, full); len(group) == 0 {
			return w.close()
		}
		w.commitGroup(group)
	}
}

// full reports whether a group takes no more tasks.
func full(group []task) bool {
	rows := 0
	for _, t := range group {
		rows += t.size()
	}
	return len(group) >= maxGroup || rows >= maxRows
}

// commitGroup runs a group in one transaction. If a task breaks the transaction, it is rolled back, and each task
// gets its own transaction, so that only the task at fault fails.
func (w *writer) commitGroup(group []task) {
	err := w.transact(group)
	if err != nil && len(group) > 1 && !isDatabaseError(err) {
		for i := range group {
			group[i].answer(w.transact(group[i : i+1]))
		}
		return
	}
	for _, t := range group {
		t.answer(err)
	}
}

func (w *writer) transact(group []task) error {
	err := w.attempt(group)
	if errors.Is(err, errCounterFull) {
		w.rowByRow = true
		err = w.attempt(group)
		w.rowByRow = false
	}
	if err != nil {
		return err
	}
	if w.committed != nil {
		w.committed()
	}
	return w.file.check()
}

// errCounterFull is returned if a sum would overflow a counter.
var errCounterFull = errors.New("the sum of a transaction's rows is too large for a counter")

// attempt runs one transaction. If it fails, it is rolled back completely.
func (w *writer) attempt(group []task) error {
	w.blocks.forget()
	w.sums = w.sums[:0]
	clear(w.sumOf)
	if err := w.exec(w.stmts.begin); err != nil {
		return err
	}
	err := w.fill(group)
	if err == nil {
		err = w.exec(w.stmts.commit)
	}
	if err != nil {
		w.undo()
		return err
	}
	w.fresh = w.fresh[:0]
	return nil
}

func (w *writer) fill(group []task) error {
	for _, t := range group {
		if err := t.apply(w); err != nil {
			return err
		}
	}
	if err := w.writeSums(); err != nil {
		return err
	}
	return w.writeBlocks()
}

// undo rolls back and forgets the IDs assigned in the transaction.
func (w *writer) undo() {
	_ = w.exec(w.stmts.rollback) // SQLite may have rolled back already
	for _, run := range w.fresh {
		delete(w.known, run)
	}
	w.fresh = w.fresh[:0]
}

func (w *writer) exec(stmt driver.StmtExecContext) error {
	_, err := stmt.ExecContext(context.Background(), nil)
	return err
}

// change executes a statement and returns how many rows it changed.
func (w *writer) change(stmt driver.StmtExecContext, args ...driver.Value) (int64, error) {
	result, err := stmt.ExecContext(context.Background(), w.bind(args))
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (w *writer) bind(args []driver.Value) []driver.NamedValue {
	for i, a := range args {
		w.args[i].Value = a
	}
	return w.args[:len(args)]
}

// close closes the statements and the connection.
func (w *writer) close() error {
	s := &w.stmts
	var errs []error
	for _, stmt := range []any{s.begin, s.commit, s.rollback, s.increment, s.incrementMany, s.putBlock, s.findBlock,
		s.findFile, s.addFile, s.findRun, s.addRun} {
		if closer, ok := stmt.(interface{ Close() error }); ok {
			errs = append(errs, closer.Close())
		}
	}
	if err := errors.Join(append(errs, w.conn.Close())...); err != nil {
		return fmt.Errorf("closing the SQLite connection: %w", err)
	}
	return nil
}
