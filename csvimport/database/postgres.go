//go:build !lean

package database

import (
	"context"
	"strings"

	"stepback/csvimport"
	"stepback/csvimport/postgresstore"
	"stepback/retry"
)

// openPostgres opens a PostgreSQL address.
func openPostgres(ctx context.Context, address string) (csvimport.Store, error) {
	url, access, err := Resolve(ctx, address)
	if err != nil {
		return nil, err
	}
	return opened(postgresstore.OpenWith(ctx, url, access))
}

// Resolve returns the connection string and the Access for a PostgreSQL address that [Open] accepts, for programs
// that connect on their own. Any other address is InvalidInput.
func Resolve(ctx context.Context, address string) (url string, access postgresstore.Access, err error) {
	switch scheme, rest, _ := strings.Cut(address, ":"); scheme {
	case "postgres", "postgresql":
		return address, access, nil
	case iamScheme:
		return iamAccess(ctx, address)
	case secretScheme:
		return secretAccess(ctx, rest)
	}
	return "", access, csvimport.Fail(retry.InvalidInput, "the database address %s is not a PostgreSQL address",
		Mask(address))
}
