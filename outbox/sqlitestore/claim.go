package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"stepback/outbox"
)

// Claim implements outbox.Store. It takes the write lock only if something is due.
func (s *Store) Claim(ctx context.Context, c outbox.Claim) (outbox.Claimed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.micros()
	var due bool
	if err := s.stmts.anyDue.QueryRowContext(ctx, now).Scan(&due); err != nil {
		return outbox.Claimed{}, failure(err)
	}
	if err := s.stmts.anyKeyed.QueryRowContext(ctx, now).Scan(&s.keyed); err != nil {
		return outbox.Claimed{}, failure(err)
	}
	if !due && !s.keyed {
		return outbox.Claimed{}, nil
	}
	var claimed outbox.Claimed
	err := transact(ctx, s.conn, func() (err error) {
		claimed, err = s.claim(ctx, c, now)
		return err
	})
	if err != nil {
		return outbox.Claimed{}, failure(err)
	}
	return claimed, nil
}

// claim claims due messages. It claims retries, delayed messages and expired leases first, but only up to half of
// the limit, so that new messages get their share. It also divides the limit between messages with keys and
// messages without, so that neither keep the others waiting.
func (s *Store) claim(ctx context.Context, c outbox.Claim, now int64) (outbox.Claimed, error) {
	limit := c.Limit
	if s.keyed {
		limit = (limit + 1) / 2
	}
	timed, err := s.due(ctx, s.stmts.timed, now, (limit+1)/2)
	if err != nil {
		return outbox.Claimed{}, err
	}
	fresh, err := s.due(ctx, s.stmts.fresh, limit-len(timed))
	if err != nil {
		return outbox.Claimed{}, err
	}
	seqs, bytes := within(append(timed, fresh...), c.Bytes)
	claimed := outbox.Claimed{More: len(timed)+len(fresh) >= limit || len(seqs) < len(timed)+len(fresh)}
	if claimed.Messages, err = s.take(ctx, seqs, c, now); err != nil || !s.keyed {
		return claimed, err
	}
	c.Limit -= len(seqs)
	c.Bytes -= bytes
	if c.Limit <= 0 || c.Bytes <= 0 {
		claimed.More = true
		return claimed, nil
	}
	keyed, more, err := s.claimKeyed(ctx, c, now)
	claimed.Messages, claimed.More = append(claimed.Messages, keyed...), claimed.More || more
	return claimed, err
}

// sized is a due message with its size.
type sized struct {
	seq  int64
	size int
}

func (s *Store) due(ctx context.Context, stmt *sql.Stmt, args ...any) (all []sized, err error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var m sized
		if err := rows.Scan(&m.seq, &m.size); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

// within returns the sequence numbers of the first messages, up to the one with which their size reaches most
// bytes.
func within(all []sized, most int) (seqs []int64, bytes int) {
	for _, m := range all {
		if bytes >= most {
			break
		}
		seqs = append(seqs, m.seq)
		bytes += m.size
	}
	return seqs, bytes
}

// take marks messages as claimed by the relay.
func (s *Store) take(ctx context.Context, seqs []int64, c outbox.Claim, now int64) ([]*outbox.Delivery, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	rows, err := s.stmts.take.QueryContext(ctx, list(seqs), c.Lease, now+c.For.Microseconds())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := make([]*outbox.Delivery, 0, len(seqs))
	for rows.Next() {
		d := &outbox.Delivery{Lease: c.Lease}
		var headers sql.NullString
		var created int64
		if err := rows.Scan(&d.Seq, &d.ID, &d.Topic, &d.Key, &d.Payload, &d.ContentType, &headers,
			&d.TraceParent, &d.TraceState, &d.Retries, &d.Expiries, &created); err != nil {
			return nil, err
		}
		d.Waited = time.Duration(now-created) * time.Microsecond
		if headers.Valid {
			_ = json.Unmarshal([]byte(headers.String),
				&d.Headers) // headers of another program that are not an object of strings are left out
		}
		all = append(all, d)
	}
	slices.SortFunc(all,
		func(a, b *outbox.Delivery) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Seq, b.Seq)) })
	return all, rows.Err()
}

// candidate is a message that is due unless an earlier message of its key is outstanding.
type candidate struct {
	seq int64
	key string
}

// claimKeyed claims due messages at the head of their keys. It parks the due messages that are not at the head and
// that it did not claim.
func (s *Store) claimKeyed(
	ctx context.Context,
	c outbox.Claim,
	now int64,
) (all []*outbox.Delivery, more bool, err error) {
	timed, err := s.candidates(ctx, s.stmts.keyedTimed, now, c.Limit)
	if err != nil {
		return nil, false, err
	}
	fresh, err := s.candidates(ctx, s.stmts.keyedFresh, c.Limit)
	if err != nil {
		return nil, false, err
	}
	due := slices.Concat(timed, fresh)
	stay := make(map[int64]bool, len(due)) // messages that are taken, and heads that do not fit into the limits
	seen := map[string]bool{}
	for _, m := range due {
		seen[m.key] = false
	}
	c.PerKey = min(c.PerKey, 1+c.Limit/max(1, len(seen)))
	var taken []int64
	for _, m := range due {
		if c.Limit <= 0 || c.Bytes <= 0 {
			stay[m.seq] = true // it is considered again next time
			continue
		}
		if seen[m.key] {
			continue
		}
		seen[m.key] = true
		if err := s.queue(ctx, m.key, now, &c, func(seq int64, take bool) {
			stay[seq] = true
			if take {
				taken = append(taken, seq)
			}
		}); err != nil {
			return nil, false, err
		}
	}
	var parked []int64
	for _, m := range due {
		if !stay[m.seq] {
			parked = append(parked, m.seq)
		}
	}
	if len(parked) > 0 {
		if _, err := s.stmts.park.ExecContext(ctx, list(parked)); err != nil {
			return nil, false, err
		}
	}
	all, err = s.take(ctx, taken, c, now)
	return all, len(due) >= c.Limit || len(parked) > 0, err
}

func (s *Store) candidates(ctx context.Context, stmt *sql.Stmt, args ...any) (all []candidate, err error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var m candidate
		if err := rows.Scan(&m.seq, &m.key); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

// queue visits the first message of a key, and the messages after it that can be claimed too. They can be claimed
// up to the first that is not due, within the limits of c. queue visits none if a relay holds a message of the key.
func (s *Store) queue(
	ctx context.Context,
	key string,
	now int64,
	c *outbox.Claim,
	visit func(seq int64, take bool),
) error {
	var busy bool
	if err := s.stmts.busy.QueryRowContext(ctx, key, now).Scan(&busy); err != nil || busy {
		return err
	}
	rows, err := s.stmts.queue.QueryContext(ctx, key, now, c.PerKey)
	if err != nil {
		return err
	}
	defer rows.Close()
	for head := true; rows.Next(); head = false {
		var seq int64
		var size int
		var due bool
		if err := rows.Scan(&seq, &size, &due); err != nil {
			return err
		}
		take := due && c.Limit > 0 && c.Bytes > 0
		if head || take {
			visit(seq, take)
		}
		if !take {
			break
		}
		c.Limit--
		c.Bytes -= size
	}
	return rows.Err()
}

// list encodes numbers as an array for json_each.
func list(seqs []int64) string {
	text := make([]byte, 0, 2+8*len(seqs))
	text = append(text, '[')
	for i, seq := range seqs {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, seq, 10)
	}
	return string(append(text, ']'))
}
