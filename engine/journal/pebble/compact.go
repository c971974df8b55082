package pebble

import (
	"context"

	"stepback/internal/pebbleguard"
)

// Compact rewrites the store so that what was removed gives its room back. It returns the bytes that the tables of the
// store take before and after; the room of the old ones is there when the store is closed.
func (j *Journal) Compact(ctx context.Context) (before, after uint64, err error) {
	if err := pebbleguard.Call(j.db.Flush); err != nil {
		return 0, 0, err
	}
	before = j.tables()
	err = pebbleguard.Call(func() error { return j.db.Compact(ctx, []byte{0}, []byte{0xFF}, false) })
	return before, j.tables(), err
}

// tables is how many bytes the tables take, without those that nobody needs any more.
func (j *Journal) tables() uint64 {
	m := j.db.Metrics()
	total := m.Total()
	return uint64(total.TablesSize)
}
