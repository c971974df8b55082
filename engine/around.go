package engine

import "context"

// Around returns an Integration that wraps next. It calls f with each task and with next; f may pass the task on to
// next. The result is a ParameterChecker if next is one.
func Around(next Integration, f func(ctx context.Context, t *Task, next Integration) (Result, error)) Integration {
	a := around{next, f}
	if checker, ok := next.(ParameterChecker); ok {
		return checkedAround{a, checker}
	}
	return a
}

type around struct {
	next Integration
	f    func(ctx context.Context, t *Task, next Integration) (Result, error)
}

// Invoke implements Integration.
func (a around) Invoke(ctx context.Context, t *Task) (Result, error) { return a.f(ctx, t, a.next) }

type checkedAround struct {
	around
	checker ParameterChecker
}

// CheckParameters implements ParameterChecker.
func (a checkedAround) CheckParameters(t *Task) error { return a.checker.CheckParameters(t) }
