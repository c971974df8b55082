package faults

import (
	"context"

	"stepback/engine"
)

// Tasks returns an Integration that injects faults into some tasks of next, which calls a service instead of a
// function. An affected task fails with the fault's error name. throttled is the service's throttling error, such
// as DynamoDb.ThrottlingException. A crash loses the connection and results in States.TaskFailed; in half of the
// cases, it does so after the work was done.
func (i *Injector) Tasks(next engine.Integration, throttled string) engine.Integration {
	return engine.Around(next, func(ctx context.Context, t *engine.Task, to engine.Integration) (engine.Result, error) {
		return i.task(ctx, t, to, throttled)
	})
}

func (i *Injector) task(ctx context.Context, t *engine.Task, next engine.Integration, throttled string) (engine.Result,
	error) {
	hit, d, ok := drawFault(i, t.State, t.Parameters, t.Attempt)
	if !ok {
		return next.Invoke(ctx, t)
	}
	switch hit.Error {
	case Hang, "States.Timeout":
		return nil, i.parker.Park(ctx)
	case Crash:
		if d.afterward {
			if _, err := next.Invoke(ctx, t); ctx.Err() != nil {
				return nil, err
			}
		}
		return nil, engine.NewFailure("States.TaskFailed", "Unable to execute HTTP request: Connection reset by peer")
	case Throttle:
		return nil, engine.NewFailure(throttled, "Rate exceeded")
	default:
		return nil, engine.NewFailure(hit.Error, messageOf(hit.Error))
	}
}
