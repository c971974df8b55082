package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"stepback/internal/pgxlimits"
)

// schemaVersion is stored in the table outbox_version.
const schemaVersion = 1

// migrationLock serializes processes that migrate at the same time, and keyedLock relays that claim or settle
// messages with keys.
const (
	migrationLock = 0x6f757462_6f780001 // "outbox", 1
	keyedLock     = 0x6f757462_6f780002
)

// migrationTimeout bounds each statement of a migration, and the wait for another process that migrates.
const migrationTimeout = 10 * time.Minute

// channel is the notification channel that relays listen to.
const channel = "outbox_messages"

// active matches messages that are neither sent nor given up. The text is the same as in the partial indexes, so
// that PostgreSQL uses them.
const active = "status IN ('pending', 'processing', 'failed')"

// migrations[i] migrates a database from version i to i+1.
//
// next_attempt_at is NULL for a message that is due at once, so that setting the clock cannot delay it; while a relay
// holds the message, it is the time at which the lease ends. The table is vacuumed early, since every message leaves
// two dead rows.
var migrations = [schemaVersion]string{`
CREATE TABLE outbox_messages (
	seq                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id                 uuid NOT NULL UNIQUE,
	topic              text NOT NULL,
	key                text COLLATE "C",
	status             text COLLATE "C" NOT NULL DEFAULT 'pending'
		CHECK (status IN ('pending', 'processing', 'failed', 'sent', 'dead', 'discarded')),
	parked             boolean NOT NULL DEFAULT false,
	next_attempt_at    timestamptz,
	lease              text,
	lease_expiries     integer NOT NULL DEFAULT 0,
	retry_count        integer NOT NULL DEFAULT 0,
	redrives           integer NOT NULL DEFAULT 0,
	last_attempt_at    timestamptz,
	error              text,
	last_error         text,
	dead_letter_reason text,
	created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
	dead_at            timestamptz,
	ended_at           timestamptz,
	content_type       text NOT NULL DEFAULT 'application/json',
	headers            json,
	traceparent        text,
	tracestate         text,
	size               integer NOT NULL
		GENERATED ALWAYS AS (octet_length(payload) + coalesce(octet_length(edited_payload), 0)) STORED,
	payload            bytea NOT NULL,
	edited_payload     bytea
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
	autovacuum_analyze_scale_factor = 0.05);
CREATE INDEX outbox_due ON outbox_messages (next_attempt_at NULLS FIRST, seq) WHERE ` + active +
	` AND NOT parked AND key IS NULL;
CREATE INDEX outbox_keyed_due ON outbox_messages (next_attempt_at NULLS FIRST, seq)
	WHERE ` + active + ` AND NOT parked AND key IS NOT NULL;
CREATE INDEX outbox_keys ON outbox_messages (key, seq) WHERE ` + active + ` AND key IS NOT NULL;
CREATE INDEX outbox_busy_keys ON outbox_messages (key, next_attempt_at) WHERE status = 'processing' AND key IS NOT NULL;
CREATE INDEX outbox_dead ON outbox_messages (seq) WHERE status = 'dead';
CREATE INDEX outbox_ended ON outbox_messages (ended_at) WHERE status IN ('sent', 'discarded');
CREATE FUNCTION outbox_notify() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN PERFORM pg_notify('` + channel + `', ''); RETURN NULL; END $$;
CREATE TRIGGER outbox_notify AFTER INSERT ON outbox_messages FOR EACH STATEMENT EXECUTE FUNCTION outbox_notify();
CREATE TABLE outbox_acts (
	seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at         timestamptz NOT NULL DEFAULT clock_timestamp(),
	who        text NOT NULL,
	act        text NOT NULL,
	message_id uuid NOT NULL,
	reason     text NOT NULL DEFAULT '',
	before     text NOT NULL,
	after      text NOT NULL
);
CREATE INDEX outbox_acts_of_message ON outbox_acts (message_id, seq);
`}

// Migrate creates the tables of the outbox, or migrates them to the version that this program knows. An application
// that writes messages but opens no Store calls it.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error { return migrate(ctx, pool) }

func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	if v, err := version(ctx, pool); err != nil || v == schemaVersion {
		return err
	}
	ctx = pgxlimits.Within(ctx, migrationTimeout)
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS outbox_version (version integer NOT NULL)"); err != nil {
			return err
		}
		current, err := version(ctx, tx)
		if err != nil {
			return err
		}
		if current > schemaVersion {
			return &NewerSchemaError{Have: current, Known: schemaVersion}
		}
		for _, step := range migrations[current:] {
			if _, err := tx.Exec(ctx, step); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM outbox_version"); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO outbox_version VALUES ($1)", schemaVersion)
		return err
	})
}

// NewerSchemaError reports that a newer program has migrated the outbox.
type NewerSchemaError struct{ Have, Known int }

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("the outbox has schema version %d, this program knows up to %d: use a newer program", e.Have,
		e.Known)
}

type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// version returns the schema version, which is 0 in a database without an outbox.
func version(ctx context.Context, q rowQuerier) (int, error) {
	const undefinedTable = "42P01"
	var v int
	err := q.QueryRow(ctx, "SELECT version FROM outbox_version").Scan(&v)
	var state *pgconn.PgError
	if errors.Is(err, pgx.ErrNoRows) || errors.As(err, &state) && state.Code == undefinedTable {
		return 0, nil
	}
	if err == nil && v > schemaVersion {
		err = &NewerSchemaError{Have: v, Known: schemaVersion}
	}
	return v, err
}
