package postgresstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"stepback/csvimport"
	"stepback/outbox"
	outboxstore "stepback/outbox/postgresstore"
)

// conclusions has a row for each concluded run. The first conclusion creates it, together with the outbox.
const conclusions = `CREATE TABLE IF NOT EXISTS import_conclusions (
	bucket          text NOT NULL,
	key             text NOT NULL,
	etag            text NOT NULL,
	run             text NOT NULL,
	applied         bigint NOT NULL,
	already_applied bigint NOT NULL,
	rejected        bigint NOT NULL,
	dead_lettered   bigint NOT NULL,
	PRIMARY KEY (bucket, key, etag, run)
)`

const (
	conclusionsExist = "SELECT to_regclass('import_conclusions') IS NOT NULL"
	conclude         = "INSERT INTO import_conclusions VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING"
)

// Conclude implements csvimport.Concluder.
func (s *Store) Conclude(ctx context.Context, run csvimport.Run, c csvimport.Conclusion, messages []outbox.Message) error {
	if err := outboxstore.Migrate(ctx, s.pool); err != nil {
		return failure("open the outbox", err)
	}
	if err := s.makeConclusions(ctx); err != nil {
		return failure("conclude the import", err)
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, conclude, run.File.Bucket, run.File.Key, run.File.ETag, run.Name, c.Applied,
			c.AlreadyApplied, c.Rejected, c.DeadLettered)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return outboxstore.Write(ctx, tx, messages...)
	})
	if err != nil {
		return failure("conclude the import", err)
	}
	return nil
}

// makeConclusions creates the table under the migration lock, because concurrent CREATE TABLE IF NOT EXISTS
// statements may fail.
func (s *Store) makeConclusions(ctx context.Context) error {
	var there bool
	if err := s.pool.QueryRow(ctx, conclusionsExist).Scan(&there); err != nil || there {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, conclusions)
		return err
	})
}
