package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
)

// statements are prepared on the connection that writes. They use INDEXED BY, so that SQLite rejects a statement
// that cannot use its index.
type statements struct {
	all []*sql.Stmt

	anyDue, anyKeyed, timed, fresh, keyedTimed, keyedFresh *sql.Stmt
	busy, queue, take, park                                *sql.Stmt
	sent, failed, dead, released, head, unpark, extend     *sql.Stmt
}

const (
	unkeyedDue = " FROM outbox_messages INDEXED BY outbox_due WHERE " + active +
		" AND parked = 0 AND key IS NULL AND next_attempt_at "
	keyedDue = " FROM outbox_messages INDEXED BY outbox_keyed_due WHERE " + active +
		" AND parked = 0 AND key IS NOT NULL AND next_attempt_at "
	ofKey     = " FROM outbox_messages INDEXED BY outbox_keys WHERE " + active + " AND key IS NOT NULL AND key = ?1 "
	sizeOf    = "length(payload) + coalesce(length(edited_payload), 0)"
	ofLease   = " AND lease = ?2 AND status = 'processing'"
	theseSeqs = " WHERE seq IN (SELECT value FROM json_each(?1))"
)

func (s *statements) prepare(ctx context.Context, conn *sql.Conn) error {
	for _, p := range []struct {
		into **sql.Stmt
		sql  string
	}{
		{&s.anyDue, "SELECT EXISTS (SELECT 1" + unkeyedDue + "IS NULL) OR EXISTS (SELECT 1" + unkeyedDue + "<= ?1)"},
		{&s.anyKeyed, "SELECT EXISTS (SELECT 1" + keyedDue + "IS NULL) OR EXISTS (SELECT 1" + keyedDue + "<= ?1)"},
		{&s.timed, "SELECT seq, " + sizeOf + unkeyedDue + "<= ?1 ORDER BY next_attempt_at LIMIT ?2"},
		{&s.fresh, "SELECT seq, " + sizeOf + unkeyedDue + "IS NULL ORDER BY seq LIMIT ?1"},
		{&s.keyedTimed, "SELECT seq, key" + keyedDue + "<= ?1 ORDER BY next_attempt_at LIMIT ?2"},
		{&s.keyedFresh, "SELECT seq, key" + keyedDue + "IS NULL ORDER BY seq LIMIT ?1"},
		{&s.busy, `SELECT EXISTS (SELECT 1 FROM outbox_messages INDEXED BY outbox_busy_keys
			WHERE status = 'processing' AND key IS NOT NULL AND key = ?1 AND next_attempt_at > ?2)`},
		{&s.queue, "SELECT seq, " + sizeOf + ", next_attempt_at IS NULL OR next_attempt_at <= ?2" + ofKey +
			"ORDER BY seq LIMIT ?3"},
		{&s.take, `UPDATE outbox_messages SET status = 'processing', parked = 0, lease = ?2, next_attempt_at = ?3,
			lease_expiries = lease_expiries + (status = 'processing')` + theseSeqs + `
			RETURNING seq, id, topic, coalesce(key, ''), coalesce(edited_payload, payload), content_type, headers,
				coalesce(traceparent, ''), coalesce(tracestate, ''), retry_count, lease_expiries, created_at`},
		{&s.park, "UPDATE outbox_messages SET parked = 1" + theseSeqs},
		{&s.sent, `UPDATE outbox_messages SET status = 'sent', ended_at = ?3, last_attempt_at = ?3, next_attempt_at = NULL, lease = NULL,
			error = NULL, last_error = NULL` + theseSeqs + ofLease},
		{&s.failed, `UPDATE outbox_messages SET status = 'failed', retry_count = retry_count + 1, last_attempt_at = ?3, next_attempt_at = ?4,
			lease = NULL, lease_expiries = 0, error = ?5, last_error = ?6 WHERE seq = ?1` + ofLease},
		{&s.dead, `UPDATE outbox_messages SET status = 'dead', retry_count = retry_count + 1, last_attempt_at = ?3, dead_at = ?3,
			next_attempt_at = NULL, lease = NULL, dead_letter_reason = ?4, error = ?5, last_error = ?6 WHERE seq = ?1` +
			ofLease},
		{&s.released, `UPDATE outbox_messages SET status = iif(retry_count = 0, 'pending', 'failed'),
			next_attempt_at = iif(retry_count = 0, NULL, ?3), lease = NULL, lease_expiries = 0` + theseSeqs + ofLease},
		{&s.head, "SELECT seq, parked" + ofKey + "ORDER BY seq LIMIT 1"},
		{&s.unpark, "UPDATE outbox_messages SET parked = 0 WHERE seq = ?1"},
		{&s.extend, "UPDATE outbox_messages SET next_attempt_at = ?3" + theseSeqs + ofLease},
	} {
		stmt, err := conn.PrepareContext(ctx, p.sql) //nolint:sqlclosecheck // close closes them
		if err != nil {
			return err
		}
		*p.into = stmt
		s.all = append(s.all, stmt)
	}
	return nil
}

func (s *statements) close() error {
	errs := make([]error, 0, len(s.all))
	for _, stmt := range s.all {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}
