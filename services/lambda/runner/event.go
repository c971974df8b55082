package runner

import (
	"cmp"
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

// maxAge is how old an event may become by default, which is the most that Lambda lets one be.
const maxAge = 6 * time.Hour

// EventHandling says what becomes of an event that fails, and who learns how it ended. The zero value is Lambda's
// default.
type EventHandling struct {
	// Retries is how often the function is tried again after a function error; nil means as often as
	// Options.EventRetries has waits, which is the most that there are.
	Retries *int
	// MaxAge is how old an event may be when the function is tried again; the default is 6 hours.
	MaxAge time.Duration
	// Ended, unless it is nil, is told once how the event ended, and reports whether somebody took the event. It is not
	// called when the service closes first. Its context does not end with the service.
	Ended func(context.Context, *EventEnd) (taken bool)
}

// Condition is how an asynchronous invocation ended, as Lambda's records name it.
type Condition string

// The conditions.
const (
	Success          Condition = "Success"
	RetriesExhausted Condition = "RetriesExhausted"
	EventAgeExceeded Condition = "EventAgeExceeded"
	// ZeroReservedConcurrency says that the function may not run at all.
	ZeroReservedConcurrency Condition = "ZeroReservedConcurrency"
)

// EventEnd is an asynchronous invocation that has ended.
type EventEnd struct {
	RequestID string
	Condition Condition
	// Attempts counts the invocations, without those that were throttled.
	Attempts int
	Event    []byte // JSON
	// Answer is that of the last attempt; nil when there was none.
	Answer *invocation.Answer
}

// InvokeEvent takes an event for the function and returns at once, with the request's id. The function is tried again
// after a function error, and as long as it is throttled. Events live in memory: those that have not been handled when
// the service closes are lost. An error is an *aws.Error.
func (s *Service) InvokeEvent(r *invocation.Request, how EventHandling) (requestID string, err error) {
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
		end, ended := s.runEvent(in, requestID, how)
		if !ended {
			return
		}
		taken := how.Ended != nil && how.Ended(context.WithoutCancel(s.ctx), end)
		if !taken && end.Condition != Success {
			s.logLost(in.function, requestID, end.Attempts)
		}
	}()
	return requestID, nil
}

// runEvent invokes the function until it succeeds or may not be tried again. It has not ended when the service closes.
func (s *Service) runEvent(in *admitted, requestID string, how EventHandling) (end *EventEnd, ended bool) {
	end = &EventEnd{RequestID: requestID, Event: in.payload}
	accepted, oldest := time.Now(), cmp.Or(how.MaxAge, maxAge)
	retries := len(s.opts.EventRetries)
	if how.Retries != nil {
		retries = min(retries, *how.Retries)
	}
	for throttles := 0; ; {
		out, err := s.run(s.ctx, in, requestID)
		var wait time.Duration
		var refused *aws.Error
		switch {
		case errors.As(err, &refused) && refused.Status == http.StatusTooManyRequests:
			if in.function.limit.most.Load() == 0 {
				end.Condition = ZeroReservedConcurrency
				return end, true
			}
			wait = throttleWait(throttles)
			throttles++
		case err != nil:
			return nil, false
		default:
			end.Answer = out
			end.Attempts++
			if out.FunctionError == "" {
				end.Condition = Success
				return end, true
			}
			if end.Attempts > retries {
				end.Condition = RetriesExhausted
				return end, true
			}
			wait = s.opts.EventRetries[end.Attempts-1]
		}
		if time.Since(accepted)+wait > oldest {
			end.Condition = EventAgeExceeded
			return end, true
		}
		if !pause(s.ctx, wait) {
			return nil, false
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
		s.opts.Logs.WriteLog(LogStream{d.Name, d.LogGroup, d.lost}, fmt.Appendf(nil, "%s the event is dropped after %d attempts\n", requestID,
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
