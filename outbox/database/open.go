// Package database opens the outbox at a database address, for programs that get the address from their command line
// or environment. It never logs an address. With the build tag nosqlite it rejects SQLite
// addresses, and with the build tag lean PostgreSQL addresses.
package database

import (
	"context"
	"errors"
	"strings"

	"stepback/outbox"
	"stepback/outbox/deadletters"
)

// Outbox is an outbox with its dead letters.
type Outbox interface {
	outbox.Store
	deadletters.Store
	Close() error
}

// ErrAddress is returned for an address that Open does not understand.
var ErrAddress = errors.New(
	"the database address is not understood; write sqlite:/path/file.db or postgres://user:password@host/name")

// Open opens the outbox in the database at sqlite:/path/file.db or postgres://user:password@host/name, and creates
// missing tables.
func Open(ctx context.Context, address string) (Outbox, error) {
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "sqlite":
		path, _, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "?")
		if path == "" {
			return nil, ErrAddress
		}
		return openSQLite(ctx, path)
	case "postgres", "postgresql":
		return openPostgres(ctx, address)
	}
	return nil, ErrAddress
}

// opened returns store as an Outbox, or nil if err is set. Without it, a nil store would become a non-nil
// interface.
func opened[S Outbox](store S, err error) (Outbox, error) {
	if err != nil {
		return nil, err
	}
	return store, nil
}
