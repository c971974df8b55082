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

// StateMachine is a state machine that executions can be started of.
type StateMachine struct {
	ARN, Name  string
	Definition string
	RoleARN    string
	Express    bool
	Created    time.Time

	plan       *plan.Plan
	definition *journal.Definition // nil of a Map Run's processor
}

// ExecutionARN is the ARN of the machine's STANDARD execution of this name.
func (m *StateMachine) ExecutionARN(name string) string { return history.ExecutionARN(m.ARN, name) }

// inside is the machine as the interpreter knows it.
func (m *StateMachine) inside(region string) interpreter.Machine {
	return interpreter.Machine{Plan: m.plan, Name: m.Name, RoleARN: m.RoleARN, Region: region}
}

// CreateStateMachine compiles a definition and keeps it under its name, for StartExecution to find. Its errors are
// those of Compile, and ErrClosed.
func (e *Engine) CreateStateMachine(name, definition, roleARN string, express bool) (*StateMachine, error) {
	m, err := e.Compile(name, definition, roleARN, express)
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

// Compile parses, validates and plans a definition for Start. The error of a definition that AWS would refuse is a
// *DefinitionError with all its diagnostics.
func (e *Engine) Compile(name, definition, roleARN string, express bool) (*StateMachine, error) {
	machine, diagnostics := asl.Options{Express: express, Syntax: syntax}.Parse(definition)
	if asl.HasErrors(diagnostics) {
		return nil, &DefinitionError{Definition: definition, Diagnostics: diagnostics}
	}
	p, err := plan.Compile(machine)
	if err != nil {
		return nil, fmt.Errorf("state machine %s: %w", name, err)
	}
	return &StateMachine{
		ARN: e.names.machine(name), Name: name, Definition: definition, RoleARN: roleARN, Express: express,
		Created: e.clock.Now(), plan: p, definition: journal.NewDefinition(name, roleARN, definition, express),
	}, nil
}

// syntax lets the parser check paths and intrinsic calls with the packages that will evaluate them.
var syntax = asl.Syntax{
	Path:          func(text string) error { _, err := jsonpath.Compile(text); return err },
	ReferencePath: referencePath,
	Intrinsic:     func(text string) error { _, err := intrinsic.Compile(text); return err },
	JSONata:       expression,
}

// expression compiles an expression and says what it reads of an input document.
func expression(text string) ([]string, error) {
	x, err := jsonata.Compile(text, jsonata.WithStepFunctions())
	if err != nil {
		return nil, err
	}
	return x.RootReads(), nil
}

// referencePath accepts a path that names a single place; of the context object and variables too, where the field
// allows them.
func referencePath(text string) error {
	p, err := jsonpath.Compile(text)
	if err == nil && !p.IsReference() {
		return fmt.Errorf("%s is not a reference path: it may select more than one place", text)
	}
	return err
}

// Diagnose returns everything that is wrong or doubtful about a definition, as Compile finds it: it takes any resource.
func Diagnose(definition string, express bool) []asl.Diagnostic {
	_, diagnostics := asl.Options{Express: express, Syntax: syntax}.Parse(definition)
	return diagnostics
}

// Validate returns everything that is wrong or doubtful about a definition, as Step Functions would find it. It also
// refuses resources that the service does not have, which an engine with integrations of its own may. Action says why
// AWS has no action of a service, both named as in a Resource; a nil function takes all of the AWS SDK.
func Validate(definition string, express bool, action func(service, action string) error) []asl.Diagnostic {
	_, diagnostics := asl.Options{Express: express, Resources: true, Action: action, Syntax: syntax}.Parse(definition)
	return diagnostics
}

// DefinitionError is the refusal of a definition, with everything that is wrong with it.
type DefinitionError struct {
	Definition  string
	Diagnostics []asl.Diagnostic
}

// Error implements error in the words of the service; asl.Render shows the same to people.
func (e *DefinitionError) Error() string { return asl.InvalidDefinition(e.Diagnostics) }
