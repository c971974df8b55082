package postgresstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"stepback/outbox"
)

// leaseCondition selects messages that still belong to the claim with lease $2.
const leaseCondition = " WHERE seq = ANY ($1) AND lease = $2 AND status = 'processing'"

// ofOutcome selects messages that still belong to their claims, where o has a row with seq and lease for each. The
// condition names the sequence numbers twice so that every query plan looks them up.
const ofOutcome = " WHERE m.seq = ANY ($1) AND m.seq = o.seq AND m.lease = o.lease AND m.status = 'processing'"

const (
	settleSent = `UPDATE outbox_messages SET status = 'sent', ended_at = statement_timestamp(), last_attempt_at = statement_timestamp(),
		next_attempt_at = NULL, lease = NULL, error = NULL, last_error = NULL` + leaseCondition

	settleReleased = `UPDATE outbox_messages SET status = CASE retry_count WHEN 0 THEN 'pending' ELSE 'failed' END,
		next_attempt_at = CASE retry_count WHEN 0 THEN NULL ELSE statement_timestamp() END, lease = NULL, lease_expiries = 0` + leaseCondition

	extendLeases = "UPDATE outbox_messages SET next_attempt_at = statement_timestamp() + $3 * interval '1 microsecond'" + leaseCondition

	abandonLeases = `UPDATE outbox_messages SET next_attempt_at = statement_timestamp() WHERE ` + active + `
		AND NOT parked AND status = 'processing' AND next_attempt_at > statement_timestamp() AND starts_with(lease, $1) AND key IS `

	releaseLease = `UPDATE outbox_messages SET status = CASE retry_count WHEN 0 THEN 'pending' ELSE 'failed' END,
		next_attempt_at = CASE retry_count WHEN 0 THEN NULL ELSE statement_timestamp() END, lease = NULL WHERE ` + active + `
		AND NOT parked AND status = 'processing' AND next_attempt_at > statement_timestamp() AND lease = $1 AND key IS `

	settleFailed = `UPDATE outbox_messages m SET status = 'failed', retry_count = retry_count + 1, last_attempt_at = statement_timestamp(),
		next_attempt_at = statement_timestamp() + o.after * interval '1 microsecond', lease = NULL, lease_expiries = 0,
		error = o.error, last_error = o.cause
		FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[]) AS o (seq, lease, after, error, cause)` + ofOutcome

	settleDead = `UPDATE outbox_messages m SET status = 'dead', retry_count = retry_count + 1, last_attempt_at = statement_timestamp(),
		dead_at = statement_timestamp(), next_attempt_at = NULL, lease = NULL,
		dead_letter_reason = o.reason, error = o.error, last_error = o.cause
		FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) AS o (seq, lease, reason, error, cause)` + ofOutcome

	unpark = `UPDATE outbox_messages SET parked = false WHERE parked AND seq = ANY (ARRAY(
		SELECT (SELECT m.seq FROM outbox_messages m WHERE m.key = k.key AND ` + active +
		` AND m.key IS NOT NULL ORDER BY m.key, m.seq LIMIT 1)
		FROM unnest($1::text[]) AS k (key)))`
)

// byLease groups messages by the lease of their claim.
type byLease map[string][]int64

func (b byLease) add(h outbox.Held) { b[h.Lease] = append(b[h.Lease], h.Seq) }

func (b byLease) queue(batch *pgx.Batch, statement string, args ...any) {
	for lease, seqs := range b {
		batch.Queue(statement, append([]any{seqs, lease}, args...)...)
	}
}

// attempts holds the outcomes of failed attempts, as columns.
type attempts struct {
	seqs                    []int64
	leases                  []string
	after                   []int64
	reasons, errors, causes []string
}

func (g *attempts) add(o *outbox.Settlement) {
	g.seqs, g.leases = append(g.seqs, o.Seq), append(g.leases, o.Lease)
	g.after = append(g.after, o.After.Microseconds())
	g.reasons, g.errors, g.causes = append(g.reasons, o.Reason), append(g.errors, o.Error), append(g.causes, o.Cause)
}

// Settle implements outbox.Store.
func (s *Store) Settle(ctx context.Context, all []outbox.Settlement) (int, error) {
	var failed, dead attempts
	sent, released := byLease{}, byLease{}
	keys := map[string]bool{}
	for i := range all {
		o := &all[i]
		if o.Key != "" {
			keys[o.Key] = true
		}
		switch o.Status {
		case outbox.Sent:
			sent.add(o.Held)
		case outbox.Failed:
			failed.add(o)
		case outbox.Dead:
			dead.add(o)
		default:
			released.add(o.Held)
		}
	}
	var b pgx.Batch
	if len(keys) > 0 {
		b.Queue("SELECT pg_advisory_xact_lock($1)", int64(keyedLock))
	}
	locks := b.Len()
	sent.queue(&b, settleSent)
	released.queue(&b, settleReleased)
	if len(failed.seqs) > 0 {
		b.Queue(settleFailed, failed.seqs, failed.leases, failed.after, failed.errors, failed.causes)
	}
	if len(dead.seqs) > 0 {
		b.Queue(settleDead, dead.seqs, dead.leases, dead.reasons, dead.errors, dead.causes)
	}
	settled := b.Len()
	if len(keys) > 0 {
		names := make([]string, 0, len(keys))
		for key := range keys {
			names = append(names, key)
		}
		b.Queue(unpark, names)
	}
	changed, err := s.batch(ctx, &b)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, rows := range changed[locks:settled] {
		n += int(rows)
	}
	return n, nil
}

// Abandon implements outbox.Store.
func (s *Store) Abandon(ctx context.Context, relay string) (int, error) {
	var b pgx.Batch
	for _, key := range []string{"NULL", "NOT NULL"} { // each has an index
		b.Queue(abandonLeases+key, relay+"#")
	}
	changed, err := s.batch(ctx, &b)
	if err != nil {
		return 0, err
	}
	return int(changed[0] + changed[1]), nil
}

// Release implements outbox.Store.
func (s *Store) Release(ctx context.Context, lease string) (int, error) {
	var b pgx.Batch
	b.Queue("SELECT pg_advisory_xact_lock($1)", int64(keyedLock))
	for _, key := range []string{"NULL", "NOT NULL"} { // each has an index
		b.Queue(releaseLease+key, lease)
	}
	changed, err := s.batch(ctx, &b)
	if err != nil {
		return 0, err
	}
	return int(changed[1] + changed[2]), nil
}

// Extend implements outbox.Store.
func (s *Store) Extend(ctx context.Context, held []outbox.Held, d time.Duration) error {
	all := byLease{}
	for _, h := range held {
		all.add(h)
	}
	var b pgx.Batch
	all.queue(&b, extendLeases, d.Microseconds())
	_, err := s.batch(ctx, &b)
	return err
}
