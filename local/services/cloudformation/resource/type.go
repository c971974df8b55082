package resource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"stepback/aws"
)

// API calls the operations of services by their names in the models, such as sqs and CreateQueue. in is a document as
// encoding/json writes it, out is filled from the answer's; both may be nil.
type API interface {
	Call(ctx context.Context, service, operation string, in, out any) error
}

// Request is what a type is asked to do.
type Request struct {
	API
	// Scope is the account and region.
	Scope aws.Scope
	// Stack and LogicalID say whose the resource is; names are made of them and of Suffix, which is the same for all
	// attempts to make one resource.
	Stack, StackID, LogicalID, Suffix string
	// Type is the name of the resource's type.
	Type string
	// ID is the physical ID; empty before the resource is there.
	ID string
	// Properties are the wanted ones, Previous those of the resource before an update.
	Properties, Previous map[string]any
	// Attributes are those of the resource before an update, or before it is deleted.
	Attributes map[string]any
	// Tags are those of the stack, PreviousTags those it had before an update.
	Tags, PreviousTags map[string]string
	// Again says that an earlier attempt was cut off: what is to be made may be there.
	Again bool
	// GiveUp ends when the deployment gives up: waits end with it, calls do not.
	GiveUp context.Context
	// Wait waits on the platform's clock, or until GiveUp ends.
	Wait func(ctx context.Context, d time.Duration) error
}

// State is a resource that is there.
type State struct {
	// ID is the physical ID. Ref is what a Ref gives, where that is something else.
	ID, Ref string
	// Attributes are what Fn::GetAtt gives.
	Attributes map[string]any
}

// Type is a type of resources.
type Type struct {
	// Name is that in templates: AWS::SQS::Queue.
	Name string
	// Properties are those that are known.
	Properties map[string]Property
	// Identifier are the properties and attributes that Cloud Control's identifier has, joined by |; empty means the
	// physical ID.
	Identifier []string
	// Create makes a resource.
	Create func(context.Context, *Request) (State, error)
	// Update changes one in place; nil means that any change needs a replacement.
	Update func(context.Context, *Request) (State, error)
	// Delete removes one. What is not there any more is no error.
	Delete func(context.Context, *Request) error
	// Read reads the properties that the resource has, as far as they can be told; nil where drift is not detected.
	// What is not there is ErrGone.
	Read func(context.Context, *Request) (map[string]any, error)
	// List lists the physical IDs of all that are there; nil where they cannot be listed.
	List func(context.Context, *Request) ([]string, error)
}

// Property is what is known of a property.
type Property struct {
	// Required says that it must be there.
	Required bool
	// Replaces says that a change needs another resource.
	Replaces bool
	// Name says that it is a name that is given to one resource only.
	Name bool
	// WriteOnly says that it cannot be read back.
	WriteOnly bool
}

// ErrGone is the error of what is not there any more.
var ErrGone = errors.New("the resource is not there any more")

// properties reads names with marks behind them: * required, ! a change replaces, = the resource's own name, a change
// of which replaces, ~ cannot be read.
func properties(text string) map[string]Property {
	all := map[string]Property{}
	for _, word := range strings.Fields(text) {
		name := strings.TrimRight(word, "*!=~")
		marks := word[len(name):]
		own := strings.Contains(marks, "=")
		all[name] = Property{Required: strings.Contains(marks, "*"), Replaces: own || strings.Contains(marks, "!"),
			Name: own, WriteOnly: strings.Contains(marks, "~")}
	}
	return all
}

// Replaces says whether a change of properties needs another resource, and which of them.
func (t *Type) Replaces(changed []string) (which []string) {
	for _, name := range changed {
		if t.Update == nil || t.Properties[name].Replaces {
			which = append(which, name)
		}
	}
	return which
}

// Check refuses properties that are not known and the absence of those that must be there. The error is a
// *PropertyError.
func (t *Type) Check(logicalID string, given map[string]any) error {
	if t.Properties == nil { // custom resources take anything
		return nil
	}
	var wrong []string
	for name := range given {
		if _, ok := t.Properties[name]; !ok {
			wrong = append(wrong, fmt.Sprintf("#: extraneous key [%s] is not permitted", name))
		}
	}
	for name, p := range t.Properties {
		if _, ok := given[name]; p.Required && !ok {
			wrong = append(wrong, fmt.Sprintf("#: required key [%s] not found", name))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	sort.Strings(wrong)
	return &PropertyError{LogicalID: logicalID, Type: t.Name, Problems: wrong}
}

// PropertyError says which properties of a resource cannot be used.
type PropertyError struct {
	LogicalID, Type string
	Problems        []string
}

// Error implements error.
func (e *PropertyError) Error() string {
	return fmt.Sprintf("Properties validation failed for resource %s of type %s with message:\n%s", e.LogicalID, e.Type,
		strings.Join(e.Problems, "\n"))
}

// Set is types by their names.
type Set map[string]*Type

// All returns all types, but for those that an engine has itself: nested stacks, custom resources, wait conditions.
func All() Set {
	s := Set{}
	for _, some := range [][]*Type{queues(), topics(), identities(), keys(), parameters(), repositories(), buckets(),
		lambdas(), logs(), machines(), events(), schedules(), tables(), alarms(), secrets(), gateways(), users(),
		samplingRules(), metadata()} {
		for _, t := range some {
			s[t.Name] = t
		}
	}
	return s
}

// Names are the names of all types, sorted.
func (s Set) Names() []string {
	names := make([]string, 0, len(s))
	for n := range s {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// metadata is what CDK adds to every stack; it makes nothing.
func metadata() []*Type {
	made := func(_ context.Context, r *Request) (State, error) {
		return State{ID: nonempty(r.ID, r.Name(maxID))}, nil
	}
	return []*Type{{
		Name: "AWS::CDK::Metadata", Properties: properties("Analytics"),
		Create: made, Update: made, Delete: func(context.Context, *Request) error { return nil },
	}}
}

const maxID = 128
