package lsp

import (
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonata"
	"stepback/internal/lazyregexp"
)

// described is a member with its description.
type described struct{ name, about string }

// contextMembers are the members of the context object, by the path to them.
var contextMembers = map[string][]described{
	"": {
		{"Execution", "the execution"}, {"State", "the state"}, {"StateMachine", "the state machine"},
		{"Task", "of a Task with .waitForTaskToken"}, {"Map", "inside a Map"},
	},
	"Execution": {
		{"Id", "the ARN of the execution"}, {"Input", "the input of the execution"}, {"Name", "the name of the execution"},
		{"RoleArn", "the role of the execution"}, {"StartTime", "when the execution was started"},
		{"RedriveCount", "the number of redrives"}, {"RedriveTime", "the time of the last redrive"},
	},
	"State": {
		{"EnteredTime", "when the state was entered"}, {"Name", "the name of the state"},
		{"RetryCount", "the number of retries so far: 0 for the first attempt"},
	},
	"StateMachine": {{"Id", "the ARN of the state machine"}, {"Name", "the name of the state machine"}},
	"Task":         {{"Token", "the task token"}},
	"Map":          {{"Item", "the item of the iteration"}},
	"Map.Item":     {{"Index", "the index of the item, from 0"}, {"Value", "the item"}},
}

// statesMembers are the members of $states, by the path to them.
var statesMembers = func() map[string][]described {
	all := map[string][]described{
		"": {
			{"input", "the input of the state"}, {"result", "the result of a Task, Parallel or Map, in its Output and Assign"},
			{"errorOutput", "the error, in the Output and Assign of a catcher"}, {"context", "the context object"},
		},
		"errorOutput": {{"Error", "the name of the error"}, {"Cause", "the description of the error"}},
	}
	for path, members := range contextMembers {
		all[strings.TrimSuffix("context."+path, ".")] = members
	}
	return all
}()

var (
	// statesPath matches a path into $states at the end of an expression.
	statesPath = lazyregexp.New(`\$states\.((?:\w+\.)*)(\w*)$`)
	// contextPath matches a path into the context object at the end of a string.
	contextPath = lazyregexp.New(`\$\$\.((?:\w+\.)*)(\w*)$`)
	// dollarName matches the beginning of a function's or variable's name at the end of an expression.
	dollarName = lazyregexp.New(`\$(\w*)$`)
	// intrinsicName matches the beginning of the name of an intrinsic function at the end of a string.
	intrinsicName = lazyregexp.New(`(?:^|[(,\s])(S[\w.]*)$`)
)

// jsonata adds the completions inside an expression of JSONata.
func (c *completion) jsonata() {
	if m := statesPath.FindStringSubmatch(c.before); m != nil {
		c.members(statesMembers[strings.TrimSuffix(m[1], ".")], m[2])
		return
	}
	m := dollarName.FindStringSubmatch(c.before)
	if m == nil {
		return
	}
	c.add(m[1], "states", protocol.CompletionItemKindVariable, "input, result, errorOutput and context", "states")
	for _, v := range c.variables() {
		c.add(m[1], v, protocol.CompletionItemKindVariable, "variable", v)
	}
	functions := jsonata.StepFunctions()
	for _, name := range sorted(functions) {
		c.add(m[1], name, protocol.CompletionItemKindFunction, "function "+functions[name], name)
	}
}

// jsonPath adds the completions inside a path or a call of an intrinsic function.
func (c *completion) jsonPath() {
	if m := contextPath.FindStringSubmatch(c.before); m != nil {
		c.members(contextMembers[strings.TrimSuffix(m[1], ".")], m[2])
		return
	}
	if m := dollarName.FindStringSubmatch(c.before); m != nil && !strings.HasSuffix(c.before, "$$") {
		for _, v := range c.variables() {
			c.add(m[1], v, protocol.CompletionItemKindVariable, "variable", v)
		}
		return
	}
	last := c.at[len(c.at)-1]
	m := intrinsicName.FindStringSubmatch(c.before)
	if m == nil && strings.HasSuffix(last.Name, ".$") && c.before == "" {
		m = []string{"", ""}
	}
	if m == nil || !strings.HasSuffix(last.Name, ".$") {
		return
	}
	for _, name := range intrinsic.Functions() {
		c.add(m[1], name, protocol.CompletionItemKindFunction, "intrinsic function", name+"(")
	}
}

func (c *completion) members(all []described, written string) {
	for _, m := range all {
		c.add(written, m.name, protocol.CompletionItemKindProperty, m.about, m.name)
	}
}
