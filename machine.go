package stepback

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"stepback/asl"
	"stepback/aws"
	"stepback/engine"
	"stepback/internal/spelling"
	"stepback/jsonvalue"
)

// Definition is a state machine to define.
type Definition struct {
	// Name is the state machine's name: 1 to 80 characters that Step Functions accepts, or Define returns ErrName.
	Name string
	// Text is the definition in Amazon States Language, as JSON. ReadDefinition reads one from a file.
	Text string
	// Express is true for an EXPRESS state machine and false for a STANDARD one. The executions of an EXPRESS
	// machine are stored only when they end.
	Express bool
	// RoleARN is the IAM role of the state machine. The engine only hands it on: in Task.MachineRoleARN and in the
	// context object. It may be empty.
	RoleARN string
	// AllowUnregistered accepts a definition that calls functions missing in Config.Functions. Such a task fails
	// with Lambda.ResourceNotFoundException when it runs.
	AllowUnregistered bool
}

// Machine is a defined state machine. Start starts its executions.
type Machine struct {
	engine   *Engine
	compiled *engine.StateMachine
}

// Define compiles a definition. If the name is already defined, executions started from then on use the new
// definition.
//
// For a definition that AWS would refuse, the error wraps an *engine.DefinitionError with all diagnostics, and its
// message shows them with their lines. Define returns ErrName for a name that AWS would refuse, and an
// *UnregisteredError for a definition that calls a function missing in Config.Functions, also in a branch or a Map's
// processor. A function whose name is only known at run time (FunctionName.$, or a JSONata expression) is not checked.
func (e *Engine) Define(d Definition) (*Machine, error) {
	if err := checkName("state machine", d.Name); err != nil {
		return nil, err
	}
	def := engine.Definition{Name: d.Name, Text: d.Text, RoleARN: d.RoleARN, Express: d.Express}
	if e.functions != nil && !d.AllowUnregistered {
		if err := e.checkFunctions(def); err != nil {
			return nil, shown(d.Name, err)
		}
	}
	m, err := e.core.Define(def)
	if err != nil {
		return nil, shown(d.Name, err)
	}
	return &Machine{e, m}, nil
}

// refusedError is a refused definition whose message shows the diagnostics with their lines.
type refusedError struct {
	*engine.DefinitionError
	name string
}

// Error implements error.
func (e *refusedError) Error() string {
	return fmt.Sprintf("state machine %s: the definition is refused:\n%s", e.name,
		strings.TrimSpace(asl.Render(e.Diagnostics, e.Definition, e.name)))
}

// Unwrap returns the *engine.DefinitionError.
func (e *refusedError) Unwrap() error { return e.DefinitionError }

// shown returns an error that shows why a definition is refused; other errors are returned unchanged.
func shown(name string, err error) error {
	if refused, ok := errors.AsType[*engine.DefinitionError](err); ok {
		return &refusedError{refused, name}
	}
	return err
}

// checkName returns an error that wraps ErrName unless Step Functions accepts a name.
func checkName(of, name string) error {
	if n := utf8.RuneCountInString(name); n == 0 || n > engine.MaxName || !engine.ValidName(name) {
		return fmt.Errorf("the name %.100q of the %s: %w", name, of, ErrName)
	}
	return nil
}

// checkFunctions returns an *UnregisteredError if a definition calls a function that the engine does not have.
func (e *Engine) checkFunctions(d engine.Definition) error {
	m, err := e.core.Compile(d)
	if err != nil {
		return err
	}
	refused := &UnregisteredError{Machine: d.Name, Registered: slices.Sorted(maps.Keys(e.functions))}
	for _, call := range m.Functions() {
		call.Function = functionName(call.Function)
		if e.functions[call.Function] == nil {
			refused.Calls = append(refused.Calls, call)
		}
	}
	if len(refused.Calls) > 0 {
		return refused
	}
	return nil
}

// UnregisteredError reports a definition that calls functions missing in Config.Functions.
type UnregisteredError struct {
	// Machine is the name of the state machine.
	Machine string
	// Calls lists the states that call missing functions, with the functions' names.
	Calls []engine.FunctionCall
	// Registered are the names in Config.Functions, sorted.
	Registered []string
}

// Error implements error. It names each state with its function, the name that may have been meant, and the functions
// that are registered.
func (e *UnregisteredError) Error() string {
	calls := make([]string, len(e.Calls))
	for i, c := range e.Calls {
		calls[i] = fmt.Sprintf("state %q calls %q", c.State, c.Function)
		if meant := spelling.Nearest(c.Function, e.Registered); meant != "" {
			calls[i] += fmt.Sprintf(" (did you mean %q?)", meant)
		}
	}
	registered := "none"
	if len(e.Registered) > 0 {
		registered = strings.Join(e.Registered, ", ")
	}
	return fmt.Sprintf("state machine %s calls functions that are not registered: %s; registered: %s", e.Machine,
		strings.Join(calls, ", "), registered)
}

// Start starts an execution and returns once it is stored. The input is encoded as JSON; a json.RawMessage or a
// []byte already is JSON text. If name is running with the same input, Start returns that execution. If name is in
// use otherwise, it returns ErrAlreadyExists: also for an execution that has ended, whatever its input was. A program
// that may be started again calls Find for such a name. If name is empty, Start generates one. A name that Step
// Functions refuses is an ErrName.
func (m *Machine) Start(ctx context.Context, name string, input any) (*Run, error) {
	unnamed := name == ""
	if unnamed {
		name = aws.NewID()
	}
	if err := checkName("execution", name); err != nil {
		return nil, err
	}
	text, err := jsonvalue.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("the input of %s: %w", name, err)
	}
	started, err := m.engine.core.Start(ctx, &engine.Start{
		Machine: m.compiled, Origin: engine.Origin{Name: name, Input: text}, NewName: unnamed,
	})
	if err != nil {
		return nil, err
	}
	r := &Run{engine: m.engine, arn: started.ARN}
	if m.compiled.Express {
		r.express = started
	}
	return r, nil
}

// Find returns the execution with a name, of a STANDARD machine. It may have been started by this program or an
// earlier one.
func (m *Machine) Find(name string) *Run { return m.engine.Find(m.compiled.ExecutionARN(name)) }

// Find returns the execution with an ARN, such as one from List. It does not check whether the execution exists;
// the methods of Run do.
func (e *Engine) Find(arn string) *Run { return &Run{engine: e, arn: arn} }
