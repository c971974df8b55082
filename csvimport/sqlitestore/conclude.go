package sqlitestore

import (
	"context"
	"database/sql"
	"errors"

	"stepback/csvimport"
	"stepback/outbox"
	outboxstore "stepback/outbox/sqlitestore"
)

// conclusions has a row for each concluded run. The first conclusion creates it, together with the outbox.
const conclusions = `CREATE TABLE IF NOT EXISTS import_conclusions (
	bucket          TEXT NOT NULL,
	key             TEXT NOT NULL,
	etag            TEXT NOT NULL,
	run             TEXT NOT NULL,
	applied         INTEGER NOT NULL,
	already_applied INTEGER NOT NULL,
	rejected        INTEGER NOT NULL,
	dead_lettered   INTEGER NOT NULL,
	PRIMARY KEY (bucket, key, etag, run)
) WITHOUT ROWID`

const conclude = "INSERT INTO import_conclusions VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"

// Conclude implements csvimport.Concluder. It uses a separate connection instead of the writer's, because there is
// only one conclusion for thousands of rows.
func (s *Store) Conclude(ctx context.Context, run csvimport.Run, c csvimport.Conclusion, messages []outbox.Message) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return failure("conclude the import", err)
	}
	defer conn.Close()
	if err := outboxstore.Migrate(ctx, conn); err != nil {
		return failure("open the outbox", err)
	}
	if _, err := conn.ExecContext(ctx, conclusions); err != nil {
		return failure("conclude the import", err)
	}
	if err := concluded(ctx, conn, run, c, messages); err != nil {
		return failure("conclude the import", err)
	}
	return nil
}

func concluded(
	ctx context.Context, conn *sql.Conn, run csvimport.Run, c csvimport.Conclusion, messages []outbox.Message,
) error {
	always := context.WithoutCancel(ctx) // a BEGIN that was interrupted may have taken effect
	if _, err := conn.ExecContext(always, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := func() error {
		result, err := conn.ExecContext(ctx, conclude, run.File.Bucket, run.File.Key, run.File.ETag, run.Name,
			c.Applied,
			c.AlreadyApplied, c.Rejected, c.DeadLettered)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err
		}
		return outboxstore.Write(ctx, conn, messages...)
	}()
	if err == nil {
		_, err = conn.ExecContext(always, "COMMIT")
	}
	if err != nil {
		_, undo := conn.ExecContext(always, "ROLLBACK")
		return errors.Join(err, undo)
	}
	return nil
}
