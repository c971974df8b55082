package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// maxEvents is how many asynchronous invocations may wait or run, of all functions.
const maxEvents = 1000

// InvokeEvent takes an event for the function and returns at once, with the request's id. The function is tried again
// after a function error, as often as Options.EventRetries has waits, and as long as it is throttled. Events live in
// memory: those that have not been handled when the service closes are lost. An error is an *aws.Error.
func (s *Service) InvokeEvent(r *invocation.Request) (requestID string, err error) {
	if n := len(r.Payload); n > invocation.MaxEventBytes {
		return "", eventTooLarge(n)
	}
	in, err := s.admit(r)
	if err != nil {
		return "", err
	}
	if s.events.Add(1) > maxEvents {
		s.events.Add(-1)
		s.leave(in.function)
		return "", &aws.Error{
			Code: "TooManyRequestsException", Status: http.StatusTooManyRequests,
			Members: map[string]any{"Reason": "ConcurrentInvocationLimitExceeded"},
			Message: fmt.Sprintf("%d asynchronous invocations are waiting already", maxEvents),
		}
	}
	in.wantsLog = false
	requestID = aws.NewID()
	go func() {
		defer s.events.Add(-1)
		defer s.leave(in.function)
		s.runEvent(in, requestID)
	}()
	return requestID, nil
}

// runEvent invokes the function until it succeeds or may not be tried again.
func (s *Service) runEvent(in *admitted, requestID string) {
	failures := 0
	for throttles := 0; ; {
		out, err := s.run(s.ctx, in, requestID)
		var wait time.Duration
		var refused *aws.Error
		switch {
		case errors.As(err, &refused) && refused.Status == http.StatusTooManyRequests:
			wait = throttleWait(throttles)
			throttles++
		case err != nil || out.FunctionError == "":
			return
		case failures == len(s.opts.EventRetries):
			s.logLost(in.function, requestID, failures+1)
			return
		default:
			wait = s.opts.EventRetries[failures]
			failures++
		}
		if !pause(s.ctx, wait) {
			return
		}
	}
}

// throttleWait grows from one second to five minutes, as Lambda's does.
func throttleWait(throttles int) time.Duration {
	const longest = 5 * time.Minute
	return min(time.Second<<min(throttles, 9), longest)
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Service) logLost(d *deployed, requestID string, attempts int) {
	if s.opts.Logs != nil {
		s.opts.Logs.WriteLog(d.Name, fmt.Appendf(nil, "%s the event is dropped after %d attempts\n", requestID,
			attempts))
	}
}

func eventTooLarge(size int) error {
	return &aws.Error{
		Code: "RequestTooLargeException", Status: http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("%d byte payload is too large for the Event invocation type (limit %d bytes)", size,
			invocation.MaxEventBytes),
	}
}
