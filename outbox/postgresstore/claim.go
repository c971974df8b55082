package postgresstore

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"stepback/outbox"
)

// delivered lists the columns of a claimed message.
const delivered = ` m.seq, m.id, m.topic, coalesce(m.key, ''), coalesce(m.edited_payload, m.payload), m.content_type, m.headers,
	coalesce(m.traceparent, ''), coalesce(m.tracestate, ''), m.retry_count, m.lease_expiries,
	extract(epoch FROM statement_timestamp() - m.created_at)::float8`

// take assigns messages to a relay: $1 is the lease, $2 its duration in microseconds.
const take = `UPDATE outbox_messages m SET status = 'processing', parked = false, lease = $1,
	next_attempt_at = statement_timestamp() + $2 * interval '1 microsecond',
	lease_expiries = lease_expiries + CASE status WHEN 'processing' THEN 1 ELSE 0 END `

// claimUnkeyed claims messages without a key. It claims retries, delayed messages and expired leases first, but at
// most $3 of them, so that neither they nor new messages keep the others waiting. $4 is the maximum number of
// messages, and $5 that of bytes. It searches timed messages from $6 on. Its last column is the time at which the
// first timed message found was due.
const claimUnkeyed = `WITH timed AS MATERIALIZED (
		SELECT seq, size, next_attempt_at FROM outbox_messages WHERE ` + active + ` AND NOT parked AND key IS NULL
			AND next_attempt_at >= $6 AND next_attempt_at <= statement_timestamp()
		ORDER BY next_attempt_at NULLS FIRST, seq LIMIT $3 FOR UPDATE SKIP LOCKED
	), fresh AS MATERIALIZED (
		SELECT seq, size FROM outbox_messages WHERE ` + active +
	` AND NOT parked AND key IS NULL AND next_attempt_at IS NULL
		ORDER BY next_attempt_at NULLS FIRST, seq LIMIT $4 FOR UPDATE SKIP LOCKED
	), chosen AS (
		SELECT seq FROM (
			SELECT seq, sum(size) OVER (ORDER BY later, seq) - size AS before
			FROM (SELECT 0 AS later, seq, size FROM timed UNION ALL SELECT 1, seq, size FROM fresh) AS both_kinds
			ORDER BY later, seq LIMIT $4
		) AS summed WHERE before < $5
	)
	` + take + `WHERE m.seq = ANY (ARRAY(SELECT seq FROM chosen)) RETURNING` + delivered +
	", (SELECT min(next_attempt_at) FROM timed)"

const claimKeyed = take + "WHERE m.seq = ANY ($3) RETURNING" + delivered + ", NULL::timestamptz"

// anyKeyed checks whether messages with keys may be due.
const anyKeyed = `SELECT EXISTS (SELECT FROM outbox_messages WHERE ` + active +
	` AND NOT parked AND key IS NOT NULL AND next_attempt_at IS NULL)
	OR EXISTS (SELECT FROM outbox_messages WHERE ` + active +
	` AND NOT parked AND key IS NOT NULL AND next_attempt_at <= statement_timestamp())`

// Claim implements outbox.Store.
func (s *Store) Claim(ctx context.Context, c outbox.Claim) (outbox.Claimed, error) {
	limit := c.Limit
	if s.keyed.Load() {
		limit = (limit + 1) / 2 // so that neither kind keeps the other waiting
	}
	var claimed outbox.Claimed
	var keyed bool
	var b pgx.Batch
	b.Queue(claimUnkeyed, c.Lease, c.For.Microseconds(), (limit+1)/2, limit, c.Bytes, s.head.from(time.Now()))
	b.Queue(anyKeyed)
	results := s.pool.SendBatch(ctx, &b)
	var first *time.Time
	err := func() (err error) {
		rows, _ := results.Query() // its error is returned with the rows
		if claimed.Messages, first, err = deliveries(rows, c.Lease); err != nil {
			return err
		}
		return results.QueryRow().Scan(&keyed)
	}()
	if closing := results.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return outbox.Claimed{}, err
	}
	s.head.found(first)
	slices.SortFunc(claimed.Messages, func(a, b *outbox.Delivery) int { return cmp.Compare(a.Seq, b.Seq) })
	claimed.More = len(claimed.Messages) == limit
	s.keyed.Store(keyed)
	c.Limit -= len(claimed.Messages)
	for _, d := range claimed.Messages {
		c.Bytes -= len(d.Payload)
	}
	if !keyed && !s.lost.any() {
		return claimed, nil
	}
	if c.Limit <= 0 || c.Bytes <= 0 {
		claimed.More = true
		return claimed, nil
	}
	of, more, err := s.claimKeyed(ctx, c)
	if err != nil {
		if len(claimed.Messages) > 0 {
			s.lost.add(c.Lease)
			return claimed, nil // the claimed messages count; the next claim meets the error again
		}
		return outbox.Claimed{}, err
	}
	claimed.Messages = append(claimed.Messages, of...)
	claimed.More = claimed.More || more
	return claimed, nil
}

const candidates = `(SELECT seq, key FROM outbox_messages WHERE ` + active + ` AND NOT parked AND key IS NOT NULL
		AND next_attempt_at <= statement_timestamp() ORDER BY next_attempt_at NULLS FIRST, seq LIMIT $1)
	UNION ALL
	(SELECT seq, key FROM outbox_messages WHERE ` + active + ` AND NOT parked AND key IS NOT NULL
		AND next_attempt_at IS NULL ORDER BY next_attempt_at NULLS FIRST, seq LIMIT $1)`

// queues selects the first messages of each key, if no relay holds a message of the key.
const queues = `SELECT k.key, m.seq, m.size, m.due
	FROM unnest($1::text[]) AS k (key) CROSS JOIN LATERAL (
		SELECT seq, size, next_attempt_at IS NULL OR next_attempt_at <= statement_timestamp() AS due
		FROM outbox_messages WHERE key = k.key AND ` + active + ` AND key IS NOT NULL ORDER BY key, seq LIMIT $2
	) AS m
	WHERE NOT EXISTS (SELECT FROM outbox_messages p
		WHERE p.key = k.key AND p.status = 'processing' AND p.next_attempt_at > statement_timestamp())
	ORDER BY k.key, m.seq`

const park = "UPDATE outbox_messages SET parked = true WHERE seq = ANY ($1)"

// claimKeyed claims due messages at the head of their keys. It parks the due messages that are not at the head and
// that it did not claim.
func (s *Store) claimKeyed(ctx context.Context, c outbox.Claim) (all []*outbox.Delivery, more bool, err error) {
	lost := s.lost.take()
	defer func() {
		if err != nil {
			s.lost.add(lost...)
		}
	}()
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(keyedLock)); err != nil {
			return err
		}
		for _, lease := range lost {
			if _, err := tx.Exec(ctx, releaseLease+"NOT NULL", lease); err != nil {
				return err
			}
		}
		rows, _ := tx.Query(ctx, candidates, c.Limit)
		due, err := pgx.CollectRows(rows, pgx.RowToStructByPos[candidate])
		if err != nil || len(due) == 0 {
			return err
		}
		keys := keysOf(due)
		rows, _ = tx.Query(ctx, queues, keys, min(c.PerKey, 1+c.Limit/len(keys)))
		first, err := pgx.CollectRows(rows, pgx.RowToStructByPos[queued])
		if err != nil {
			return err
		}
		taken, parked := choose(due, first, c)
		more = len(due) >= c.Limit || len(parked) > 0
		if len(parked) > 0 {
			if _, err := tx.Exec(ctx, park, parked); err != nil {
				return err
			}
		}
		if len(taken) == 0 {
			return nil
		}
		rows, _ = tx.Query(ctx, claimKeyed, c.Lease, c.For.Microseconds(), taken)
		all, _, err = deliveries(rows, c.Lease)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	slices.SortFunc(all, func(a, b *outbox.Delivery) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Seq, b.Seq))
	})
	return all, more, nil
}

// lostClaims holds the leases of claims that failed when they claimed messages with keys, after they had claimed
// others: the database may have carried them out. The next claim releases their messages with keys.
type lostClaims struct {
	mu     sync.Mutex
	leases []string
}

// mostLost bounds the leases that are remembered. Messages of earlier ones wait for the end of the lease.
const mostLost = 16

func (l *lostClaims) any() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.leases) > 0
}

func (l *lostClaims) add(leases ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leases = append(l.leases, leases...)
	l.leases = slices.Clone(l.leases[max(0, len(l.leases)-mostLost):])
}

func (l *lostClaims) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.leases
	l.leases = nil
	return taken
}

// candidate is a message that is due unless an earlier message of its key is outstanding.
type candidate struct {
	Seq int64
	Key string
}

// queued is one of the first messages of a key, in the order in which they were written.
type queued struct {
	Key  string
	Seq  int64
	Size int
	Due  bool
}

func keysOf(due []candidate) []string {
	keys := make([]string, len(due))
	for i := range due {
		keys[i] = due[i].Key
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// choose takes from each key the due messages up to the first that is not due, within the limits. parked are the
// messages that need not be checked before something of their key is settled.
func choose(due []candidate, first []queued, c outbox.Claim) (taken, parked []int64) {
	stay := make(map[int64]bool, len(first)) // messages that are taken, and heads that do not fit into the limits
	limit, bytes := c.Limit, c.Bytes
	for i := 0; i < len(first); {
		key := first[i].Key
		stay[first[i].Seq] = true
		for going := true; i < len(first) && first[i].Key == key; i++ {
			going = going && first[i].Due && limit > 0 && bytes > 0
			if going {
				taken = append(taken, first[i].Seq)
				stay[first[i].Seq] = true
				limit--
				bytes -= first[i].Size
			}
		}
	}
	for i := range due {
		if !stay[due[i].Seq] {
			parked = append(parked, due[i].Seq)
		}
	}
	return taken, parked
}

// deliveries reads claimed messages. first is the time at which the first timed message among them was due.
func deliveries(rows pgx.Rows, lease string) (all []*outbox.Delivery, first *time.Time, err error) {
	defer rows.Close()
	for rows.Next() {
		d := &outbox.Delivery{Lease: lease}
		var id [16]byte
		var headers []byte
		var waited float64
		if err := rows.Scan(&d.Seq, &id, &d.Topic, &d.Key, &d.Payload, &d.ContentType, &headers,
			&d.TraceParent, &d.TraceState, &d.Retries, &d.Expiries, &waited, &first); err != nil {
			return nil, nil, err
		}
		d.ID = uuid.UUID(id).String()
		d.Waited = time.Duration(waited * float64(time.Second))
		if headers != nil {
			_ = json.Unmarshal(headers,
				&d.Headers) // headers of another program that are not an object of strings are left out
		}
		all = append(all, d)
	}
	return all, first, rows.Err()
}
