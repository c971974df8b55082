package engine

import (
	"fmt"
	"maps"
	"strings"

	"stepback/internal/lazyregexp"
)

// Integrations routes each task to the Integration that executes it, by the service and the action in the task's
// Resource. If several handlers match, the most specific one is used:
//
//  1. the one for exactly this service and action: Handle("sns", "publish", h)
//  2. the one for all actions of the service: Handle("sns", "*", h)
//  3. for an AWS SDK integration, the one for all services of the SDK: Handle("aws-sdk", "*", h)
//
// The order of the registrations does not matter. A task that no handler matches fails with States.Runtime, and the
// cause names its Resource.
//
// The zero Integrations has no handlers. It may be used by several goroutines once all handlers are registered.
type Integrations struct {
	handlers  map[route]Integration
	functions Integration
}

type route struct{ service, action string }

// String returns the route as a Resource spells it: service:action.
func (r route) String() string { return r.service + ":" + r.action }

// anyAction is the action of a handler for all actions of its service.
const anyAction = "*"

// sdk is the service of a handler for all AWS SDK integrations. It is also the prefix of the service of a single
// one.
const sdk = "aws-sdk"

// functionsName names the handler of HandleFunctions.
const functionsName = "function"

var (
	serviceName = lazyregexp.New(`^(` + sdk + `:)?[A-Za-z0-9-]+$`)
	actionName  = lazyregexp.New(`^[A-Za-z0-9]+$`)
)

// Handle registers h for the tasks whose Resource is arn:aws:states:::service:action, optionally followed by a
// pattern (.sync, .waitForTaskToken). The action "*" stands for every action of the service. For an AWS SDK
// integration, the service is "aws-sdk:" and the SDK's name of the service, such as "aws-sdk:dynamodb". The service
// "aws-sdk" with the action "*" stands for all of them.
//
// Handle returns m, so that registrations can be chained. Like http.ServeMux, it panics if h is nil, if no Resource
// can ever match the service and the action, or if they already have a handler. The message names the registration.
func (m *Integrations) Handle(service, action string, h Integration) *Integrations {
	r := route{service, action}
	if why := r.problem(); why != "" {
		panic(fmt.Sprintf("engine: Handle(%q, %q): %s", service, action, why))
	}
	if h == nil {
		panic(fmt.Sprintf("engine: Handle(%q, %q): the integration is nil", service, action))
	}
	if before := m.handlers[r]; before != nil {
		panic(fmt.Sprintf("engine: Handle(%q, %q): a %T handles it already", service, action, before))
	}
	if m.handlers == nil {
		m.handlers = map[route]Integration{}
	}
	m.handlers[r] = h
	return m
}

// problem returns the reason why no Resource can match the route; empty if one can.
func (r route) problem() string {
	before, pattern, hasPattern := strings.Cut(r.action, ".")
	switch {
	case hasPattern:
		return fmt.Sprintf("a handler gets the tasks of every pattern: register %q without .%s", before, pattern)
	case r.service == sdk && r.action != anyAction:
		return `an AWS SDK integration has a service: register "aws-sdk:SERVICE", or the action "*" for all services`
	case !serviceName.MatchString(r.service):
		return fmt.Sprintf("no Resource has a service %q", r.service)
	case r.action != anyAction && !actionName.MatchString(r.action):
		return fmt.Sprintf("no Resource has an action %q", r.action)
	}
	return ""
}

// HandleFunctions registers h for the tasks whose Resource is the ARN of a Lambda function. Tasks with the Resource
// arn:aws:states:::lambda:invoke go to the handler of Handle("lambda", "invoke", h) instead. HandleFunctions
// returns m. It panics if h is nil or functions already have a handler.
func (m *Integrations) HandleFunctions(h Integration) *Integrations {
	if h == nil {
		panic("engine: HandleFunctions: the integration is nil")
	}
	if m.functions != nil {
		panic(fmt.Sprintf("engine: HandleFunctions: a %T handles functions already", m.functions))
	}
	m.functions = h
	return m
}

// Handler returns the integration for a task of this service and action, by the precedence above; nil if there is none.
// A nil m has no handlers.
func (m *Integrations) Handler(service, action string) Integration {
	if m == nil {
		return nil
	}
	if h := m.handlers[route{service, action}]; h != nil {
		return h
	}
	if h := m.handlers[route{service, anyAction}]; h != nil {
		return h
	}
	if strings.HasPrefix(service, sdk+":") {
		return m.handlers[route{sdk, anyAction}]
	}
	return nil
}

// FunctionHandler returns the integration registered by HandleFunctions; nil if there is none.
func (m *Integrations) FunctionHandler() Integration {
	if m == nil {
		return nil
	}
	return m.functions
}

// Wrap replaces every handler by the one that f returns for it, such as one that measures or injects faults. name
// is "service:action", "service:*", "aws-sdk:*", or "function" for the handler of functions. Handlers that are
// registered later are not wrapped.
func (m *Integrations) Wrap(f func(name string, h Integration) Integration) {
	for r, h := range m.handlers {
		m.handlers[r] = f(r.String(), h)
	}
	if m.functions != nil {
		m.functions = f(functionsName, m.functions)
	}
}

// Clone returns a copy with the same handlers. The copy of a nil m has none.
func (m *Integrations) Clone() *Integrations {
	if m == nil {
		return new(Integrations)
	}
	return &Integrations{handlers: maps.Clone(m.handlers), functions: m.functions}
}
