package pipeline

import (
	"context"
	"fmt"
	"time"

	"stepback/csvimport/database"
)

// connectTime limits the time that the first connection to the database may take.
const connectTime = 10 * time.Second

// reachable connects once to a database on a network, so that an unreachable one, such as a mistyped address, is
// reported at once instead of after every retry of every row.
func reachable(ctx context.Context, address string) error {
	if _, _, isFile := database.SQLitePath(address); isFile {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	store, err := database.Open(limited, address)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("the database %s cannot be used, and nothing was imported: %w", database.Mask(address), err)
	}
	return store.Close()
}
