package store

import "context"

// Check reads everything in the store and calls problem for each defect. keys is the number of keys.
func (s *Store) Check(ctx context.Context, problem func(error)) (keys int, err error) {
	return s.documents.Check(ctx, problem)
}
