package pebble

import (
	"context"

	"stepback/internal/pebbleguard"
)

// Compact rewrites the store to free the space of removed data. It returns the size of the store's tables in bytes
// before and after; the space of the old tables is freed when the store is closed.
func (j *Journal) Compact(ctx context.Context) (before, after uint64, err error) {
	if err := pebbleguard.Call(j.db.Flush); err != nil {
		return 0, 0, err
	}
	before = j.tables()
	err = pebbleguard.Call(func() error { return j.db.Compact(ctx, []byte{0}, []byte{0xFF}, false) })
	return before, j.tables(), err
}

// tables returns the size of the tables in bytes, without those no longer in use.
func (j *Journal) tables() uint64 {
	m := j.db.Metrics()
	total := m.Total()
	return uint64(total.TablesSize)
}
