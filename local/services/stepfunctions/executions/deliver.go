package executions

import (
	"context"

	"stepback/aws"
	"stepback/local/services/delivery"
)

// Deliver starts an execution of the state machine with an ARN, with the message as its input; see delivery.Target.
// It returns once the execution is stored. The error is an *aws.Error, as StartExecution returns it.
func (s *Service) Deliver(ctx context.Context, to aws.ARN, m *delivery.Message) error {
	_, err := s.startExecution(ctx, to.Scope(), &startExecutionRequest{
		ARN: to.String(), Name: m.Name, Input: &m.Body, TraceHeader: m.TraceHeader,
	})
	return err
}
