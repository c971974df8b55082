package shared

import (
	"context"

	"stepback/adaptive/limiter"
)

// Store keeps a record and counters for each callee. All methods may be called concurrently, by many processes. Every
// implementation passes the suite in package storetest.
type Store interface {
	// Add adds a tally to the callee's counters and returns the record with the counters as they are then. A callee
	// that nobody added anything of has the zero Record. An empty tally only reads.
	Add(ctx context.Context, callee string, t limiter.Tally) (Record, limiter.Tally, error)

	// Replace writes next, whose Version is one more than that of the record it was made of, and takes a tally off
	// the counters, both at once, if the stored record still has that version. It answers false, and has done
	// nothing, if not.
	Replace(ctx context.Context, callee string, next Record, taken limiter.Tally) (bool, error)
}
