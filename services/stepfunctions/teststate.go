package stepfunctions

import (
	"context"
	"errors"

	"stepback/asl"
	"stepback/asl/jsonvalue"
	"stepback/aws"
	"stepback/aws/server/awsjson"
	"stepback/engine"
	"stepback/engine/interpreter"
	"stepback/engine/plan"
	"stepback/tasks/httptask"
)

type testStateRequest struct {
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

// stateMock is what a state is said to come to, in place of doing its work.
type stateMock struct {
	Result     *string     `json:"result"`
	Error      *mockOutput `json:"errorOutput"`
	Validation string      `json:"fieldValidationMode"`
}

type mockOutput struct {
	Error *string `json:"error"`
	Cause *string `json:"cause"`
}

type stateConfiguration struct {
	RetrierRetryCount        int64   `json:"retrierRetryCount"`
	ErrorCausedByState       string  `json:"errorCausedByState"`
	MapIterationFailureCount *int64  `json:"mapIterationFailureCount"`
	MapItemReaderData        *string `json:"mapItemReaderData"`
}

var testStateMembers = []awsjson.Member{
	required(definition),
	{Name: "roleArn", Min: 1, Max: maxARN},
	data("input"),
	{Name: "inspectionLevel", Enum: []string{inspectOutcome, inspectData, inspectTrace}},
	{Name: "revealSecrets", Kind: awsjson.Boolean},
	data("variables"),
	{Name: "stateName", Min: 1, Max: maxName, Sensitive: true},
	data("context"),
	{Name: "mock", Kind: awsjson.Structure, Members: []awsjson.Member{
		data("result"),
		{Name: "fieldValidationMode", Enum: []string{validateStrictly, validatePresent, validateNothing}},
		{Name: "errorOutput", Kind: awsjson.Structure, Members: failureMembers},
	}},
	{Name: "stateConfiguration", Kind: awsjson.Structure, Members: []awsjson.Member{
		{Name: "retrierRetryCount", Kind: awsjson.Integer},
		{Name: "errorCausedByState", Min: 1, Max: maxName, Sensitive: true},
		{Name: "mapIterationFailureCount", Kind: awsjson.Integer},
		data("mapItemReaderData"),
	}},
}

// testState runs one state by itself. Nothing is kept of it.
func (s *Service) testState(ctx context.Context, scope aws.Scope, in *testStateRequest) (*testStateResponse,
	error) {
	if in.RoleARN != "" {
		if err := checkRole(in.RoleARN); err != nil {
			return nil, err
		}
	}
	e, err := s.engine(scope)
	if err != nil {
		return nil, err
	}
	state, err := stateUnderTest(e, in)
	if err != nil {
		return nil, err
	}
	if err := in.check(state); err != nil {
		return nil, err
	}
	tr, info, err := s.trial(scope, state, in)
	if err != nil {
		return nil, err
	}
	trace := &httptask.Trace{Secrets: in.RevealSecrets}
	done, err := e.TestState(httptask.WithTrace(ctx, trace), tr, info, in.mocked(tr))
	if err != nil {
		return nil, err
	}
	out := testStateOutcome(in, info, tr, done)
	if in.InspectionLevel == inspectTrace {
		out.exchanged(trace)
	}
	return out, nil
}

// trial is the run that a request asks for.
func (s *Service) trial(scope aws.Scope, state *plan.State, in *testStateRequest) (*interpreter.Trial,
	interpreter.Info, error) {
	machine, name := aws.NewID(), aws.NewID()
	info := interpreter.Info{
		MachineName: machine, MachineARN: machineARNOf(scope, machine), Name: name, RoleARN: in.RoleARN,
		Region: scope.Region, Express: true,
		ARN: arnOf(scope, kindExpress, machine+":"+name), Input: "{}",
	}
	tr := &interpreter.Trial{State: state}
	if in.Input != nil {
		info.Input = *in.Input
	}
	input, err := jsonvalue.Parse(info.Input)
	var syntax *jsonvalue.SyntaxError
	if errors.As(err, &syntax) {
		return nil, info, invalidInput(syntax.Message)
	}
	if in.Variables != "" {
		if tr.Variables, err = jsonvalue.Parse(in.Variables); err != nil || tr.Variables.Kind() != jsonvalue.Object {
			return nil, info, awsjson.Invalid("Variables must be a JSON object.")
		}
	}
	if tr.Context, err = in.contextObject(info, input, state, s.cfg.Now()); err != nil {
		return nil, info, err
	}
	return tr, info, in.configure(tr)
}

// mocked answers a task with the mock, or is nil when there is none.
func (in *testStateRequest) mocked(tr *interpreter.Trial) func() interpreter.Event {
	switch {
	case in.Mock == nil:
		return nil
	case tr.Failure != nil:
		return func() interpreter.Event { return interpreter.Event{Kind: interpreter.TaskFailed, Failure: *tr.Failure} }
	default:
		return func() interpreter.Event { return interpreter.Event{Kind: interpreter.TaskSucceeded, Output: tr.Result} }
	}
}

// stateUnderTest compiles the state of a request: a definition of its own, or one of a whole machine.
func stateUnderTest(e *engine.Engine, in *testStateRequest) (*plan.State, error) {
	definition, name := in.Definition, in.StateName
	if name == "" {
		name = loneState
		root, err := jsonvalue.Parse(definition)
		if err == nil && root.Kind() == jsonvalue.Object {
			definition = machineAround(root)
		}
	}
	m, err := e.Compile(name, definition, in.RoleARN, false)
	if err != nil {
		return nil, invalidDefinition(err.Error())
	}
	state := m.State(name)
	if state == nil {
		return nil, awsjson.Invalid("State not found in definition")
	}
	return state, nil
}

// hasBranches reports whether a state runs other states.
func hasBranches(s *plan.State) bool { return s.Type == asl.Map || s.Type == asl.Parallel }
