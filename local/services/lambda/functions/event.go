package functions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"stepback/aws"
	"stepback/local/services/lambda/eventqueue"
	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

// accept stores an asynchronous invocation and responds that it will be carried out.
func (s *Service) accept(ctx context.Context, t *target, r *invocation.Request) (*invocation.Answer, error) {
	payload, err := runner.CheckEvent(r)
	if err != nil {
		return nil, err
	}
	e := &eventqueue.Event{Scope: t.area.scope, Function: r.FunctionName, Version: r.Qualifier,
		InvokedARN: r.InvokedARN, ClientContext: r.ClientContext, Handling: handling(t), Payload: payload}
	if trace, ok := aws.TraceOf(ctx); ok {
		e.Trace = trace.String()
	}
	if err := s.events.Accept(e); err != nil {
		return nil, err
	}
	return &invocation.Answer{StatusCode: http.StatusAccepted, RequestID: e.ID}, nil
}

// handling returns how an event for a function is handled under the current settings.
func handling(t *target) eventqueue.Handling {
	set := t.record.EventInvoke[t.asked]
	how := eventqueue.Handling{Retries: eventqueue.DefaultRetries, MaxAge: eventqueue.DefaultMaxAge.Milliseconds(),
		ARN: t.version.FunctionArn}
	if t.version.Version == latest {
		how.ARN += ":" + latest
	}
	if set.MaximumRetryAttempts != nil {
		how.Retries = *set.MaximumRetryAttempts
	}
	if age := set.MaximumEventAgeInSeconds; age != nil {
		how.MaxAge = 1000 * int64(*age)
	}
	if d := set.DestinationConfig; d != nil {
		how.OnSuccess, how.OnFailure = d.OnSuccess.Destination, d.OnFailure.Destination
	}
	if d := t.version.DeadLetterConfig; d != nil {
		how.DeadLetters = d.TargetArn
	}
	return how
}

// invokeEvent invokes the function of an event.
func (s *Service) invokeEvent(ctx context.Context, e *eventqueue.Event) (*invocation.Answer, error) {
	a, r, err := s.find(e.Scope, e.Function, ending(e.Version))
	if err != nil {
		return nil, err
	}
	if trace, ok := aws.ParseTrace(e.Trace); ok {
		ctx = aws.WithTrace(ctx, trace)
	}
	out, err := a.lambda.Invoke(ctx, &invocation.Request{FunctionName: e.Function, Qualifier: e.Version,
		Payload: e.Payload, Valid: true, ClientContext: e.ClientContext, InvokedARN: e.InvokedARN, RequestID: e.ID})
	var refused *aws.Error
	if errors.As(err, &refused) && refused.Status == http.StatusTooManyRequests && *cmp.Or(r.Reserved, &someRoom) == 0 {
		return nil, eventqueue.ErrPaused
	}
	return out, err
}

var someRoom = 1

// tell reports how an event ended: to the destination as a record, and to the dead-letter queue. If an event failed
// and neither of them accepted it, tell writes to the function's log.
func (s *Service) tell(ctx context.Context, e *eventqueue.Event) error {
	to, detail := e.OnFailure, "Lambda Function Invocation Result - Failure"
	if e.End.Condition == eventqueue.Success {
		to, detail = e.OnSuccess, "Lambda Function Invocation Result - Success"
	}
	taken := e.End.Recorded || e.End.Buried
	if to != "" && !e.End.Recorded {
		again, err := s.record(ctx, e, to, detail)
		if again {
			return err
		}
		e.End.Recorded = true
		taken = taken || err == nil
	}
	if e.End.Condition == eventqueue.Success {
		return nil
	}
	if e.DeadLetters != "" && !e.End.Buried {
		again, err := s.bury(ctx, e)
		if again {
			return err
		}
		e.End.Buried = true
		taken = taken || err == nil
	}
	if a := s.known(e.Scope); !taken && a != nil && a.sink != nil {
		to := runner.LogStream{Function: e.Function, Group: "/aws/lambda/" + e.Function, Name: runner.StreamName(latest)}
		if r := a.record(e.Function); r != nil {
			to.Group = r.Latest.LoggingConfig.LogGroup
		}
		a.sink.WriteLog(to, fmt.Appendf(nil, "%s the event is dropped after %d attempts\n", e.ID, e.Attempts))
	}
	return nil
}
