package stepfunctions

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stepback/aws"
)

// The resource types in ARNs.
const (
	kindMachine   = "stateMachine"
	kindExecution = "execution"
	kindExpress   = "express"
	kindMapRun    = "mapRun"
	kindActivity  = "activity"
)

// resource is a parsed ARN: arn:PARTITION:states:REGION:ACCOUNT:KIND:NAME[:…].
type resource struct {
	text  string
	scope aws.Scope
	kind  string
	names []string // what follows the kind, at least one element
}

// parseARN parses an ARN of one of the given kinds.
func parseARN(text string, kinds ...string) (*resource, error) {
	if !strings.HasPrefix(text, "arn:") {
		return nil, invalidARN("Invalid ARN prefix: " + text)
	}
	a, _ := aws.ParseARN(text)
	parts := strings.Split(a.Resource, ":")
	if len(parts) == 1 || a.Service != "states" || slices.Contains(parts[1:], "") {
		return nil, invalidARN("Invalid ARN: " + text)
	}
	r := &resource{text: text, scope: a.Scope(), kind: parts[0], names: parts[1:]}
	if !slices.Contains(kinds, r.kind) {
		return nil, invalidARN("Resource type not valid in this context: " + r.kind)
	}
	return r, nil
}

// parseMachineARN parses the ARN of a state machine, a version or an alias. It rejects the labelled ARN of a Map
// Run's child executions.
func parseMachineARN(text string) (*resource, error) {
	r, err := parseARN(text, kindMachine)
	if err == nil && r.labelled() {
		err = &aws.Error{
			Code: "ValidationException", Members: map[string]any{"reason": "API_DOES_NOT_SUPPORT_LABELED_ARNS"},
			Message: "This operation does not support labeled state machine ARNs: " + text,
		}
	}
	return r, err
}

// unlabelled returns the ARN of the state machine that contains the labelled distributed Map, and the label.
func (r *resource) unlabelled() (machine *resource, label string) {
	name, label, _ := strings.Cut(r.names[0], "/")
	return &resource{text: machineARNOf(r.scope, name), scope: r.scope, kind: r.kind, names: []string{name}}, label
}

// machine returns the ARN without a version or an alias.
func (r *resource) machine() string {
	if len(r.names) == 1 {
		return r.text
	}
	return strings.TrimSuffix(r.text, ":"+strings.Join(r.names[1:], ":"))
}

// qualified reports whether the ARN names a version or an alias.
func (r *resource) qualified() bool { return len(r.names) > 1 }

// labelled reports whether the ARN names the state machine of a Map Run's child executions.
func (r *resource) labelled() bool { return strings.Contains(r.names[0], "/") }

// arnOf returns the ARN of a named resource, in the partition of its region.
func arnOf(s aws.Scope, kind, name string) string {
	return s.ARN("states", kind+":"+name)
}

func machineARNOf(s aws.Scope, name string) string {
	return arnOf(s, kindMachine, name)
}

// validName reports whether a name contains no forbidden characters.
func validName(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || strings.ContainsRune("<>{}[]?*\"#%\\^|~`$&,;:/", c)
	})
}
