package postgresstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"stepback/outbox"
)

const (
	deleteEnded = `DELETE FROM outbox_messages WHERE seq = ANY (ARRAY(
		SELECT seq FROM outbox_messages WHERE status IN ('sent', 'discarded')
			AND ended_at < statement_timestamp() - $1 * interval '1 microsecond'
		ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED))`

	// mendWaits ends waits longer than any that a relay sets. They are left over from before the clock was set
	// back.
	mendWaits = `UPDATE outbox_messages SET next_attempt_at = statement_timestamp()
		WHERE ` + active + ` AND status <> 'pending' AND NOT parked AND next_attempt_at > statement_timestamp() + $1 * interval '1 microsecond' AND key IS `

	// mendParked unparks messages that nothing else would unpark. Only manual changes to the table can cause that.
	mendParked = `UPDATE outbox_messages m SET parked = false WHERE parked AND ` + active +
		` AND key IS NOT NULL AND NOT EXISTS (
		SELECT FROM outbox_messages o WHERE o.key = m.key AND o.status IN ('pending', 'processing', 'failed') AND NOT o.parked)`
)

// Tidy implements outbox.Store.
func (s *Store) Tidy(ctx context.Context, t outbox.Tidy) (outbox.Tidied, error) {
	var done outbox.Tidied
	if t.Retention >= 0 {
		tag, err := s.pool.Exec(ctx, deleteEnded, t.Retention.Microseconds(), t.Limit)
		if err != nil {
			return done, err
		}
		done.Deleted = int(tag.RowsAffected())
	}
	if t.Longest <= 0 {
		return done, nil
	}
	var b pgx.Batch
	b.Queue("SELECT pg_advisory_xact_lock($1)", int64(keyedLock))
	b.Queue(mendWaits+"NULL", t.Longest.Microseconds())
	b.Queue(mendWaits+"NOT NULL", t.Longest.Microseconds())
	b.Queue(mendParked)
	changed, err := s.batch(ctx, &b)
	if err != nil {
		return done, err
	}
	done.Mended = int(changed[1] + changed[2] + changed[3])
	return done, nil
}

// counted counts messages up to a limit. It reads no more entries of an index than that.
const counted = `SELECT status, count(*), extract(epoch FROM statement_timestamp() - min(created_at))::float8 FROM (
		(SELECT status, created_at FROM outbox_messages WHERE ` + active + ` AND NOT parked AND key IS NULL
			ORDER BY next_attempt_at NULLS FIRST, seq LIMIT $1)
		UNION ALL
		(SELECT status, created_at FROM outbox_messages WHERE ` + active +
	` AND key IS NOT NULL ORDER BY key, seq LIMIT $1)
		UNION ALL
		(SELECT status, created_at FROM outbox_messages WHERE status = 'dead' ORDER BY seq LIMIT $1)
	) AS counted GROUP BY status`

// Stats implements outbox.Store. The oldest message is the oldest of those counted.
func (s *Store) Stats(ctx context.Context) (outbox.Stats, error) {
	var stats outbox.Stats
	rows, _ := s.pool.Query(ctx, counted, outbox.CountLimit)
	var status outbox.Status
	var n int
	var oldest float64
	_, err := pgx.ForEachRow(rows, []any{&status, &n, &oldest}, func() error {
		stats.Add(status, n, time.Duration(oldest*float64(time.Second)))
		return nil
	})
	return stats, err
}
