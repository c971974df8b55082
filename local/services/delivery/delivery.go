// Package delivery delivers messages to the resource of an ARN: a queue, a topic, a function, a state machine, an
// event bus, a log group. Services that have targets (topics, rules, schedules, alarms, destinations, bucket
// notifications) use it instead of calling each other. Each service registers a Target that accepts messages for its
// resources.
//
// The package stores nothing and retries nothing: that is up to the sending service and its own rules. It does not
// check permissions itself; a Judge does, if there is one.
package delivery

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"stepback/aws"
)

// Message is a message for a target.
type Message struct {
	// Body is the text of the message; it must be JSON for functions, state machines and buses.
	Body string
	// Attributes are message attributes, for queues and topics.
	Attributes map[string]Attribute
	// Group and Deduplication are the message group and the deduplication ID, for FIFO queues and topics.
	Group, Deduplication string
	// Subject is the subject of a message to a topic.
	Subject string
	// ByProtocol holds the texts for subscribers of a topic that do not get Body, by their protocol, such as email.
	ByProtocol map[string]string `json:",omitempty"`
	// Name is the name of the execution; empty means a unique one.
	Name string
	// TraceHeader is the X-Ray trace that the message belongs to.
	TraceHeader string
	// Source and DetailType are the source and the detail type of an event for a bus.
	Source, DetailType string
	// Resources are the ARNs of an event's resources, for a bus.
	Resources []string
}

// Attribute is a message attribute. Type is String, Number or Binary, optionally followed by a dot and a label.
// Binary holds the value of a binary attribute; String holds the value of all others.
type Attribute struct {
	Type   string
	String string
	Binary []byte
}

// Target accepts messages for the resources of one service.
type Target interface {
	// Deliver returns when the resource has durably accepted the message. The error is the *aws.Error that the
	// service's API would return, or ctx's error. ByServer reports whether an *aws.Error may be temporary.
	Deliver(ctx context.Context, to aws.ARN, m *Message) error
}

// TargetFunc adapts a function to a Target.
type TargetFunc func(ctx context.Context, to aws.ARN, m *Message) error

// Deliver calls the function.
func (f TargetFunc) Deliver(ctx context.Context, to aws.ARN, m *Message) error { return f(ctx, to, m) }

// Targets holds the services that accept messages, by their names in ARNs: sqs, sns, lambda, states, events, logs.
// The zero value has none. It is safe for concurrent use.
type Targets struct {
	mu    sync.RWMutex
	of    map[string]Target
	judge Judge // nil allows everything
}

// Register sets the target for a service's resources.
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

// Services returns the names of the services that accept messages, sorted.
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

// Deliver delivers a message to the resource of an ARN, and returns when the resource has durably accepted it. The
// error is an *aws.Error: InvalidParameter for a text that is not an ARN or names a service that accepts no messages,
// or the error of the target's service; or ctx's error.
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

// Letter is one of several messages that are delivered together, with its target.
type Letter struct {
	To      aws.ARN
	Message *Message
	// From is the sender.
	From Sender
}
