package engine

import (
	"strings"

	"stepback/asl"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// FunctionCall is a Task state that calls a Lambda function which the definition names.
type FunctionCall struct {
	// State is the name of the Task state.
	State string
	// Function is the function as the definition names it: by its ARN or, in the FunctionName of lambda:invoke,
	// possibly by its name, with or without a qualifier.
	Function string
}

// Functions returns the Task states that call Lambda functions, in the order of the definition. It finds them at
// any depth: in the branches of Parallel states and in the processors of inline and distributed Maps. It leaves out
// calls whose function is only known at run time, because of a FunctionName.$ in JSONPath, or a FunctionName that
// is a JSONata expression.
func (m *StateMachine) Functions() []FunctionCall { return m.functions }

// functionCalls appends the calls of a scope and of the scopes in it.
func functionCalls(calls []FunctionCall, g *asl.Graph) []FunctionCall {
	for _, s := range g.States {
		if name := functionOf(s); name != "" {
			calls = append(calls, FunctionCall{State: s.Name, Function: name})
		}
		for _, b := range s.Branches {
			calls = functionCalls(calls, b)
		}
		if s.Map != nil && s.Map.Processor != nil {
			calls = functionCalls(calls, s.Map.Processor)
		}
	}
	return calls
}

// functionOf returns the function that a state calls; empty if it calls none, or one that is known at run time only.
func functionOf(s *asl.State) string {
	if s.Type != asl.Task {
		return ""
	}
	t := plan.ResourceOf(s.Resource)
	switch {
	case t.Target == plan.Function:
		return s.Resource
	case t.Target != plan.Integration || t.Service != "lambda" || t.Action != "invoke":
		return ""
	case s.QueryLanguage == asl.JSONata:
		name := member(s.Arguments, "FunctionName")
		if strings.HasPrefix(name, "{%") {
			return ""
		}
		return name
	}
	return member(s.Parameters, "FunctionName")
}

// member returns a member of an object if it is a string, and "" otherwise.
func member(object *jsonvalue.Value, name string) string {
	if object == nil {
		return ""
	}
	v, ok := object.Get(name)
	if !ok || v.Kind() != jsonvalue.String {
		return ""
	}
	return v.Text()
}
