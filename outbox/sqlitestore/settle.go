package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"stepback/outbox"
)

// Settle implements outbox.Store.
func (s *Store) Settle(ctx context.Context, all []outbox.Settlement) (int, error) {
	settled := 0
	err := s.write(ctx, func() error {
		settled = 0
		now := s.micros()
		sent, released := byLease{}, byLease{}
		keys := map[string]bool{}
		for i := range all {
			o := &all[i]
			if o.Key != "" {
				keys[o.Key] = true
			}
			var err error
			switch o.Status {
			case outbox.Sent:
				sent.add(o.Held)
			case outbox.Failed:
				err = s.change(ctx, &settled, s.stmts.failed, o.Seq, o.Lease, now, now+o.After.Microseconds(), o.Error,
					o.Cause)
			case outbox.Dead:
				err = s.change(ctx, &settled, s.stmts.dead, o.Seq, o.Lease, now, o.Reason, o.Error, o.Cause)
			default:
				released.add(o.Held)
			}
			if err != nil {
				return err
			}
		}
		for lease, seqs := range sent {
			if err := s.change(ctx, &settled, s.stmts.sent, list(seqs), lease, now); err != nil {
				return err
			}
		}
		for lease, seqs := range released {
			if err := s.change(ctx, &settled, s.stmts.released, list(seqs), lease, now); err != nil {
				return err
			}
		}
		for key := range keys {
			if err := s.unpark(ctx, key); err != nil {
				return err
			}
		}
		return nil
	})
	return settled, err
}

type byLease map[string][]int64

func (b byLease) add(h outbox.Held) { b[h.Lease] = append(b[h.Lease], h.Seq) }

func (s *Store) change(ctx context.Context, count *int, stmt *sql.Stmt, args ...any) error {
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	*count += int(n)
	return err
}

// unpark unparks the first message of a key.
func (s *Store) unpark(ctx context.Context, key string) error {
	var seq int64
	var parked bool
	err := s.stmts.head.QueryRowContext(ctx, key).Scan(&seq, &parked)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !parked {
		return nil
	}
	if err == nil {
		_, err = s.stmts.unpark.ExecContext(ctx, seq)
	}
	return err
}

// Abandon implements outbox.Store.
func (s *Store) Abandon(ctx context.Context, relay string) (int, error) {
	var n int
	err := s.write(ctx, func() error {
		n = 0
		for _, due := range []string{unkeyedDue, keyedDue} {
			if err := s.exec(ctx, &n, endWaits+due+"> ?1 AND status = 'processing' AND substr(lease, 1, length(?2)) = ?2)",
				s.micros(), relay+"#"); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// Release implements outbox.Store.
func (s *Store) Release(ctx context.Context, lease string) (int, error) {
	var n int
	err := s.write(ctx, func() error {
		n = 0
		for _, due := range []string{unkeyedDue, keyedDue} {
			if err := s.exec(ctx, &n, `UPDATE outbox_messages SET status = iif(retry_count = 0, 'pending', 'failed'),
				next_attempt_at = iif(retry_count = 0, NULL, ?1), lease = NULL WHERE seq IN (SELECT seq`+due+
				"> ?1 AND status = 'processing' AND lease = ?2)", s.micros(), lease); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// Extend implements outbox.Store.
func (s *Store) Extend(ctx context.Context, held []outbox.Held, d time.Duration) error {
	all := byLease{}
	for _, h := range held {
		all.add(h)
	}
	return s.write(ctx, func() error {
		until := s.micros() + d.Microseconds()
		for lease, seqs := range all {
			if _, err := s.stmts.extend.ExecContext(ctx, list(seqs), lease, until); err != nil {
				return err
			}
		}
		return nil
	})
}
