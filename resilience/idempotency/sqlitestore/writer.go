package sqlitestore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"

	"stepback/internal/groupcommit"
	"stepback/resilience/idempotency"
)

// schema creates the table if it does not exist. A key without a status is running.
const schema = `
CREATE TABLE IF NOT EXISTS idempotency_keys (
	key         TEXT PRIMARY KEY,
	fingerprint BLOB NOT NULL,
	token       TEXT NOT NULL,
	lease       INTEGER NOT NULL, -- its end, Unix milliseconds
	lasts       INTEGER,          -- its duration, milliseconds
	expires     INTEGER NOT NULL, -- Unix milliseconds
	status      INTEGER,
	header      BLOB,
	body        BLOB
);
CREATE INDEX IF NOT EXISTS idempotency_keys_expires ON idempotency_keys (expires);`

// writer owns the only connection. It calls the driver directly, because database/sql's bookkeeping costs as much as
// SQLite's work.
type writer struct {
	conn driver.Conn
	ctx  context.Context // of every statement; a statement that has started is completed, whichever caller gives up
	args [8]driver.NamedValue

	open, commit, rollback                          driver.StmtExecContext
	insert, replace, extend, finish, purge, release driver.StmtExecContext
	find                                            driver.StmtQueryContext
}

func newWriter(ctx context.Context, dsn string) (*writer, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	conn, err := db.Driver().Open(dsn)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, ctx: context.WithoutCancel(ctx)}
	for i := range w.args {
		w.args[i].Ordinal = i + 1
	}
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return w, nil
}

func (w *writer) prepare(ctx context.Context) error {
	execer, ok := w.conn.(driver.ExecerContext)
	if !ok {
		return errors.New("the driver cannot execute under a context")
	}
	if _, err := execer.ExecContext(ctx, schema, nil); err != nil {
		return err
	}
	if err := addColumn(ctx, execer); err != nil {
		return err
	}
	conn, ok := w.conn.(driver.ConnPrepareContext)
	if !ok {
		return errors.New("the driver cannot prepare statements under a context")
	}
	for text, exec := range map[string]*driver.StmtExecContext{
		"BEGIN IMMEDIATE": &w.open, "COMMIT": &w.commit, "ROLLBACK": &w.rollback,
		`INSERT INTO idempotency_keys (key, fingerprint, token, lease, expires, lasts) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT DO NOTHING`: &w.insert,
		`UPDATE idempotency_keys SET fingerprint = ?, token = ?, lease = ?, expires = ?, lasts = ?, status = NULL, header = NULL, body = NULL
			WHERE key = ?`: &w.replace,
		"UPDATE idempotency_keys SET lease = ? WHERE key = ? AND token = ? AND status IS NULL": &w.extend,
		`UPDATE idempotency_keys SET status = ?, header = ?, body = ?, expires = ?
			WHERE key = ? AND token = ? AND status IS NULL`: &w.finish,
		"DELETE FROM idempotency_keys WHERE key = ? AND token = ? AND status IS NULL": &w.release,
		`DELETE FROM idempotency_keys WHERE rowid IN (SELECT rowid FROM idempotency_keys WHERE expires < ?1
			AND (status IS NOT NULL OR lease < ?1) ORDER BY expires LIMIT ?2)`: &w.purge,
	} {
		stmt, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		*exec = stmt.(driver.StmtExecContext)
	}
	find, err := conn.PrepareContext(ctx,
		"SELECT fingerprint, token, lease, expires, status, header, body, lasts FROM idempotency_keys WHERE key = ?")
	if err != nil {
		return err
	}
	w.find = find.(driver.StmtQueryContext)
	return nil
}

// addColumn adds the column lasts to a table that an earlier version created. Two processes may try it at once.
func addColumn(ctx context.Context, execer driver.ExecerContext) error {
	const look = "SELECT lasts FROM idempotency_keys LIMIT 0"
	if _, err := execer.ExecContext(ctx, look, nil); err == nil {
		return nil
	}
	_, err := execer.ExecContext(ctx, "ALTER TABLE idempotency_keys ADD COLUMN lasts INTEGER", nil)
	if err != nil {
		if _, again := execer.ExecContext(ctx, look, nil); again == nil {
			return nil
		}
	}
	return err
}

// run executes the work in queue until closing is closed. Then it executes the work that is still waiting.
func (w *writer) run(queue <-chan *work, closing <-chan struct{}) error {
	group := make([]*work, 0, maxGroup)
	for {
		select {
		case first := <-queue:
			group = groupcommit.Gather(append(group[:0], first), queue, full)
			w.commitGroup(group)
			clear(group)
			continue
		case <-closing:
		}
		if group = groupcommit.Collect(group[:0], queue, full); len(group) == 0 {
			return w.conn.Close()
		}
		w.commitGroup(group)
	}
}

// full reports whether a group takes no more calls.
func full(group []*work) bool { return len(group) >= maxGroup }

// commitGroup commits a group of calls in one transaction. If a call breaks the transaction, each call gets its
// own.
func (w *writer) commitGroup(group []*work) {
	err := w.transact(group)
	for i, one := range group {
		if one.err = err; err != nil && len(group) > 1 {
			one.err = w.transact(group[i : i+1])
		}
		close(one.done)
	}
}

func (w *writer) transact(group []*work) error {
	if err := w.exec(w.open); err != nil {
		return err
	}
	for _, one := range group {
		if err := one.do(w); err != nil {
			_ = w.exec(w.rollback) // SQLite may already have rolled back
			return err
		}
	}
	if err := w.exec(w.commit); err != nil {
		_ = w.exec(w.rollback)
		return err
	}
	return nil
}

func (w *writer) exec(stmt driver.StmtExecContext) error {
	_, err := stmt.ExecContext(w.ctx, nil)
	return err
}

// change runs a statement and returns the number of rows it changed.
func (w *writer) change(stmt driver.StmtExecContext, args ...driver.Value) (int64, error) {
	result, err := stmt.ExecContext(w.ctx, w.bind(args))
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

// row is a key as stored.
type row struct {
	exists      bool
	fingerprint string
	token       string
	lease       int64
	lasts       int64 // 0: unknown
	expires     int64
	done        bool
	answer      idempotency.Answer
}

// read returns the row of a key.
func (w *writer) read(key string) (r row, err error) {
	rows, err := w.find.QueryContext(w.ctx, w.bind([]driver.Value{key}))
	if err != nil {
		return r, err
	}
	defer rows.Close()
	values := make([]driver.Value, 8)
	if err := rows.Next(values); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return r, err
	}
	r.exists = true
	r.fingerprint = string(bytesOf(values[0]))
	r.token, _ = values[1].(string)
	r.lease, _ = values[2].(int64)
	r.expires, _ = values[3].(int64)
	r.lasts, _ = values[7].(int64) // NULL in a row of an earlier version
	if status, ok := values[4].(int64); ok {
		r.done = true
		r.answer.Status, r.answer.Body = int(status), bytesOf(values[6])
		r.answer.Header, err = idempotency.DecodeHeader(bytesOf(values[5]))
	}
	return r, err
}

// bytesOf copies a column's bytes, which belong to the driver.
func bytesOf(v driver.Value) []byte {
	switch b := v.(type) {
	case []byte:
		return append([]byte(nil), b...)
	case string:
		return []byte(b)
	default:
		return nil
	}
}
