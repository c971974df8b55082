//go:build !nosqlite

package database

import (
	"context"

	"stepback/outbox/sqlitestore"
)

func openSQLite(ctx context.Context, path string) (Outbox, error) {
	return opened(sqlitestore.Open(ctx, path, sqlitestore.Config{}))
}
