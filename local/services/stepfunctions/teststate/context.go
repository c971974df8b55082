package teststate

import (
	"slices"
	"time"

	"stepback/asl"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/jsonvalue"
)

// contextFields lists the members that a caller's context object may have.
var contextFields = map[string][]string{
	"Execution":    {"Id", "Input", "Name", "RoleArn", "StartTime", "RedriveCount", "RedriveTime"},
	"State":        {"EnteredTime", "Name", "RetryCount"},
	"StateMachine": {"Id", "Name"},
	"Task":         {"Token"},
}

func invalidContext(why string) error {
	return server.Invalid("Invalid Context object provided: " + why)
}

// contextObject returns the caller's context object, or a generated one as the service does.
func (in *Request) contextObject(
	t *engine.StateTest, input jsonvalue.Value, now time.Time,
) (*jsonvalue.Value, error) {
	if in.Context == nil {
		v := madeUpContext(t, input, now)
		return &v, nil
	}
	v, err := jsonvalue.Parse(*in.Context)
	if err != nil || v.Kind() != jsonvalue.Object {
		return nil, invalidContext("it must be a JSON object")
	}
	for i, name := range v.Keys() {
		if name == "Map" {
			return nil, invalidContext("'Map' field is not supported when mocking a Context object")
		}
		if name == "Task" && !takesToken(t.State) {
			return nil, invalidContext("Context object contains 'Task' when state is not a Task state with a '.sync' or " +
				"'.waitForTaskToken' service integration pattern")
		}
		if err := checkContext(name, v.At(i)); err != nil {
			return nil, err
		}
	}
	return &v, nil
}

// takesToken reports whether a caller's context object may contain a task token: for activities, and for tasks that
// wait for a callback or a job.
func takesToken(s *engine.State) bool {
	call := s.Call()
	if call == nil {
		return false
	}
	switch call.Pattern {
	case engine.WaitForTaskToken, engine.Sync, engine.Sync2:
		return true
	default:
	}
	return call.Target == engine.ActivityWorker
}

// checkContext validates one member of a caller's context object.
func checkContext(name string, v jsonvalue.Value) error {
	fields, ok := contextFields[name]
	if !ok {
		return invalidContext("Field '" + name + "' is not allowed")
	}
	if v.Kind() != jsonvalue.Object {
		return invalidContext(name + " must be an object")
	}
	for i, field := range v.Keys() {
		if !slices.Contains(fields, field) {
			return invalidContext("Field '" + field + "' is not allowed")
		}
		switch field {
		case "Input":
		case "RetryCount", "RedriveCount":
			if v.At(i).Kind() != jsonvalue.Number {
				return invalidContext(name + "." + field + " must be a number")
			}
		default:
			if v.At(i).Kind() != jsonvalue.String {
				return invalidContext(name + "." + field + " must be a string")
			}
		}
	}
	return nil
}

func madeUpContext(t *engine.StateTest, input jsonvalue.Value, now time.Time) jsonvalue.Value {
	execution, at, machine := jsonvalue.NewObject(5), jsonvalue.NewObject(3), jsonvalue.NewObject(2)
	execution.Set("Id", jsonvalue.OfString(t.Info.ARN))
	execution.Set("Input", input)
	execution.Set("Name", jsonvalue.OfString(t.Info.Name))
	role := jsonvalue.Value{}
	if t.RoleARN != "" {
		role = jsonvalue.OfString(t.RoleARN)
	}
	execution.Set("RoleArn", role)
	execution.Set("StartTime", jsonvalue.OfString(history.Instant(now)))
	machine.Set("Id", jsonvalue.OfString(t.Info.MachineARN))
	machine.Set("Name", jsonvalue.OfString(t.Machine))
	at.Set("Name", jsonvalue.OfString(loneState))
	at.Set("EnteredTime", jsonvalue.OfString(history.Instant(now)))
	if t.State.Type() == asl.Task || hasBranches(t.State) {
		at.Set("RetryCount", jsonvalue.OfInt(0))
	}
	c := jsonvalue.NewObject(3)
	c.Set("Execution", execution.Value())
	c.Set("StateMachine", machine.Value())
	c.Set("State", at.Value())
	return c.Value()
}
