//go:build lean

package database

import (
	"context"
	"errors"
)

// openPostgres returns an error: the build tag lean leaves PostgreSQL out.
func openPostgres(context.Context, string) (Outbox, error) {
	return nil, errors.New(
		"this build of stepback leaves out PostgreSQL; build it with make build, or write sqlite:/path/file.db")
}
