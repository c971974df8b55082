// Package postgresstore keeps idempotency keys in PostgreSQL. Each operation is one statement in its own
// transaction, and one round trip unless the key is already used.
//
// A store returned by [Open] does not wait without end for a server that does not respond. A connection attempt
// takes at most 5 s (connect_timeout of the connection string). A statement takes at most 30 s at the client, or 10
// s more than the connection string's statement_timeout; 0 means no limit. The error is context.DeadlineExceeded,
// which the guard retries. The limits of a pool that is passed to [New] are up to the caller.
package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"stepback/internal/pgxlimits"
	"stepback/resilience/idempotency"
)

// schema creates the table if it does not exist. A key without a status is running.
const schema = `
CREATE TABLE IF NOT EXISTS idempotency_keys (
	key         text PRIMARY KEY,
	fingerprint bytea NOT NULL,
	token       text NOT NULL,
	lease       timestamptz NOT NULL,
	expires     timestamptz NOT NULL,
	status      integer,
	header      bytea,
	body        bytea,
	lasts       bigint -- the duration of the lease, milliseconds
);
DO $$ BEGIN -- a table of an earlier version; ALTER TABLE alone would lock the table at each start
	IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'idempotency_keys'::regclass AND attname = 'lasts') THEN
		ALTER TABLE idempotency_keys ADD COLUMN lasts bigint;
	END IF;
END $$;
CREATE INDEX IF NOT EXISTS idempotency_keys_expires ON idempotency_keys (expires)`

const (
	// claim takes a key in three cases: it is new, it has expired, or its lease has ended and the request is the
	// same. xmax is not 0 if the row existed before.
	claim = `INSERT INTO idempotency_keys AS k (key, fingerprint, token, lease, expires, lasts) VALUES ($1, $2, $3, $4, $5, $7)
ON CONFLICT (key) DO UPDATE SET fingerprint = EXCLUDED.fingerprint, token = EXCLUDED.token, lease = EXCLUDED.lease,
	expires = EXCLUDED.expires, lasts = EXCLUDED.lasts, status = NULL, header = NULL, body = NULL
WHERE k.expires <= $6 AND (k.status IS NOT NULL OR k.lease <= $6)
	OR k.status IS NULL AND k.fingerprint = EXCLUDED.fingerprint AND (k.lease <= $6 OR k.token = EXCLUDED.token)
RETURNING xmax <> 0`
	find   = `SELECT fingerprint, token, lease, expires, status, header, body, coalesce(lasts, 0) FROM idempotency_keys WHERE key = $1`
	extend = `UPDATE idempotency_keys SET lease = $3 WHERE key = $1 AND token = $2 AND status IS NULL`
	finish = `UPDATE idempotency_keys SET status = $3, header = $4, body = $5, expires = $6
WHERE key = $1 AND token = $2 AND status IS NULL`
	release = `DELETE FROM idempotency_keys WHERE key = $1 AND token = $2 AND status IS NULL`
	purge   = `DELETE FROM idempotency_keys WHERE key IN (SELECT key FROM idempotency_keys WHERE expires < $1
AND (status IS NOT NULL OR lease < $1) ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// schemaLock serialises processes that create the table at the same time; the number spells "idempote" in ASCII.
const schemaLock = 0x6964656d706f7465

// Store implements idempotency.Store.
type Store struct {
	pool *pgxpool.Pool
	owns bool
}

// Open connects to the database of a postgres:// connection string, and creates the table if it is missing.
func Open(ctx context.Context, url string) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err) // pgx masks the password
	}
	pgxlimits.Set(config)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	s, err := New(ctx, pool)
	if err != nil {
		pool.Close()
		return nil, err
	}
	s.owns = true
	return s, nil
}

// New returns a store that uses the caller's pool, and creates the table if it is missing. Close does not close the
// pool.
func New(ctx context.Context, pool *pgxpool.Pool) (*Store, error) {
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(schemaLock)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, schema)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("idempotency: create the table: %w", err)
	}
	return &Store{pool: pool}, nil
}

// Close closes the connections that Open opened.
func (s *Store) Close() error {
	if s.owns {
		s.pool.Close()
	}
	return nil
}

// MaxAnswer returns 0: PostgreSQL has no limit below 1 GB.
func (s *Store) MaxAnswer() int { return 0 }

// Begin implements idempotency.Store.
func (s *Store) Begin(ctx context.Context, c idempotency.Claim) (idempotency.Standing, error) {
	if c.Fingerprint == nil {
		c.Fingerprint = []byte{} // pgx stores nil as NULL
	}
	for {
		var before bool
		err := s.pool.QueryRow(ctx, claim, c.Key, c.Fingerprint, c.Token, c.Until, c.Expires, c.Now,
			c.Until.Sub(c.Now).Milliseconds()).Scan(&before)
		if err == nil {
			return idempotency.Standing{State: idempotency.Claimed, TakenOver: before}, nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return idempotency.Standing{}, err
		}
		standing, gone, err := s.look(ctx, c)
		if err != nil || !gone {
			return standing, err
		}
	}
}

// look reads the existing row of a key. gone is true if the key was released in the meantime and can be claimed.
func (s *Store) look(ctx context.Context, c idempotency.Claim) (standing idempotency.Standing, gone bool, err error) {
	var fingerprint, header, body []byte
	var token string
	var lease, expires time.Time
	var status *int
	var lasts int64
	err = s.pool.QueryRow(ctx, find, c.Key).Scan(&fingerprint, &token, &lease, &expires, &status, &header, &body,
		&lasts)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return standing, true, nil
	case err != nil:
		return standing, false, err
	case !expires.After(c.Now) && (status != nil || !lease.After(c.Now)):
		return standing, true, nil
	case string(fingerprint) != string(c.Fingerprint):
		return idempotency.Standing{State: idempotency.Mismatched}, false, nil
	case status == nil:
		lease, changed := c.ShortenLease(lease, time.Duration(lasts)*time.Millisecond)
		if changed {
			_, err = s.pool.Exec(ctx, extend, c.Key, token, lease)
		}
		return idempotency.Standing{State: idempotency.Running, Until: lease}, false, err
	}
	answer := idempotency.Answer{Status: *status, Body: body}
	answer.Header, err = idempotency.DecodeHeader(header)
	return idempotency.Standing{State: idempotency.Done, Answer: answer}, false, err
}

// Extend implements idempotency.Store.
func (s *Store) Extend(ctx context.Context, key, token string, until time.Time) error {
	tag, err := s.pool.Exec(ctx, extend, key, token, until)
	if err == nil && tag.RowsAffected() == 0 {
		return idempotency.ErrLeaseLost
	}
	return err
}

// Finish implements idempotency.Store.
func (s *Store) Finish(ctx context.Context, key, token string, a idempotency.Answer, expires time.Time) error {
	header, err := idempotency.EncodeHeader(a.Header)
	if err != nil {
		return err
	}
	tag, err := s.pool.Exec(ctx, finish, key, token, a.Status, header, a.Body, expires)
	if err != nil || tag.RowsAffected() > 0 {
		return err
	}
	var finished bool
	err = s.pool.QueryRow(ctx, "SELECT status IS NOT NULL FROM idempotency_keys WHERE key = $1 AND token = $2", key,
		token).Scan(&finished)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !finished {
		return idempotency.ErrLeaseLost
	}
	return err
}

// Release implements idempotency.Store.
func (s *Store) Release(ctx context.Context, key, token string) error {
	_, err := s.pool.Exec(ctx, release, key, token)
	return err
}

// Purge implements idempotency.Store.
func (s *Store) Purge(ctx context.Context, now time.Time, most int) (int, error) {
	tag, err := s.pool.Exec(ctx, purge, now, most)
	return int(tag.RowsAffected()), err
}
