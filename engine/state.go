package engine

import (
	"slices"

	"stepback/asl"
	"stepback/engine/internal/plan"
)

// State is one state of a compiled state machine.
type State struct{ compiled *plan.State }

// CompileState compiles a definition and returns its state with the given name, at any depth; nil if there is none. If
// AWS would refuse the definition, the error is a *DefinitionError with all diagnostics.
func CompileState(definition, name string) (*State, error) {
	_, p, err := compile(&Definition{Name: name, Text: definition})
	if err != nil {
		return nil, err
	}
	if s := p.Root.Find(name); s != nil {
		return &State{s}, nil
	}
	return nil, nil
}

// Type returns the state's Type.
func (s *State) Type() asl.Type { return s.compiled.Type }

// Branches returns the number of branches of a Parallel state.
func (s *State) Branches() int { return len(s.compiled.Branches) }

// Contains reports whether a Parallel or Map state contains a state with this name, at any depth.
func (s *State) Contains(name string) bool {
	inner := s.compiled.Branches
	if m := s.compiled.Map; m != nil {
		inner = []*plan.Graph{m.Processor}
	}
	return slices.ContainsFunc(inner, func(g *plan.Graph) bool { return g.Find(name) != nil })
}

// ItemsPointer returns the ItemsPointer of a Map state's ItemReader; empty if it has none.
func (s *State) ItemsPointer() string {
	if m := s.compiled.Map; m != nil && m.Reader != nil {
		return m.Reader.ItemsPointer
	}
	return ""
}

// WritesResults reports whether a Map state has a ResultWriter.
func (s *State) WritesResults() bool { return s.compiled.Map != nil && s.compiled.Map.Writer != nil }

// Target is the kind of resource that a Task state's Resource names.
type Target uint8

// The kinds of resources.
const (
	ServiceIntegration Target = iota // arn:aws:states:::service:action[.pattern]
	LambdaFunction                   // the ARN of a Lambda function
	ActivityWorker                   // the ARN of an activity
)

// Call describes the call that a Task state makes.
type Call struct {
	Target Target
	// Service, Action and Pattern are the parts of an integration's Resource: "aws-sdk:s3", "getObject" and no pattern.
	Service, Action string
	Pattern         Pattern
	// HistoryResource is the resource as history events name it: the action with its pattern.
	HistoryResource string
}

// Call returns the call that a Task state makes; nil for a state of another type.
func (s *State) Call() *Call {
	t := s.compiled.Task
	if t == nil {
		return nil
	}
	c := &Call{Service: t.Service, Action: t.Action, Pattern: Pattern(t.Pattern), HistoryResource: t.HistoryResource()}
	switch t.Target {
	case plan.Function:
		c.Target = LambdaFunction
	case plan.Activity:
		c.Target = ActivityWorker
	case plan.Integration:
	}
	return c
}
