package checksumvfs

import (
	"context"
	"database/sql"
	"errors"
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

// Reserved reports whether the pages of a database have checksums. It reads the header instead of asking SQLite, whose
// answer includes what Reserve asked for on this connection, although another connection may have begun the database
// without checksums in the meantime. A database without pages has none.
func Reserved(ctx context.Context, c Connection) (bool, error) {
	var head []byte
	err := c.QueryRowContext(ctx, "SELECT substr(data, 1, "+strconv.Itoa(headerSize)+") FROM sqlite_dbpage WHERE pgno = 1").
		Scan(&head)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	_, sums, ok := header(head)
	return sums && ok, err
}
