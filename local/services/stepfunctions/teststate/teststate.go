package teststate

import (
	"context"
	"errors"

	"stepback/asl"
	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
	"stepback/tasks/httptask"
)

// Request is the operation's request. Its members have the names and the meaning of the API.
type Request struct {
	Definition      string              `json:"definition"`
	RoleARN         string              `json:"roleArn"`
	Input           *string             `json:"input"`
	InspectionLevel string              `json:"inspectionLevel"`
	RevealSecrets   bool                `json:"revealSecrets"`
	Variables       string              `json:"variables"`
	StateName       string              `json:"stateName"`
	Mock            *stateMock          `json:"mock"`
	Context         *string             `json:"context"`
	Configuration   *stateConfiguration `json:"stateConfiguration"`
}

// stateMock is a mocked result or error, used instead of running a state.
type stateMock struct {
	Result     *string      `json:"result"`
	Error      *mockedError `json:"errorOutput"`
	Validation string       `json:"fieldValidationMode"`
}

// mockedError has the members of errorOutput.
type mockedError struct {
	Error *string `json:"error"`
	Cause *string `json:"cause"`
}

type stateConfiguration struct {
	RetrierRetryCount        int64   `json:"retrierRetryCount"`
	ErrorCausedByState       string  `json:"errorCausedByState"`
	MapIterationFailureCount *int64  `json:"mapIterationFailureCount"`
	MapItemReaderData        *string `json:"mapItemReaderData"`
}

// TestState runs a single state. Nothing is stored. The request must satisfy the constraints of the API's model.
func (s *Service) TestState(ctx context.Context, scope aws.Scope, in *Request) (*Response, error) {
	if in.RoleARN != "" {
		if err := resource.CheckRole(in.RoleARN); err != nil {
			return nil, err
		}
	}
	state, err := in.state()
	if err != nil {
		return nil, err
	}
	if err := in.check(state); err != nil {
		return nil, err
	}
	test, err := s.test(scope, state, in)
	if err != nil {
		return nil, err
	}
	trace := &httptask.Trace{Secrets: in.RevealSecrets}
	done, err := s.cfg.Run(httptask.WithTrace(ctx, trace), scope, test)
	if err != nil {
		return nil, err
	}
	out := testStateOutcome(in, test.Info.Input, done)
	if in.InspectionLevel == inspectTrace {
		out.exchanged(trace)
	}
	return out, nil
}

// test returns the state test that a request describes.
func (s *Service) test(scope aws.Scope, state *engine.State, in *Request) (*engine.StateTest, error) {
	machine, name := s.cfg.NewID(), s.cfg.NewID()
	t := &engine.StateTest{
		State: state, Machine: machine, RoleARN: in.RoleARN, Region: scope.Region,
		Info: engine.Info{
			ARN: resource.ExpressARN(scope, machine, name), MachineARN: resource.MachineARN(scope, machine),
			Express: true, Origin: engine.Origin{Name: name, Input: "{}"},
		},
	}
	if in.Input != nil {
		t.Info.Input = *in.Input
	}
	input, err := jsonvalue.Parse(t.Info.Input)
	var syntax *jsonvalue.SyntaxError
	if errors.As(err, &syntax) {
		return nil, apierror.MalformedInput(syntax, t.Info.Input)
	}
	if in.Variables != "" {
		if t.Variables, err = jsonvalue.Parse(in.Variables); err != nil || t.Variables.Kind() != jsonvalue.Object {
			return nil, server.Invalid("Variables must be a JSON object.")
		}
	}
	if t.Context, err = in.contextObject(t, input, s.cfg.Now()); err != nil {
		return nil, err
	}
	return t, in.configure(t)
}

// state compiles the state to test, which is either given alone or named within a state machine.
func (in *Request) state() (*engine.State, error) {
	definition, name := in.Definition, in.StateName
	if name == "" {
		name = loneState
		root, err := jsonvalue.Parse(definition)
		if err == nil && root.Kind() == jsonvalue.Object {
			definition = machineAround(root)
		}
	}
	state, err := engine.CompileState(definition, name)
	if err != nil {
		return nil, apierror.InvalidDefinition(err.Error())
	}
	if state == nil {
		return nil, server.Invalid("State not found in definition")
	}
	return state, nil
}

// hasBranches reports whether a state runs other states.
func hasBranches(s *engine.State) bool { return s.Type() == asl.Map || s.Type() == asl.Parallel }
