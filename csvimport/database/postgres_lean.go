//go:build lean

package database

import (
	"context"

	"stepback/csvimport"
	"stepback/retry"
)

// openPostgres returns an error: the build tag lean leaves PostgreSQL out.
func openPostgres(context.Context, string) (csvimport.Store, error) {
	return nil, csvimport.Fail(retry.InvalidInput,
		"this build of stepback leaves out PostgreSQL; build it with make build, or write sqlite:/path/file.db")
}
