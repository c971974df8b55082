package durablefunctions

import (
	"context"
	"errors"
	"net/http"
	"time"

	"stepback/aws"
	"stepback/engine/durable"
	"stepback/tasks/lambda/invocation"
)

// openInvokes returns the chained invokes that have not ended.
func openInvokes(x *durable.Execution) []*durable.Operation {
	var open []*durable.Operation
	for _, o := range x.Operations() {
		if o.Type == durable.TypeChainedInvoke && o.Status == durable.Started {
			open = append(open, o)
		}
	}
	return open
}

// newInvokes returns the chained invokes that a checkpoint has started.
func newInvokes(x *durable.Execution, c *durable.Checkpoint) []*durable.Operation {
	var started []*durable.Operation
	for i := range c.Updates {
		u := &c.Updates[i]
		if u.Type != durable.TypeChainedInvoke || u.Action != durable.ActionStart {
			continue
		}
		if o := x.Operation(u.Id); !o.Ended() {
			started = append(started, o)
		}
	}
	return started
}

// targets resolves the functions that the updates of a checkpoint invoke.
func (s *Service) targets(scope aws.Scope, updates []durable.Update) map[string]durable.Target {
	found := map[string]durable.Target{}
	for i := range updates {
		u := &updates[i]
		if u.Type != durable.TypeChainedInvoke || u.Action != durable.ActionStart || u.ChainedInvokeOptions == nil {
			continue
		}
		if s.o.Chained != nil {
			found[u.Id] = durable.Target{Version: invocation.Latest}
			continue
		}
		v, err := s.o.Functions.Resolve(scope, u.ChainedInvokeOptions.FunctionName)
		t := durable.Target{Version: v.Number}
		switch {
		case err != nil:
			t.Error = errorOf(err)
		case v.Timeout > 0 && !v.Qualified:
			t.Error = errorOf(unqualified())
		case v.Timeout > 0:
			t.ARN = executionARN(v, aws.NewID(), aws.NewID())
		}
		found[u.Id] = t
	}
	return found
}

// chain carries out chained invokes, each on its own goroutine, in the caller's turn.
func (r *run) chain(st *state, open []*durable.Operation) {
	header := st.record.TraceHeader
	for _, o := range open {
		operation := *o
		c := *o.Chained
		operation.Chained = &c
		r.s.goWork(func(ctx context.Context) {
			outcome, ok := r.s.chained(r.s.traced(ctx, header, r.arn, operation.ID), r.arn, &operation)
			if !ok {
				return // the next process repeats it
			}
			outcome.OperationID = operation.ID
			r.report("a chained invoke", r.do(ctx, &durable.Command{Chained: outcome}))
		})
	}
}

// Waits between the attempts of a chained invoke that is throttled.
const (
	shortestDelay = time.Second
	longestDelay  = time.Minute
)

// chained invokes the function of a chained invoke for an execution and returns the outcome. ok is false if the service
// is closing.
func (s *Service) chained(ctx context.Context, caller string, o *durable.Operation) (outcome *durable.Outcome, ok bool) {
	c := o.Chained
	if c.Error != nil {
		return &durable.Outcome{Status: durable.Failed, Error: c.Error}, true
	}
	if s.o.Chained != nil {
		outcome, err := s.o.Chained(ctx, caller, o)
		if err != nil {
			outcome = &durable.Outcome{Status: durable.Failed, Error: errorOf(err)}
		}
		return outcome, ctx.Err() == nil
	}
	a, _ := aws.ParseARN(caller)
	for delay := shortestDelay; ; delay = min(2*delay, longestDelay) {
		if s.o.AwaitCall != nil && s.o.AwaitCall(ctx, caller, c.FunctionName) != nil {
			return nil, false
		}
		outcome, err := s.invokeOnce(ctx, a.Scope(), c)
		var refused *aws.Error
		switch {
		case ctx.Err() != nil, s.closing.Load() && (err != nil || outcome.Status != durable.Succeeded):
			return nil, false
		case err == nil:
			return outcome, true
		case errors.As(err, &refused) && refused.Status == http.StatusTooManyRequests:
			if s.o.Clock.Sleep(ctx, delay) != nil {
				return nil, false
			}
		default:
			return &durable.Outcome{Status: durable.Failed, Error: errorOf(err)}, true
		}
	}
}

func (s *Service) invokeOnce(ctx context.Context, scope aws.Scope, c *durable.Chained) (*durable.Outcome, error) {
	v, err := s.o.Functions.Resolve(scope, c.FunctionName)
	if err != nil {
		return nil, err
	}
	v.Number = c.Version // an alias may have moved since
	input := "{}"
	if c.Input != nil {
		input = *c.Input
	}
	if c.ARN != "" {
		return s.chainedExecution(ctx, v, c, input)
	}
	answer, err := s.o.Functions.Run(ctx, v, &invocation.Request{FunctionName: v.Function, Qualifier: v.Number,
		Payload: []byte(input), TenantID: c.TenantId})
	if err != nil {
		return nil, err
	}
	if answer.FunctionError != "" {
		return &durable.Outcome{Status: durable.Failed, Error: functionError(answer.Payload)}, nil
	}
	result := string(answer.Payload)
	return &durable.Outcome{Status: durable.Succeeded, Result: &result}, nil
}

// chainedExecution runs a durable function for a chained invoke. If an earlier process has started the execution, it
// waits for that.
func (s *Service) chainedExecution(ctx context.Context, v Version, c *durable.Chained, input string) (*durable.Outcome, error) {
	x, err := s.find(ctx, c.ARN)
	if err != nil {
		return nil, err
	}
	if x == nil {
		if _, err := s.begin(ctx, c.ARN, v, &Start{Input: input, Tenant: c.TenantId, Sync: true}); err != nil {
			return nil, err
		}
	}
	end, err := s.wait(ctx, c.ARN)
	if err != nil {
		return nil, err
	}
	return &durable.Outcome{Status: end.Status, Result: end.Result, Error: end.Error}, nil
}
