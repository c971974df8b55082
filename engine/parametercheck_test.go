package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// picky is an integration that rejects parameters with a wrong member.
type picky struct{ invoke }

func (picky) CheckParameters(t *engine.Task) error {
	if strings.Contains(t.Parameters, "ok") {
		panic("which a check must not, but the task is called nevertheless")
	}
	if strings.Contains(t.Parameters, "wrong") {
		return engine.NewFailure("States.Runtime", "The Parameters '"+t.Parameters+
			"' could not be used to start the Task: [it is wrong]")
	}
	return nil
}

func TestParametersThatCannotBeUsedFailTheStateBeforeItsTask(t *testing.T) {
	t.Parallel()
	c, j := clock.Virtual(epoch), journal.NewMemory()
	e, err := engine.New(engine.Config{
		Clock: c, Journal: j, Seed: 1,
		Integrations: map[string]engine.Integration{"test:call": picky{func(_ context.Context,
			task *engine.Task) (string, error) {
			if strings.Contains(task.Parameters, "wrong") {
				return "", errors.New("it was called")
			}
			return `{"done":true}`, nil
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.Close()
		c.Close()
	})
	b := &bed{Engine: e, clock: c, journal: j}
	const definition = `{"StartAt":"A","States":{
		"A":{` + call + `,"Parameters":{"ok.$":"$.a"},"ResultPath":"$.r","Next":"B"},
		"B":{` + call + `,"Parameters":{"wrong.$":"$.a"},"Retry":[{"ErrorEquals":["States.ALL"]}],"Catch":[{"ErrorEquals":["States.ALL"],"Next":"C"}],"Next":"C"},
		"C":{"Type":"Succeed"}}}`
	x := b.run(t, definition, `{"a":1}`)
	want := "An error occurred while executing the state 'B' (entered at the event id #7). " +
		`The Parameters '{"wrong":1}' could not be used to start the Task: [it is wrong]`
	if x.Status != history.Failed || x.Failure.Name != "States.Runtime" || x.Failure.Cause != want {
		t.Errorf("%+v", x.Failure)
	}
	if x.HistorySize != 8 { // its last events are TaskStateEntered and ExecutionFailed
		t.Errorf("%d events", x.HistorySize)
	}
}
