package dynamodb

import "context"

// Check reads everything in the store and calls problem for each defect. keys is the number of keys.
func (s *Service) Check(ctx context.Context, problem func(error)) (keys int, err error) {
	return s.store.Check(ctx, problem)
}
