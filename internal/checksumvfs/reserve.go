package checksumvfs

import (
	"context"
	"database/sql"
	"strconv"
)

// Connection is a connection to a database that was opened with the VFS: *sql.Conn, or *sql.DB with one connection.
type Connection interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Reserve gives a database checksums from its creation on. It must be called before the first statement that writes.
// An existing database without checksums gets them with the connection's next VACUUM, and is unchanged until then.
func Reserve(ctx context.Context, c Connection) error {
	_, err := c.ExecContext(ctx, "PRAGMA "+pragma+" = "+strconv.Itoa(reserved))
	return err
}

// Reserved reports whether the pages of a database have checksums, or get them because Reserve was called on this
// connection.
func Reserved(ctx context.Context, c Connection) (bool, error) {
	var version, n int
	// Reading updates what the connection knows of a database that another one has changed.
	if err := c.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version); err != nil {
		return false, err
	}
	err := c.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&n)
	return n == reserved, err
}
