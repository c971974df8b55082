// Package recording describes the operations of an execution of a durable function as its tests know them, and writes a
// test file from an execution's history. Package functiontest runs such files.
package recording

import (
	"slices"
	"strings"
	"time"

	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/timeline"
)

// Kind is a kind of operation.
type Kind string

// The kinds of operations. A submitter is the step of a WaitForCallback that sends the callback's ID.
const (
	Step      Kind = "step"
	Condition Kind = "condition"
	Submitter Kind = "submitter"
	Wait      Kind = "wait"
	Callback  Kind = "callback"
	Invoke    Kind = "invoke"
	Context   Kind = "context"
)

// Operation is an operation of an execution that has started.
type Operation struct {
	*timeline.Visit
	// Name is the name by which tests know the operation: its own, that of its function for a chained invoke without a
	// name, that of the WaitForCallback for its callback, and NAME-submitter for its submitter. It may be empty.
	Name string
	Kind Kind
	// Within contains the names of the contexts around it, from the outermost.
	Within []string
}

// kinds maps the types of operations in Lambda's API to kinds.
var kinds = map[string]Kind{durable.TypeContext: Context, durable.TypeWait: Wait, durable.TypeStep: Step,
	durable.TypeChainedInvoke: Invoke, durable.TypeCallback: Callback}

// The subtypes of operations, as both SDKs spell them.
const (
	waitForCallback  = "WaitForCallback"
	waitForCondition = "WaitForCondition"
)

// SubmitterName returns the name by which tests know the submitter of a callback.
func SubmitterName(callback string) string { return callback + "-submitter" }

// Operations returns the operations of an execution, in the order in which they started.
func Operations(events []history.Event) []*Operation {
	visits := timeline.Read(events).Visits
	all := make([]*Operation, len(visits)) // by the numbers of visits
	for i, v := range visits {
		o := &Operation{Visit: v, Name: v.State, Kind: kinds[v.Type]}
		if v.State == v.Operation { // it has no name
			o.Name = ""
		}
		if v.SubType == waitForCondition {
			o.Kind = Condition
		}
		if v.Parent != nil {
			o.below(all[v.Parent.Number])
		}
		if d, err := durable.DetailsOf(&events[v.Entry-events[0].ID]); err == nil && o.Kind == Invoke && o.Name == "" {
			o.Name = FunctionName(d.Function)
		}
		all[i] = o
	}
	return all
}

// below sets what an operation has from the context in which it is.
func (o *Operation) below(parent *Operation) {
	o.Within = slices.Clone(parent.Within)
	if parent.Name != "" {
		o.Within = append(o.Within, parent.Name)
	}
	if parent.SubType != waitForCallback {
		return
	}
	switch o.Kind { //nolint:exhaustive // it has no others
	case Step:
		o.Kind, o.Name = Submitter, ""
		if parent.Name != "" {
			o.Name = SubmitterName(parent.Name)
		}
	case Callback:
		o.Name = parent.Name
	}
}

// FunctionName returns the name of a function without its ARN and its qualifier.
func FunctionName(function string) string {
	if i := strings.Index(function, ":function:"); i >= 0 {
		function = function[i+len(":function:"):]
	}
	name, _, _ := strings.Cut(function, ":")
	return name
}

// Waited returns the waits of an operation: the delays between its attempts, or for operations without attempts how
// long it was open.
func (o *Operation) Waited() []time.Duration {
	var all []time.Duration
	if len(o.Attempts) == 0 && !o.Open() && o.Kind != Context {
		return append(all, o.Left.Sub(o.Entered))
	}
	for _, w := range o.Waits() {
		if !w.Until.IsZero() {
			all = append(all, w.Until.Sub(w.From))
		}
	}
	return all
}

// Path returns the operations with names in the order in which they started, without contexts and submitters.
func Path(operations []*Operation) []string {
	var all []string
	for _, o := range operations {
		if o.Name != "" && o.Kind != Context && o.Kind != Submitter {
			all = append(all, o.Name)
		}
	}
	return all
}

// Attempts returns the number of attempts of the operations with a name. An operation without retries has one.
func Attempts(operations []*Operation, name string) int {
	n := 0
	for _, o := range operations {
		switch {
		case o.Name != name || o.Kind == Context:
		case len(o.Attempts) > 0:
			n += len(o.Attempts)
		default:
			n++
		}
	}
	return n
}
