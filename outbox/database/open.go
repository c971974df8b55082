// Package database opens the outbox that a database address names, for programs that are told it on their command
// line or by their environment. It never logs an address. With the build tag nosqlite it refuses SQLite's addresses.
package database

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"stepback/outbox"
	"stepback/outbox/deadletters"
	"stepback/outbox/postgresstore"
)

// Outbox is an outbox with its dead letters.
type Outbox interface {
	outbox.Store
	deadletters.Room
	Close() error
}

// ErrAddress says that an address is none that Open takes.
var ErrAddress = errors.New(
	"the database address is not understood; write sqlite:/path/file.db or postgres://user:password@host/name")

// Open opens the outbox in the database of sqlite:/path/file.db or postgres://user:password@host/name, and creates
// its tables where they are missing. configure, which may be nil, can say what a PostgreSQL address cannot.
func Open(ctx context.Context, address string, configure func(*pgxpool.Config)) (Outbox, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "sqlite":
		path, _, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "?")
		if path == "" {
			return nil, ErrAddress
		}
		return openSQLite(ctx, path)
	case "postgres", "postgresql":
		return opened(postgresstore.Open(ctx, address, configure))
	}
	return nil, ErrAddress
}

// opened keeps a nil store from becoming a non-nil interface.
func opened[S Outbox](store S, err error) (Outbox, error) {
	if err != nil {
		return nil, err
	}
	return store, nil
}
