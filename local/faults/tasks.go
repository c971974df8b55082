package faults

import (
	"context"

	"stepback/engine"
)

// Tasks returns an Integration that lets faults befall some tasks of another, which calls a service and no function:
// its tasks fail with the error's name as it is given. throttle is the error that the service throttles with, such as
// DynamoDb.ThrottlingException; a crash loses the connection, in half of the cases after the work was done, and is
// States.TaskFailed.
func (i *Injector) Tasks(next engine.Integration, throttled string) engine.Integration {
	t := tasks{i, next, throttled}
	if checker, ok := next.(engine.ParameterChecker); ok {
		return checkedTasks{t, checker}
	}
	return t
}

// tasks are tasks with faults.
type tasks struct {
	*Injector
	next      engine.Integration
	throttled string
}

// checkedTasks are tasks whose parameters are checked before they are scheduled.
type checkedTasks struct {
	tasks
	checker engine.ParameterChecker
}

// CheckParameters implements engine.ParameterChecker.
func (c checkedTasks) CheckParameters(t *engine.Task) error { return c.checker.CheckParameters(t) }

// Invoke implements engine.Integration.
func (s tasks) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	hit, d, ok := befalls(s.Injector, t.State, t.Parameters, t.Attempt)
	if !ok {
		return s.next.Invoke(ctx, t)
	}
	switch hit.Error {
	case Hang, "States.Timeout":
		return nil, s.parker.Park(ctx)
	case Crash:
		if d.afterward {
			if _, err := s.next.Invoke(ctx, t); ctx.Err() != nil {
				return nil, err
			}
		}
		return nil, engine.NewFailure("States.TaskFailed", "Unable to execute HTTP request: Connection reset by peer")
	case Throttle:
		return nil, engine.NewFailure(s.throttled, "Rate exceeded")
	default:
		return nil, engine.NewFailure(hit.Error, messageOf(hit.Error))
	}
}
