package sqlitestore

import (
	"context"
	"time"

	"stepback/outbox"
)

const (
	deleteEnded = `DELETE FROM outbox_messages WHERE seq IN (SELECT seq FROM outbox_messages INDEXED BY outbox_ended
		WHERE status IN ('sent', 'discarded') AND ended_at < ?1 ORDER BY ended_at LIMIT ?2)`

	// endWaits makes messages due. Tidy uses it for waits longer than any that a relay sets, which are left over from
	// before the clock was set back.
	endWaits = "UPDATE outbox_messages SET next_attempt_at = ?1 WHERE seq IN (SELECT seq"

	// mendParked unparks messages that nothing else would unpark. Only manual changes to the table can cause that.
	mendParked = "UPDATE outbox_messages AS m SET parked = 0 WHERE " + active +
		` AND key IS NOT NULL AND parked = 1 AND NOT EXISTS (
		SELECT 1 FROM outbox_messages AS o WHERE o.status IN ('pending', 'processing', 'failed') AND o.key IS NOT NULL
			AND o.key = m.key AND o.parked = 0)`
)

// Tidy implements outbox.Store.
func (s *Store) Tidy(ctx context.Context, t outbox.Tidy) (outbox.Tidied, error) {
	var done outbox.Tidied
	err := s.write(ctx, func() error {
		done = outbox.Tidied{}
		now := s.micros()
		if t.Retention >= 0 {
			if err := s.exec(ctx, &done.Deleted, deleteEnded, now-t.Retention.Microseconds(), t.Limit); err != nil {
				return err
			}
		}
		if t.Longest <= 0 {
			return nil
		}
		late := now + t.Longest.Microseconds()
		for _, due := range []string{unkeyedDue, keyedDue} {
			if err := s.exec(ctx, &done.Mended, endWaits+due+"> ?2 AND status <> 'pending')", now, late); err != nil {
				return err
			}
		}
		return s.exec(ctx, &done.Mended, mendParked)
	})
	return done, err
}

func (s *Store) exec(ctx context.Context, count *int, statement string, args ...any) error {
	result, err := s.conn.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	*count += int(n)
	return err
}

// counted counts messages up to a limit. It reads no more entries of an index than that.
const counted = `SELECT status, count(*), min(created_at) FROM (
		SELECT * FROM (SELECT status, created_at FROM outbox_messages INDEXED BY outbox_due
			WHERE ` + active + ` AND parked = 0 AND key IS NULL ORDER BY next_attempt_at LIMIT ?1)
		UNION ALL
		SELECT * FROM (SELECT status, created_at FROM outbox_messages INDEXED BY outbox_keys
			WHERE ` + active + ` AND key IS NOT NULL ORDER BY key LIMIT ?1)
		UNION ALL
		SELECT * FROM (SELECT status, created_at FROM outbox_messages INDEXED BY outbox_dead
			WHERE status = 'dead' ORDER BY seq LIMIT ?1)
	) GROUP BY status`

// Stats implements outbox.Store. The oldest message is the oldest of those counted.
func (s *Store) Stats(ctx context.Context) (outbox.Stats, error) {
	var stats outbox.Stats
	rows, err := s.db.QueryContext(ctx, counted, outbox.CountLimit)
	if err != nil {
		return stats, failure(err)
	}
	defer rows.Close()
	for rows.Next() {
		var status outbox.Status
		var n int
		var oldest int64
		if err := rows.Scan(&status, &n, &oldest); err != nil {
			return stats, failure(err)
		}
		stats.Add(status, n, s.now().Sub(time.UnixMicro(oldest)))
	}
	return stats, failure(rows.Err())
}
