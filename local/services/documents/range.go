package documents

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Range calls read for the keys from first (inclusive) to end (exclusive), in reverse order if backward is true. If
// read returns an error, Range stops and returns it. If end is nil, there is no upper bound. Key and value are
// valid only during the call.
func (s *Store) Range(first, end []byte, backward bool, read func(key, value []byte) error) error {
	db, err := reading(s)
	if err != nil || db == nil {
		return err
	}
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: first, UpperBound: end})
	if err != nil {
		return s.damaged(err)
	}
	begin, step := it.First, it.Next
	if backward {
		begin, step = it.Last, it.Prev
	}
	for ok := begin(); ok; ok = step() {
		value, err := it.ValueAndErr()
		if err != nil {
			break
		}
		if err := read(it.Key(), value); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	if err := it.Error(); err != nil {
		_ = it.Close() // repeats the error
		return s.damaged(err)
	}
	return it.Close()
}

// After returns the first key after all those that begin with prefix; nil if there is none.
func After(prefix []byte) []byte { return after(prefix) }
