package pebble

import "context"

// Compact rewrites the store so that what was removed gives its room back. It returns the bytes that the store takes before and
// after.
func (j *Journal) Compact(ctx context.Context) (before, after uint64, err error) {
	before = j.db.Metrics().DiskSpaceUsage()
	if err := guarded(j.db.Flush); err != nil {
		return before, before, err
	}
	if err := guarded(func() error { return j.db.Compact(ctx, []byte{0}, []byte{0xFF}, false) }); err != nil {
		return before, before, err
	}
	return before, j.db.Metrics().DiskSpaceUsage(), nil
}
