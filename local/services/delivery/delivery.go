// Package delivery hands messages to whatever an ARN names: a queue, a topic, a function, a state machine, an event
// bus, a log group. Services that have targets (topics, rules, schedules, alarms, destinations, notifications of
// buckets) use it instead of each other. Each service says itself how it takes a message, as a Target.
//
// It keeps nothing and tries nothing again: whoever delivers does, by its own rules. It checks no permissions
// itself: a Judge does, where there is one.
package delivery

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"stepback/aws"
)

// Message is what a target is given.
type Message struct {
	// Body is the text of the message; JSON where the target takes only that: functions, state machines, buses.
	Body string
	// Attributes are message attributes, for queues and topics.
	Attributes map[string]Attribute
	// Group and Deduplication are the message group and the deduplication ID, for FIFO queues and topics.
	Group, Deduplication string
	// Subject is that of a topic's message.
	Subject string
	// Name is that of an execution; empty means a unique one.
	Name string
	// TraceHeader is the X-Ray trace that the message belongs to.
	TraceHeader string
	// Source and DetailType are those of an event for a bus.
	Source, DetailType string
	// Resources are the ARNs that an event for a bus is about.
	Resources []string
}

// Attribute is a message attribute. Type is String, Number or Binary, or one of them with a label behind a dot; Binary
// is the value of the latter, String that of the others.
type Attribute struct {
	Type   string
	String string
	Binary []byte
}

// Target takes messages for the resources of one service.
type Target interface {
	// Deliver returns when the resource has the message and does not lose it any more. An error is an *aws.Error, as
	// the service's API would answer it (ByServer tells whether it may pass), or ctx's.
	Deliver(ctx context.Context, to aws.ARN, m *Message) error
}

// TargetFunc is a function that is a Target.
type TargetFunc func(ctx context.Context, to aws.ARN, m *Message) error

// Deliver calls the function.
func (f TargetFunc) Deliver(ctx context.Context, to aws.ARN, m *Message) error { return f(ctx, to, m) }

// Targets are the services that take messages, by the name that ARNs have of them: sqs, sns, lambda, states, events,
// logs. The zero value has none. It is safe for concurrent use.
type Targets struct {
	mu    sync.RWMutex
	of    map[string]Target
	judge Judge // nil judges nothing
}

// Register says who takes the messages for a service's resources.
func (t *Targets) Register(service string, target Target) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]Target{}
	}
	t.of[service] = target
}

// Takes reports whether there is a target for the service of an ARN.
func (t *Targets) Takes(arn string) bool {
	a, ok := aws.ParseARN(arn)
	return ok && t.target(a.Service) != nil
}

// Services are the names of the services that take messages, sorted.
func (t *Targets) Services() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Sorted(maps.Keys(t.of))
}

func (t *Targets) target(service string) Target {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.of[service]
}

// Deliver hands a message to the resource of an ARN, and returns when that does not lose it any more. An error is an
// *aws.Error: InvalidParameter for a text that is no ARN or names a service that takes no messages, or that of the
// target's service; or ctx's.
func (t *Targets) Deliver(ctx context.Context, arn string, m *Message) error {
	a, ok := aws.ParseARN(arn)
	if !ok {
		return &aws.Error{Code: "InvalidParameter", Message: "Invalid parameter: " + arn + " is not an ARN"}
	}
	target := t.target(a.Service)
	if target == nil {
		return &aws.Error{Code: "InvalidParameter", Message: "Invalid parameter: nothing can be delivered to " + arn +
			": messages are taken by " + strings.Join(t.Services(), ", ")}
	}
	if err := t.Allowed(ctx, arn); err != nil {
		return err
	}
	return target.Deliver(ctx, a, m)
}

// Letter is a message and what it is for, of those that are delivered together.
type Letter struct {
	To      aws.ARN
	Message *Message
	// From is who delivers it.
	From Sender
}
