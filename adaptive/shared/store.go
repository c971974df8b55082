package shared

import (
	"context"

	"stepback/adaptive/limiter"
)

// Store stores a record and counters for each callee. All methods may be called concurrently, by many processes.
// Every implementation passes the suite in package storetest.
type Store interface {
	// Add adds a tally to the callee's counters and returns the record and the resulting counters. A callee without
	// any additions has the zero Record. An empty tally only reads.
	Add(ctx context.Context, callee string, t limiter.Tally) (Record, limiter.Tally, error)

	// Replace atomically writes next and subtracts taken from the counters, if the stored record still has version
	// next.Version − 1. Otherwise it returns false and changes nothing.
	Replace(ctx context.Context, callee string, next Record, taken limiter.Tally) (bool, error)
}
