package functions

import (
	"context"

	"stepback/aws"
	"stepback/local/services/delivery"
	"stepback/tasks/lambda/invocation"
)

// Deliver invokes the function of an ARN asynchronously with the message as its event, as delivery.Target says. An
// error is an *aws.Error, as Invoke would answer it.
func (s *Service) Deliver(ctx context.Context, to aws.ARN, m *delivery.Message) error {
	if trace, ok := aws.ParseTrace(m.TraceHeader); ok {
		ctx = aws.WithTrace(ctx, trace)
	}
	_, err := s.Invoke(ctx, to.Scope(), &invocation.Request{
		FunctionName: to.String(), Payload: []byte(m.Body), Type: invocation.Event,
	})
	return err
}
