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

// API calls operations of services by their names in the models, such as sqs and CreateQueue. in is the request's
// document, which encoding/json must be able to write; out is filled from the response's document. Both may be nil.
type API interface {
	Call(ctx context.Context, service, operation string, in, out any) error
}

// Request is a request to a type's functions.
type Request struct {
	API
	// Scope is the account and region.
	Scope aws.Scope
	// Stack and LogicalID identify the owner of the resource. Generated names consist of them and of Suffix, which is
	// the same for all attempts to create one resource.
	Stack, StackID, LogicalID, Suffix string
	// Type is the name of the resource's type.
	Type string
	// ID is the physical ID; empty before the resource exists.
	ID string
	// Properties are the desired properties. Previous holds the properties before an update.
	Properties, Previous map[string]any
	// Attributes are the resource's attributes before an update or a deletion.
	Attributes map[string]any
	// Tags are the tags of the stack. PreviousTags holds the tags before an update.
	Tags, PreviousTags map[string]string
	// Again is true if an earlier attempt was interrupted, so that the resource to create may already exist.
	Again bool
	// GiveUp ends when the deployment is given up. Waits then end as well; calls continue.
	GiveUp context.Context
	// Wait waits on the platform's clock, or until GiveUp ends.
	Wait func(ctx context.Context, d time.Duration) error
}

// State describes an existing resource.
type State struct {
	// ID is the physical ID. Ref is the value of a Ref, if it is not the ID.
	ID, Ref string
	// Attributes are the values of Fn::GetAtt.
	Attributes map[string]any
}

// Type is a resource type.
type Type struct {
	// Name is its name in templates, such as AWS::SQS::Queue.
	Name string
	// Properties are the known properties.
	Properties map[string]Property
	// Identifier lists the properties and attributes that form Cloud Control's identifier, joined by |; empty means
	// the physical ID.
	Identifier []string
	// Create creates a resource.
	Create func(context.Context, *Request) (State, error)
	// Update changes a resource in place; nil means that any change requires a replacement.
	Update func(context.Context, *Request) (State, error)
	// Delete deletes a resource. It is not an error if the resource does not exist any more.
	Delete func(context.Context, *Request) error
	// Read returns the resource's properties, as far as they can be read; nil if drift cannot be detected. It returns
	// ErrGone if the resource does not exist.
	Read func(context.Context, *Request) (map[string]any, error)
	// List returns the physical IDs of all existing resources; nil if they cannot be listed.
	List func(context.Context, *Request) ([]string, error)
}

// Property describes a property of a type.
type Property struct {
	// Required is true if the property must be set.
	Required bool
	// Replaces is true if a change requires a replacement.
	Replaces bool
	// Name is true if the property is the resource's own name, which must be unique.
	Name bool
	// WriteOnly is true if the property cannot be read back.
	WriteOnly bool
}

// ErrGone is returned if the resource does not exist any more.
var ErrGone = errors.New("the resource is not there any more")

// properties parses names followed by marks: * is required, ! means that a change requires a replacement, = is the
// resource's own name (a change requires a replacement), ~ cannot be read.
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

// Replaces returns the changed properties that require a replacement.
func (t *Type) Replaces(changed []string) (which []string) {
	for _, name := range changed {
		if t.Update == nil || t.Properties[name].Replaces {
			which = append(which, name)
		}
	}
	return which
}

// Check rejects unknown properties and missing required ones. The error is a *PropertyError.
func (t *Type) Check(logicalID string, given map[string]any) error {
	if t.Properties == nil { // custom resources accept any property
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

// PropertyError reports invalid properties of a resource.
type PropertyError struct {
	LogicalID, Type string
	Problems        []string
}

// Error implements error.
func (e *PropertyError) Error() string {
	return fmt.Sprintf("Properties validation failed for resource %s of type %s with message:\n%s", e.LogicalID, e.Type,
		strings.Join(e.Problems, "\n"))
}

// HandlerError is the failure of AWS's own handler of a type, with the handler's error code and message.
type HandlerError struct {
	// Code is a handler error code, such as InternalFailure or InvalidRequest.
	Code, Message string
}

// Error implements error.
func (e *HandlerError) Error() string { return e.Message }

// Set maps names to types.
type Set map[string]*Type

// All returns all types, except those that an engine implements itself: nested stacks, custom resources, wait
// conditions.
func All() Set {
	s := Set{}
	for _, some := range [][]*Type{queues(), topics(), identities(), keys(), parameters(), repositories(), buckets(),
		lambdas(), logs(), machines(), events(), schedules(), tables(), alarms(), secrets(), gateways(), restAPIs(),
		users(), samplingRules(), metadata()} {
		for _, t := range some {
			s[t.Name] = t
		}
	}
	return s
}

// Names returns the names of all types, sorted.
func (s Set) Names() []string {
	names := make([]string, 0, len(s))
	for n := range s {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// metadata returns the type that CDK adds to every stack; it creates nothing.
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
