package sqlitestore

import (
	"context"
	"database/sql"
	"errors"

	"modernc.org/sqlite"

	"stepback/csvimport"
	"stepback/internal/checksumvfs"
	"stepback/internal/sqlitewal"
	"stepback/retry"
)

// withChecksums is the schema version from which on each page of the database has a checksum. The version and the
// number of reserved bytes are two fields of the header: if one of them is damaged, they contradict each other.
const withChecksums = 4

// requireChecksums reports a database as damaged if its header says that its pages have no checksums.
func requireChecksums(ctx context.Context, c checksumvfs.Connection, path string) error {
	on, err := checksumvfs.Reserved(ctx, c)
	if err == nil && !on {
		err = damaged(path, "its header does not reserve the bytes of the pages' checksums")
	}
	return err
}

// convert gives a database of version 3 checksums: it rewrites all pages. If another process has it open, which may be
// of a version that keeps no checksums, or if the disk has no space for the copy, the database stays as it is, and is
// converted when it is opened again.
func convert(ctx context.Context, conn *sql.Conn) error {
	on, err := checksumvfs.Reserved(ctx, conn)
	if err != nil {
		return err
	}
	if !on {
		if err := rewrite(ctx, conn); err != nil {
			if isBusyOrFull(err) {
				return sqlitewal.Use(ctx, conn)
			}
			return err
		}
	}
	return transact(ctx, conn, func(ctx context.Context, conn *sql.Conn) error {
		current, err := version(ctx, conn)
		if err != nil || current >= withChecksums {
			return err
		}
		if on, err = checksumvfs.Reserved(ctx, conn); err != nil || !on {
			return err
		}
		return setVersion(ctx, conn, withChecksums)
	})
}

// rewrite rewrites all pages. It leaves the write-ahead log, which succeeds only if no other connection exists, and
// then does its work in the log, whose transaction a crash undoes or completes.
func rewrite(ctx context.Context, conn *sql.Conn) error {
	mode := ""
	// It does not wait for the other connections: an import may keep them for hours.
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode)
	if _, e := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA busy_timeout = 5000"); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if mode != "delete" {
		return errOthers
	}
	if err := sqlitewal.Use(ctx, conn); err != nil {
		return err
	}
	if err := checksumvfs.Reserve(ctx, conn); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "VACUUM")
	return err
}

var errOthers = errors.New("another process has the database open")

func isBusyOrFull(err error) bool {
	var code *sqlite.Error
	if errors.Is(err, errOthers) {
		return true
	}
	return errors.As(err, &code) && (code.Code()&0xff == codeBusy || code.Code()&0xff == codeLocked || IsDiskFull(err))
}

// damagedLog converts the error of checksumvfs.CheckLog.
func damagedLog(err error) error {
	var log *checksumvfs.DamagedLogError
	if errors.As(err, &log) {
		return csvimport.Fail(retry.StorageError, "%w; SQLite would drop them: restore the database and its log from a backup, "+
			"or let `stepback data repair` drop them", log)
	}
	return err
}
