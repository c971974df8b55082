package teststate

import (
	"stepback/asl"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/local/services/stepfunctions/apierror"
)

// check returns an error, in the service's wording, if the requested test is not possible.
func (in *Request) check(state *engine.State) error {
	if in.Mock != nil {
		return in.checkMocked(state)
	}
	switch c := in.Configuration; {
	case c != nil && c.MapIterationFailureCount != nil:
		return server.Invalid("TestState does not support MapIterationFailureCount when a mock is not specified.")
	case in.Context != nil:
		return server.Invalid("TestState does not support Context when a mock is not specified.")
	case hasBranches(state):
		return apierror.InvalidDefinition("TestState API does not support Map or Parallel states. " +
			"Supported state types include: [Task, Wait, Pass, Succeed, Fail, Choice]")
	case state.Type() == asl.Task:
		return in.checkTask(state.Call())
	}
	return nil
}

// checkTask rejects tasks that do not end with the response to their call: activities, and tasks that wait for a job
// or a callback.
func (in *Request) checkTask(task *engine.Call) error {
	switch {
	case task.Target == engine.ActivityWorker:
		return apierror.InvalidDefinition("TestState API does not support Activity tasks when a mock is not specified.")
	case task.Pattern != engine.RequestResponse:
		return apierror.InvalidDefinition("TestState API does not support the ." + string(task.Pattern) +
			" integration pattern when a mock is not specified.")
	case in.RoleARN == "":
		return server.Invalid("RoleArn must be specified when testing a Task state")
	}
	return nil
}

func (in *Request) checkMocked(state *engine.State) error {
	switch {
	case (in.Mock.Result == nil) == (in.Mock.Error == nil):
		return server.Invalid("A test mock should have only one of the following fields: [result, errorOutput].")
	case in.RevealSecrets:
		return server.Invalid("TestState does not support RevealSecrets when a mock is specified.")
	case state.Type() != asl.Task && !hasBranches(state):
		return server.Invalid("State type '" + string(state.Type()) + "' is not supported when a mock is specified")
	case !in.causedByInner(state):
		return server.Invalid("State not found in definition")
	case in.Mock.Result == nil:
		return nil
	}
	result, err := jsonvalue.Parse(*in.Mock.Result)
	if err != nil {
		return server.Invalid("Mocked result must be valid JSON")
	}
	if task := state.Call(); task != nil {
		return in.Mock.checkAnswer(task, result)
	}
	return in.checkResult(state, result)
}

// checkResult validates the mocked result of a Map or Parallel state.
func (in *Request) checkResult(state *engine.State, result jsonvalue.Value) error {
	if state.WritesResults() {
		if result.Kind() != jsonvalue.Object {
			return server.Invalid("Mocked result must be a JSON object.")
		}
		return nil
	}
	if result.Kind() != jsonvalue.Array {
		return server.Invalid("Mocked result must be an array.")
	}
	if state.Type() == asl.Parallel && result.Len() != state.Branches() {
		return server.Invalid("Mocked result must contain the same number of items as number of Parallel branches.")
	}
	c := in.Configuration
	if state.Type() == asl.Map && c != nil && c.MapIterationFailureCount != nil &&
		*c.MapIterationFailureCount > int64(result.Len()) {
		return server.Invalid("Map iteration failure count must be less than or equal to the number of Map iterations")
	}
	return nil
}

// causedByInner reports whether errorCausedByState is unset or names a state inside the tested one.
func (in *Request) causedByInner(state *engine.State) bool {
	c := in.Configuration
	return c == nil || c.ErrorCausedByState == "" || state.Contains(c.ErrorCausedByState)
}
