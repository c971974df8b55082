package functions

import (
	"context"

	"stepback/aws"
	"stepback/local/services/delivery"
	"stepback/tasks/lambda/invocation"
)

// Deliver invokes the function with an ARN asynchronously, with the message as its event; see delivery.Target. The
// error is an *aws.Error, as Invoke returns it.
func (s *Service) Deliver(ctx context.Context, to aws.ARN, m *delivery.Message) error {
	if trace, ok := aws.ParseTrace(m.TraceHeader); ok {
		ctx = aws.WithTrace(ctx, trace)
	}
	_, err := s.Invoke(ctx, to.Scope(), &invocation.Request{
		FunctionName: to.String(), Payload: []byte(m.Body), Type: invocation.Event,
	})
	return err
}
