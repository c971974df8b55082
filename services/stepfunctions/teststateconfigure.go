package stepfunctions

import (
	"errors"

	"stepback/asl/jsonvalue"
	"stepback/aws/server/awsjson"
	"stepback/engine/history"
	"stepback/engine/interpreter"
	"stepback/engine/itemreader"
	"stepback/engine/plan"
)

// configure applies the stateConfiguration and the mock of a request that has been checked.
func (in *testStateRequest) configure(tr *interpreter.Trial) error {
	if in.Mock != nil {
		in.Mock.apply(tr)
	}
	c := in.Configuration
	if c == nil {
		return nil
	}
	tr.Retried = c.RetrierRetryCount
	if c.MapIterationFailureCount != nil {
		tr.FailedIterations = *c.MapIterationFailureCount
	}
	if c.MapItemReaderData != nil {
		return c.read(tr)
	}
	return nil
}

// read takes what an ItemReader would find.
func (c *stateConfiguration) read(tr *interpreter.Trial) error {
	items, err := jsonvalue.Parse(*c.MapItemReaderData)
	if err != nil {
		return awsjson.Invalid("Map item reader data must be valid JSON.")
	}
	if m := tr.State.Map; m != nil && m.Reader != nil && m.Reader.ItemsPointer != "" {
		if items, err = itemreader.Point(items, m.Reader.ItemsPointer); err != nil {
			f := history.NewFailure(plan.ErrItemReaderFailed, cause(err))
			tr.Failure, tr.Items = &f, &jsonvalue.Value{}
			return nil
		}
		tr.ItemsPointer = true
	}
	tr.Items = &items
	return nil
}

// cause is what an ItemReader's error says, without its name.
func cause(err error) string {
	var e *itemreader.Error
	if errors.As(err, &e) {
		return e.Cause
	}
	return err.Error()
}

// apply makes a mock what the state comes to.
func (m *stateMock) apply(tr *interpreter.Trial) {
	if m.Result != nil {
		tr.Result = interpreter.TextPayload(*m.Result)
	}
	if m.Error == nil {
		return
	}
	f := history.Failure{}
	if f.HasError = m.Error.Error != nil; f.HasError {
		f.Error = *m.Error.Error
	}
	if f.HasCause = m.Error.Cause != nil; f.HasCause {
		f.Cause = *m.Error.Cause
	}
	tr.Failure = &f
}
