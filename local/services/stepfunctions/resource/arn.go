package resource

import (
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/stepfunctions/apierror"
)

// The resource types in ARNs.
const (
	KindMachine   = "stateMachine"
	KindExecution = "execution"
	KindExpress   = "express"
	KindMapRun    = "mapRun"
	KindActivity  = "activity"
)

// ARN is a parsed ARN: arn:PARTITION:states:REGION:ACCOUNT:KIND:NAME[:…].
type ARN struct {
	Text  string
	Scope aws.Scope
	Kind  string
	Names []string // what follows the kind, at least one element
}

// Parse parses an ARN of one of the given kinds.
func Parse(text string, kinds ...string) (*ARN, error) {
	if !strings.HasPrefix(text, "arn:") {
		return nil, apierror.InvalidARN("Invalid ARN prefix: " + text)
	}
	a, _ := aws.ParseARN(text)
	parts := strings.Split(a.Resource, ":")
	if len(parts) == 1 || a.Service != "states" || slices.Contains(parts[1:], "") {
		return nil, apierror.InvalidARN("Invalid ARN: " + text)
	}
	r := &ARN{Text: text, Scope: a.Scope(), Kind: parts[0], Names: parts[1:]}
	if !slices.Contains(kinds, r.Kind) {
		return nil, apierror.InvalidARN("Resource type not valid in this context: " + r.Kind)
	}
	return r, nil
}

// ParseMachine parses the ARN of a state machine, a version or an alias. It rejects the labelled ARN of a Map
// Run's child executions.
func ParseMachine(text string) (*ARN, error) {
	r, err := Parse(text, KindMachine)
	if err == nil && r.Labelled() {
		err = &aws.Error{
			Code: "ValidationException", Members: map[string]any{"reason": "API_DOES_NOT_SUPPORT_LABELED_ARNS"},
			Message: "This operation does not support labeled state machine ARNs: " + text,
		}
	}
	return r, err
}

// Unlabelled returns the ARN of the state machine that contains the labelled distributed Map, and the label.
func (r *ARN) Unlabelled() (machine *ARN, label string) {
	name, label, _ := strings.Cut(r.Names[0], "/")
	return Machine(r.Scope, name), label
}

// Machine returns the ARN without a version or an alias.
func (r *ARN) Machine() string {
	if len(r.Names) == 1 {
		return r.Text
	}
	return strings.TrimSuffix(r.Text, ":"+strings.Join(r.Names[1:], ":"))
}

// Qualified reports whether the ARN names a version or an alias.
func (r *ARN) Qualified() bool { return len(r.Names) > 1 }

// Labelled reports whether the ARN names the state machine of a Map Run's child executions.
func (r *ARN) Labelled() bool { return strings.Contains(r.Names[0], "/") }

// Machine returns the unqualified ARN of the state machine that has a name.
func Machine(s aws.Scope, name string) *ARN {
	return &ARN{Text: MachineARN(s, name), Scope: s, Kind: KindMachine, Names: []string{name}}
}

// ParseActivity parses the ARN of an activity.
func ParseActivity(text string) (*ARN, error) {
	at, err := Parse(text, KindActivity)
	if err == nil && at.Qualified() {
		err = apierror.InvalidARN("Invalid ARN: " + text)
	}
	return at, err
}

// MachineARN returns the text of a state machine's ARN.
func MachineARN(s aws.Scope, name string) string { return textOf(s, KindMachine, name) }

// ActivityARN returns the text of an activity's ARN.
func ActivityARN(s aws.Scope, name string) string { return textOf(s, KindActivity, name) }

// ExpressARN returns the text of the ARN of an EXPRESS machine's execution.
func ExpressARN(s aws.Scope, machine, execution string) string {
	return textOf(s, KindExpress, machine+":"+execution)
}

// textOf writes an ARN in the partition of the scope's region.
func textOf(s aws.Scope, kind, name string) string { return s.ARN("states", kind+":"+name) }
