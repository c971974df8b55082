package engine_test

import (
	"context"
	"errors"
	"testing"

	"stepback/engine"
	"stepback/jsonvalue"
)

// plainTasks only invokes tasks; checkedTasks also checks parameters.
type (
	plainTasks   struct{}
	checkedTasks struct{ plainTasks }
)

func (plainTasks) Invoke(context.Context, *engine.Task) (engine.Result, error) {
	return jsonvalue.TextDocument(`"inner"`), nil
}

var errUnusable = errors.New("unusable")

func (checkedTasks) CheckParameters(*engine.Task) error { return errUnusable }

func TestAroundKeepsWhatIsKnownOfParameters(t *testing.T) {
	t.Parallel()
	seen := ""
	around := func(ctx context.Context, task *engine.Task, next engine.Integration) (engine.Result, error) {
		seen += task.State
		return next.Invoke(ctx, task)
	}
	if _, checks := engine.Around(plainTasks{}, around).(engine.ParameterChecker); checks {
		t.Error("what checks nothing checks parameters once something is around it")
	}
	checked, checks := engine.Around(checkedTasks{}, around).(engine.ParameterChecker)
	if !checks || !errors.Is(checked.CheckParameters(&engine.Task{}), errUnusable) {
		t.Error("what checks parameters no longer does once something is around it")
	}
	got, err := checked.Invoke(t.Context(), &engine.Task{State: "Pay"})
	if err != nil || got.Text() != `"inner"` || seen != "Pay" {
		t.Errorf("%v, %v, seen %q", got, err, seen)
	}
}
