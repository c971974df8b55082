package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"stepback/internal/ctxerr"
)

const nextDue = "SELECT min(due) FROM (SELECT min(next_attempt_at) AS due" + unkeyedDue +
	"IS NOT NULL UNION ALL SELECT min(next_attempt_at)" +
	keyedDue + "IS NOT NULL)"

// NextDue implements outbox.Store.
func (s *Store) NextDue(ctx context.Context) (time.Duration, bool, error) {
	var due sql.NullInt64
	if err := s.db.QueryRowContext(ctx, nextDue).Scan(&due); err != nil || !due.Valid {
		return 0, false, failure(err)
	}
	return time.UnixMicro(due.Int64).Sub(s.now()), true, nil
}

// Listen implements outbox.Store.
func (s *Store) Listen(ctx context.Context, wake func()) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return failure(err)
	}
	defer conn.Close()
	stmt, err := conn.PrepareContext(ctx, "PRAGMA data_version")
	if err != nil {
		return failure(err)
	}
	defer stmt.Close()
	s.listening.Lock()
	s.wakes[&wake] = struct{}{}
	s.listening.Unlock()
	defer func() {
		s.listening.Lock()
		delete(s.wakes, &wake)
		s.listening.Unlock()
	}()
	look := time.NewTicker(s.look)
	defer look.Stop()
	last := int64(-1)
	for {
		var version int64
		if err := stmt.QueryRowContext(ctx).Scan(&version); err != nil {
			return failure(err)
		}
		if version != last {
			last = version
			wake()
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctxerr.Of(ctx)
		}
	}
}

// Wake makes the relays in this process look for messages at once. An application calls it after it has committed
// messages, if ten milliseconds matter.
func (s *Store) Wake() {
	s.listening.Lock()
	defer s.listening.Unlock()
	for wake := range s.wakes {
		(*wake)()
	}
}
