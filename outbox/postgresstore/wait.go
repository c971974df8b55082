package postgresstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// nextDue selects the number of seconds until the next message is due, or NULL. SQL's least ignores NULL arguments.
const nextDue = `SELECT extract(epoch FROM least(
	(SELECT next_attempt_at FROM outbox_messages WHERE ` + active +
	` AND NOT parked AND key IS NULL AND next_attempt_at > '-infinity'
		ORDER BY next_attempt_at NULLS FIRST LIMIT 1),
	(SELECT next_attempt_at FROM outbox_messages WHERE ` + active +
	` AND NOT parked AND key IS NOT NULL AND next_attempt_at > '-infinity'
		ORDER BY next_attempt_at NULLS FIRST LIMIT 1)) - statement_timestamp())::float8`

// NextDue implements outbox.Store.
func (s *Store) NextDue(ctx context.Context) (time.Duration, bool, error) {
	var seconds *float64
	if err := s.pool.QueryRow(ctx, nextDue).Scan(&seconds); err != nil || seconds == nil {
		return 0, false, err
	}
	const most = 1e9 // seconds; a Duration can hold about nine times as many
	return time.Duration(min(*seconds, most) * float64(time.Second)), true, nil
}

// Listen implements outbox.Store. It requires a separate connection, which a pooler in transaction mode cannot
// provide. Without that connection, relays look for messages only at their poll interval.
func (s *Store) Listen(ctx context.Context, wake func()) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		wake()
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
	}
}
