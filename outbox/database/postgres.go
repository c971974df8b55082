//go:build !lean

package database

import (
	"context"

	"stepback/outbox/postgresstore"
)

func openPostgres(ctx context.Context, address string) (Outbox, error) {
	return opened(postgresstore.Open(ctx, address, nil))
}
