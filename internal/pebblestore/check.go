package pebblestore

import (
	"context"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"
)

// VerifyTables compares all tables of the store with their checksums and calls problem for each damaged one. bad is
// true if there are any.
func (s *Store) VerifyTables(ctx context.Context, problem func(error)) (bad bool, err error) {
	err = verifyTables(ctx, s.fs, s.dir, s.DB, math.MaxInt64, func(err error) error {
		bad = true
		problem(err)
		return nil
	})
	return bad, err
}

// Check verifies all tables of the store, reads all keys and values, and calls problem for each defect. c is the
// configuration that the store was opened with, and keys the number of keys. The error is that of ctx.
func (s *Store) Check(ctx context.Context, c Config, problem func(error)) (keys int, err error) {
	tell := func(err error) { problem(fmt.Errorf("%s: %w", c.Dir, err)) }
	for _, lost := range s.lost {
		tell(lost)
	}
	bad, err := s.VerifyTables(ctx, func(err error) { tell(err) })
	if err != nil {
		return 0, err
	}
	it, err := s.NewIterWithContext(ctx, &pebble.IterOptions{})
	if err != nil {
		return 0, err
	}
	for ok := it.First(); ok && ctx.Err() == nil; ok = it.Next() {
		if _, err := it.ValueAndErr(); err != nil {
			break
		}
		keys++
	}
	err = it.Error()
	_ = it.Close() // repeats the error
	if err != nil && !bad {
		tell(firstLine(err))
	}
	return keys, ctx.Err()
}
