//go:build !nosqlite

package database

import (
	"context"

	"stepback/csvimport"
	"stepback/csvimport/sqlitestore"
	"stepback/retry"
)

func openSQLite(ctx context.Context, path, options string) (csvimport.Store, error) {
	durability, err := sqliteDurability(options)
	if err != nil {
		return nil, err
	}
	return opened(sqlitestore.Open(ctx, path, durability))
}

func readSQLite(ctx context.Context, path, options string) (Reader, error) {
	if _, err := sqliteDurability(options); err != nil {
		return nil, err
	}
	r, err := sqlitestore.OpenReader(ctx, path)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// sqliteDurability parses the options of an SQLite address.
func sqliteDurability(options string) (sqlitestore.Durability, error) {
	switch options {
	case "", "synchronous=full":
		return sqlitestore.Full, nil
	case "synchronous=normal":
		return sqlitestore.Normal, nil
	}
	return "", csvimport.Fail(retry.InvalidInput,
		"the option %q of the database address is not understood; write ?synchronous=normal or nothing", options)
}
