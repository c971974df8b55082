package teststate

import (
	"errors"

	"stepback/aws/server"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/itemreader"
	"stepback/jsonvalue"
)

// configure applies the stateConfiguration and the mock of a validated request.
func (in *Request) configure(t *engine.StateTest) error {
	if in.Mock != nil {
		in.Mock.apply(t)
	}
	c := in.Configuration
	if c == nil {
		return nil
	}
	t.Retried = c.RetrierRetryCount
	if c.MapIterationFailureCount != nil {
		t.FailedIterations = *c.MapIterationFailureCount
	}
	if c.MapItemReaderData != nil {
		return c.read(t)
	}
	return nil
}

// read parses the data given in place of what the ItemReader would read.
func (c *stateConfiguration) read(t *engine.StateTest) error {
	items, err := jsonvalue.Parse(*c.MapItemReaderData)
	if err != nil {
		return server.Invalid("Map item reader data must be valid JSON.")
	}
	if pointer := t.State.ItemsPointer(); pointer != "" {
		if items, err = itemreader.Point(items, pointer); err != nil {
			t.Failure, t.Items = engine.NewFailure(engine.StatesItemReaderFailed, cause(err)), &jsonvalue.Value{}
			return nil
		}
		t.ItemsPointer = true
	}
	t.Items = &items
	return nil
}

// cause returns the cause of an ItemReader's error, without the error's name.
func cause(err error) string {
	var e *itemreader.Error
	if errors.As(err, &e) {
		return e.Cause
	}
	return err.Error()
}

// apply sets the mocked result or error as the state's outcome.
func (m *stateMock) apply(t *engine.StateTest) {
	t.Result = m.Result
	if m.Error == nil {
		return
	}
	f := history.FailureOf(m.Error.Error, m.Error.Cause)
	t.Failure = &f
}
