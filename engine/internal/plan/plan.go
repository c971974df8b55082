// Package plan compiles a parsed definition into its executable form: names become pointers; paths, templates,
// intrinsic calls, JSONata expressions and choice rules are compiled; resource ARNs are parsed. A plan is immutable
// and shared by all executions of a state machine. The package never runs anything and does no I/O.
package plan

import (
	"fmt"

	"stepback/asl"
	"stepback/asl/expression"
	"stepback/asl/jsonpath"
	"stepback/asl/template"
	"stepback/engine/history"
	"stepback/jsonvalue"
	"stepback/retry"
)

// Plan is a compiled state machine.
type Plan struct {
	// TimeoutSeconds is the time limit of an execution; 0 means none.
	TimeoutSeconds int64
	Root           *Graph
}

// Graph is one scope of states: the state machine, a branch or a Map's processor.
type Graph struct {
	Start  *State
	States []*State
	// Tokens is true if a task of the scope, or of a nested scope that the same execution runs, has task tokens.
	Tokens bool
}

// State is one state with everything compiled that its type needs; other fields are nil. The paths of a JSONata state
// pass everything unchanged.
type State struct {
	Name            string
	Type            asl.Type
	Language        asl.QueryLanguage
	Entered, Exited history.Type
	Next            *State // nil at the end of the scope
	InputPath       Selector
	OutputPath      Selector
	ResultPath      Placement
	Parameters      *Payload // Arguments in JSONata
	ResultSelector  *Payload
	Output          *expression.Value // JSONata
	Assign          *Payload
	Result          *jsonvalue.Value
	Retry           []Retrier
	Catch           []Catcher
	Task            *Task
	Choice          *Choice
	Wait            *Wait
	Fail            *Fail
	Branches        []*Graph
	Map             *Map
}

// Selector is InputPath or OutputPath: the whole value (zero value), nothing ({}), or what a path selects.
type Selector struct {
	Null bool
	Path *jsonpath.Path
}

// Identity reports whether the selector passes the value unchanged.
func (s Selector) Identity() bool { return !s.Null && s.Path == nil }

// Placement is ResultPath: replace the input (zero value), discard the result, or insert it at a reference path.
type Placement struct {
	Discard bool
	At      *jsonpath.Reference
}

// Replaces reports whether the result replaces the input.
func (p Placement) Replaces() bool { return !p.Discard && p.At == nil }

// Retrier is one compiled element of Retry.
type Retrier struct {
	matcher
	Policy retry.Policy
}

// Catcher is one compiled element of Catch.
type Catcher struct {
	matcher
	Next       *State
	ResultPath Placement
	Assign     *Payload
	Output     *expression.Value // JSONata
}

// Number is a numeric field: a literal, a path to the number or a JSONata expression.
type Number struct {
	Present    bool
	Literal    float64
	Path       *jsonpath.Path
	Expression *expression.Value
	Field      string // "MaxConcurrency", …
}

// Text is a string field: a literal, a path or an intrinsic call (ErrorPath, CausePath), or a JSONata expression.
type Text struct {
	Present    bool
	Literal    string
	Source     *template.Template // {"ErrorPath.$": …}, evaluated as a single template so that causes name the field
	Expression *expression.Value
	Field      string
}

// Compile compiles a state machine. The error names the state and the field.
func Compile(m *asl.Machine) (*Plan, error) {
	c := compiler{}
	root, err := c.graph(&m.Graph)
	if err != nil {
		return nil, err
	}
	return &Plan{TimeoutSeconds: m.TimeoutSeconds, Root: root}, nil
}

type compiler struct{}

func (c *compiler) graph(g *asl.Graph) (*Graph, error) {
	out := &Graph{}
	byName := make(map[string]*State, len(g.States))
	for _, s := range g.States {
		st := &State{Name: s.Name, Type: s.Type}
		byName[s.Name] = st
		out.States = append(out.States, st)
	}
	for i, s := range g.States {
		if err := c.state(out.States[i], s, byName); err != nil {
			return nil, fmt.Errorf("state %q: %w", s.Name, err)
		}
		out.Tokens = out.Tokens || out.States[i].tokens()
	}
	var ok bool
	if out.Start, ok = byName[g.StartAt]; !ok {
		return nil, fmt.Errorf("StartAt names %q, which is not one of its States", g.StartAt)
	}
	return out, nil
}

var entered = map[asl.Type][2]history.Type{
	asl.Task:     {history.TaskStateEntered, history.TaskStateExited},
	asl.Parallel: {history.ParallelStateEntered, history.ParallelStateExited},
	asl.Map:      {history.MapStateEntered, history.MapStateExited},
	asl.Pass:     {history.PassStateEntered, history.PassStateExited},
	asl.Wait:     {history.WaitStateEntered, history.WaitStateExited},
	asl.Choice:   {history.ChoiceStateEntered, history.ChoiceStateExited},
	asl.Succeed:  {history.SucceedStateEntered, history.SucceedStateExited},
	asl.Fail:     {history.FailStateEntered, history.Unknown},
}

func (c *compiler) state(st *State, s *asl.State, states map[string]*State) error {
	types, ok := entered[s.Type]
	if !ok {
		return fmt.Errorf("unknown Type %q", s.Type)
	}
	d := dialect(s.QueryLanguage)
	st.Language = s.QueryLanguage
	st.Entered, st.Exited = types[0], types[1]
	if s.Next != "" {
		if st.Next = states[s.Next]; st.Next == nil {
			return fmt.Errorf("the field Next names %q, which is not one of the States beside it", s.Next)
		}
	}
	st.Result = s.Result
	steps := []func() error{
		func() (err error) { st.InputPath, err = selector("InputPath", s.InputPath); return },
		func() (err error) { st.OutputPath, err = selector("OutputPath", s.OutputPath); return },
		func() (err error) { st.ResultPath, err = placement(s.ResultPath); return },
		func() (err error) { st.Parameters, err = d.arguments(s); return },
		func() (err error) { st.ResultSelector, err = d.payload("ResultSelector", s.ResultSelector); return },
		func() (err error) { st.Output, err = d.value("Output", s.Output); return },
		func() (err error) { st.Assign, err = d.payload("Assign", s.Assign); return },
		func() error { return c.handlers(st, s, states) },
		func() error { return c.byType(st, s, states) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) handlers(st *State, s *asl.State, states map[string]*State) error {
	for _, r := range s.Retry {
		st.Retry = append(st.Retry, Retrier{matcher: newMatcher(r.ErrorEquals), Policy: policy(&r)})
	}
	for i := range s.Catch {
		k, err := catcher(s, i, states)
		if err != nil {
			return fmt.Errorf("catcher Catch[%d]: %w", i, err)
		}
		st.Catch = append(st.Catch, k)
	}
	return nil
}

func catcher(s *asl.State, i int, states map[string]*State) (Catcher, error) {
	k, d, at := &s.Catch[i], dialect(s.QueryLanguage), fmt.Sprintf("Catch[%d]/", i)
	c := Catcher{matcher: newMatcher(k.ErrorEquals), Next: states[k.Next]}
	if c.Next == nil {
		return c, fmt.Errorf("the field Next names %q, which is not one of the States beside it", k.Next)
	}
	var err error
	if c.ResultPath, err = placement(k.ResultPath); err != nil {
		return c, err
	}
	if c.Assign, err = d.payload(at+"Assign", k.Assign); err != nil {
		return c, err
	}
	c.Output, err = d.value(at+"Output", k.Output)
	return c, err
}

func (c *compiler) byType(st *State, s *asl.State, states map[string]*State) (err error) {
	switch s.Type {
	case asl.Task:
		st.Task, err = task(s)
	case asl.Choice:
		st.Choice, err = choice(s, states)
	case asl.Wait:
		st.Wait, err = wait(s)
	case asl.Fail:
		st.Fail, err = fail(s)
	case asl.Parallel:
		for i, b := range s.Branches {
			g, err := c.graph(b)
			if err != nil {
				return fmt.Errorf("branch Branches[%d]: %w", i, err)
			}
			st.Branches = append(st.Branches, g)
		}
	case asl.Map:
		st.Map, err = c.mapState(s)
	case asl.Pass, asl.Succeed:
	}
	return err
}
