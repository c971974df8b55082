//go:build nosqlite

package database

import (
	"context"
	"errors"
)

func openSQLite(context.Context, string) (Outbox, error) {
	return nil, errors.New(
		"this program was built without SQLite (build tag nosqlite); write postgres://user:password@host/name")
}
