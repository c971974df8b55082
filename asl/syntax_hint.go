package asl

import (
	"strings"

	"stepback/jsonvalue"
)

// syntaxHint returns a hint for text that is JavaScript, YAML or a template instead of JSON, or "" if it recognizes
// none.
func syntaxHint(text string, offset int) string {
	before, after := strings.TrimRight(text[:offset], " \t\r\n"), text[offset:]
	switch {
	case strings.HasPrefix(after, "//"), strings.HasPrefix(after, "/*"), strings.HasPrefix(after, "#"):
		return "JSON has no comments; every state has a Comment field for them"
	case strings.HasSuffix(before, ",") && (strings.HasPrefix(after, "}") || strings.HasPrefix(after, "]")):
		return "remove the comma before it"
	case strings.HasPrefix(after, "'"), strings.HasPrefix(after, "“"), strings.HasPrefix(after, "”"):
		return `strings and names stand in straight double quotes: "`
	case strings.HasPrefix(after, "True"), strings.HasPrefix(after, "False"), strings.HasPrefix(after, "None"):
		return "JSON writes true, false and null"
	default:
		return ""
	}
}

// wrappings lists members that documents have in which definitions are wrapped, or that accompany definitions, with
// a hint for each.
var wrappings = []struct{ member, hint string }{
	{"Resources", "this looks like a CloudFormation or SAM template: give the files that its state machines' DefinitionUri name"},
	{"stepFunctions", "this looks like a configuration of the Serverless Framework: give a definition out of it"},
	{"definition", "this looks like an answer of DescribeStateMachine: give its definition, as --query definition --output text does"},
	{"MockedResponses", "this looks like a mock configuration: give it to exec or serve with --mock"},
	{"Type", "this looks like a single state, which test-state takes"},
}

// wrapping returns a hint about an object without states; "" if it does not recognize the object.
func wrapping(v jsonvalue.Value) string {
	for _, w := range wrappings {
		if _, there := v.Get(w.member); there {
			return w.hint
		}
	}
	return ""
}
