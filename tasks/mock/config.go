package mock

import (
	"errors"
	"fmt"

	"stepback/jsonvalue"
)

// Config is a parsed mock configuration.
type Config struct {
	machines map[string]map[string]testCase // by state machine and test case
}

// testCase maps states to their responses.
type testCase map[string]*response

// response is an entry in MockedResponses: the results of a state's invocations.
type response struct {
	name string
	// answers[i] is the result of invocation i.
	answers []answer
}

// answer is a Return or a Throw: the result or the error of an invocation.
type answer struct {
	output      string // JSON text
	thrown      bool
	err, reason string
	hasReason   bool
}

// Parse parses a mock configuration. Members of the file other than StateMachines and MockedResponses are ignored.
// A missing answer for invocation 0 is reported only when its state is entered. The error gives the location and
// the description of each problem.
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

// machine parses the test cases of a state machine.
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
