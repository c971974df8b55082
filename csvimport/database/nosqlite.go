//go:build nosqlite

package database

import (
	"context"

	"stepback/csvimport"
	"stepback/retry"
)

func openSQLite(context.Context, string, string) (csvimport.Store, error) {
	return nil, csvimport.Fail(retry.InvalidInput,
		"this program was built without SQLite (build tag nosqlite); write postgres://user:password@host/name")
}

func readSQLite(ctx context.Context, path, options string) (Reader, error) {
	return openSQLite(ctx, path, options)
}
