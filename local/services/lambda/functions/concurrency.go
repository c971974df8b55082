package functions

import (
	"context"

	"stepback/aws"
	"stepback/local/services/lambda/runner"
)

// unreservable is the part of an account's concurrency that cannot be reserved: it must remain for functions
// without a reservation.
const unreservable = 100

// Reserve sets the reserved concurrency of a function. nil removes the reservation; 0 throttles every invocation.
func (s *Service) Reserve(ctx context.Context, scope aws.Scope, name string, concurrency *int) error {
	if concurrency != nil && *concurrency > runner.DefaultConcurrency-unreservable {
		return invalid("Specified ReservedConcurrentExecutions for function decreases account's UnreservedConcurrentExecution below its minimum value of [%d].", unreservable)
	}
	_, err := s.change(ctx, scope, name, func(_ *area, r *record) error {
		r.Reserved = concurrency
		return nil
	})
	return err
}
