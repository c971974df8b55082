package mock

import (
	"errors"
	"fmt"

	"stepback/jsonvalue"
)

// Config is a mock configuration.
type Config struct {
	machines map[string]map[string]testCase // by state machine and test case
}

// testCase says which response a state gets.
type testCase map[string]*response

// response is one entry of MockedResponses: what the invocations of a state come to.
type response struct {
	name string
	// answers[i] is that of invocation i.
	answers []answer
}

// answer is a Return or a Throw.
type answer struct {
	output      string // JSON text
	thrown      bool
	err, reason string
	hasReason   bool
}

// Parse reads a mock configuration. Other members of the file than StateMachines and MockedResponses are for other
// programs, and an answer for invocation 0 is missed only when its state is entered. The error names the place and what
// is wrong there; several are joined.
func Parse(text []byte) (*Config, error) {
	root, err := jsonvalue.Parse(string(text))
	if err != nil {
		var syntax *jsonvalue.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("line %d, column %d: %w", syntax.Line, syntax.Column, err)
		}
		return nil, err
	}
	r := reader{}
	if root.Kind() != jsonvalue.Object {
		r.problem("the configuration", "must be an object with StateMachines and MockedResponses")
	}
	responses := r.responses(root)
	c := &Config{machines: map[string]map[string]testCase{}}
	machines, _ := root.Get("StateMachines")
	for i, name := range r.object("StateMachines", machines) {
		c.machines[name] = r.machine("StateMachines."+name, machines.At(i), responses)
	}
	return c, errors.Join(r.errs...)
}

// machine reads the test cases of a state machine.
func (r *reader) machine(place string, v jsonvalue.Value, responses map[string]*response) map[string]testCase {
	r.members(place, v, "TestCases")
	cases, _ := v.Get("TestCases")
	all := map[string]testCase{}
	for i, name := range r.object(place+".TestCases", cases) {
		at := place + ".TestCases." + name
		states := testCase{}
		for k, state := range r.object(at, cases.At(i)) {
			wanted := cases.At(i).At(k)
			if wanted.Kind() != jsonvalue.String {
				r.problem(at+"."+state, "must be the name of a mocked response")
				continue
			}
			found, ok := responses[wanted.Text()]
			if !ok {
				r.problem(at+"."+state, "names the response "+wanted.Text()+", which MockedResponses does not have")
			}
			states[state] = found
		}
		all[name] = states
	}
	return all
}

// Machines returns the names of the state machines that have test cases.
func (c *Config) Machines() []string { return sorted(c.machines) }

// TestCases returns the names of the test cases of a state machine.
func (c *Config) TestCases(machine string) []string { return sorted(c.machines[machine]) }
