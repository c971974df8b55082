package engine

import (
	"fmt"
	"time"

	"stepback/asl"
	"stepback/asl/intrinsic"
	"stepback/asl/jsonata"
	"stepback/asl/jsonpath"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
	"stepback/engine/journal"
)

// StateMachine is a compiled state machine, ready to be executed.
type StateMachine struct {
	ARN, Name  string
	Definition string
	RoleARN    string
	Express    bool
	Created    time.Time

	plan       *plan.Plan
	functions  []FunctionCall
	definition *journal.Definition // nil for a Map Run's processor
	started    *history.Details    // see interpreter.Machine
}

// ExecutionARN returns the ARN of the machine's STANDARD execution with this name.
func (m *StateMachine) ExecutionARN(name string) string { return history.ExecutionARN(m.ARN, name) }

// interpreterMachine returns the machine in the interpreter's form.
func (m *StateMachine) interpreterMachine(region string) interpreter.Machine {
	return interpreter.Machine{Plan: m.plan, Name: m.Name, RoleARN: m.RoleARN, Region: region,
		Started: m.started}
}

// Definition is a state machine to define.
type Definition struct {
	// Name is the state machine's name, from which the engine makes its ARN.
	Name string
	// Text is the definition in Amazon States Language, as JSON.
	Text string
	// RoleARN is the IAM role in which the state machine's tasks act. The engine does not assume it: integrations find
	// it in Task.MachineRoleARN, and the context object has it. It may be empty.
	RoleARN string
	// Express is true for an EXPRESS state machine, whose executions are kept only when they end, and false for a
	// STANDARD one.
	Express bool
}

// Define compiles a definition and keeps it under its name, for StartExecution to find. Defining a name again changes
// what is started from then on. The errors are those of Compile, and ErrClosed.
func (e *Engine) Define(d Definition) (*StateMachine, error) {
	m, err := e.Compile(d)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	e.machines[m.ARN] = m
	return m, nil
}

// Compile parses, validates and plans a definition for Start. If AWS would refuse the definition, the error is a
// *DefinitionError with all diagnostics.
func (e *Engine) Compile(d Definition) (*StateMachine, error) {
	machine, p, err := compile(&d)
	if err != nil {
		return nil, err
	}
	return &StateMachine{
		ARN: e.names.machine(d.Name), Name: d.Name, Definition: d.Text, RoleARN: d.RoleARN, Express: d.Express,
		Created: e.clock.Now(), plan: p, functions: functionCalls(nil, &machine.Graph),
		definition: journal.NewDefinition(d.Name, d.RoleARN, d.Text, d.Express),
		started:    &history.Details{RoleARN: d.RoleARN},
	}, nil
}

func compile(d *Definition) (*asl.Machine, *plan.Plan, error) {
	machine, diagnostics := asl.Options{Express: d.Express, Syntax: syntax}.Parse(d.Text)
	if asl.HasErrors(diagnostics) {
		return nil, nil, &DefinitionError{Definition: d.Text, Diagnostics: diagnostics}
	}
	p, err := plan.Compile(machine)
	if err != nil {
		return nil, nil, fmt.Errorf("state machine %s: %w", d.Name, err)
	}
	return machine, p, nil
}

// syntax lets the parser check paths and intrinsic calls with the packages that will evaluate them.
var syntax = asl.Syntax{
	Path:          func(text string) error { _, err := jsonpath.Compile(text); return err },
	ReferencePath: referencePath,
	Intrinsic:     func(text string) error { _, err := intrinsic.Compile(text); return err },
	JSONata:       expression,
}

// expression compiles an expression and returns the members of an input document that it reads.
func expression(text string) ([]string, error) {
	x, err := jsonata.Compile(text, jsonata.WithStepFunctions())
	if err != nil {
		return nil, err
	}
	return x.RootReads(), nil
}

// referencePath accepts only paths that name a single place; also in the context object and variables, where the
// field allows them.
func referencePath(text string) error {
	p, err := jsonpath.Compile(text)
	if err == nil && !p.IsReference() {
		return fmt.Errorf("%s is not a reference path: it may select more than one place", text)
	}
	return err
}

// Diagnose returns all errors and warnings for a definition, as Compile finds them. It accepts any resource.
func Diagnose(definition string, express bool) []asl.Diagnostic {
	_, diagnostics := asl.Options{Express: express, Syntax: syntax}.Parse(definition)
	return diagnostics
}

// Validate returns all errors and warnings for a definition, as Step Functions would find them. Unlike Diagnose, it
// refuses resources that the service does not have, although an engine with its own integrations may have them.
// action returns an error that explains why AWS has no such action of a service, both named as in a Resource; if
// action is nil, all of the AWS SDK is accepted.
func Validate(definition string, express bool, action func(service, action string) error) []asl.Diagnostic {
	_, diagnostics := asl.Options{Express: express, Resources: true, Action: action, Syntax: syntax}.Parse(definition)
	return diagnostics
}

// DefinitionError reports a refused definition with all its diagnostics.
type DefinitionError struct {
	Definition  string
	Diagnostics []asl.Diagnostic
}

// Error implements error in the service's wording; asl.Render shows the same in readable form.
func (e *DefinitionError) Error() string { return asl.InvalidDefinition(e.Diagnostics) }
