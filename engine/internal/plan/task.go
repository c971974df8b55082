package plan

import (
	"slices"
	"strings"

	"stepback/asl"
	"stepback/aws"
	"stepback/engine/history"
)

// Target is the kind of resource that a Task's Resource names.
type Target uint8

// The kinds of resources.
const (
	Integration Target = iota // arn:aws:states:::service:action[.pattern]
	Function                  // the ARN of a Lambda function
	Activity                  // the ARN of an activity
)

// Pattern is the integration pattern of a service integration.
type Pattern string

// The integration patterns.
const (
	RequestResponse  Pattern = ""
	Sync             Pattern = "sync"
	Sync2            Pattern = "sync:2"
	WaitForTaskToken Pattern = "waitForTaskToken"
)

// Task is the resource that a Task state calls.
type Task struct {
	Resource string
	Target   Target
	// Service and Action identify an integration: "lambda" and "invoke", "aws-sdk:s3" and "getObject".
	Service, Action string
	Pattern         Pattern
	Timeout         Number
	Heartbeat       Number
	Credentials     *Payload
	// StartedDetails are the details shared by all TaskStarted, TaskSubmitted and TaskSucceeded events of an
	// integration.
	StartedDetails *history.Details
}

// HistoryResource returns the resource name in history events: the action with its pattern.
func (t *Task) HistoryResource() string {
	if t.Pattern == RequestResponse {
		return t.Action
	}
	return t.Action + "." + string(t.Pattern)
}

func task(s *asl.State) (*Task, error) {
	t := ResourceOf(s.Resource)
	t.StartedDetails = &history.Details{Resource: t.HistoryResource(), ResourceType: t.Service}
	d := dialect(s.QueryLanguage)
	var err error
	if t.Timeout, err = d.number("", "TimeoutSeconds", s.TimeoutSeconds); err != nil {
		return nil, err
	}
	if t.Heartbeat, err = d.number("", "HeartbeatSeconds", s.HeartbeatSeconds); err != nil {
		return nil, err
	}
	t.Credentials, err = d.payload("Credentials", s.Credentials)
	return t, err
}

// ResourceOf parses a Resource. The returned Task has the target and, for an integration, the service, action and
// pattern.
func ResourceOf(resource string) *Task {
	t := &Task{Resource: resource}
	t.resource()
	return t
}

// resource parses an ARN: arn:partition:service:region:account:rest.
func (t *Task) resource() {
	arn, ok := aws.ParseARN(t.Resource)
	if !ok {
		return
	}
	rest := arn.Resource
	switch {
	case arn.Service == "lambda":
		t.Target = Function
	case arn.Service == "states" && strings.HasPrefix(rest, "activity:"):
		t.Target = Activity
	default:
		t.integration(rest)
	}
}

func (t *Task) integration(rest string) {
	for _, p := range []Pattern{Sync2, Sync, WaitForTaskToken} {
		if body, ok := strings.CutSuffix(rest, "."+string(p)); ok {
			rest, t.Pattern = body, p
			break
		}
	}
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		t.Service, t.Action = rest[:i], rest[i+1:]
	}
}

// Tokens reports whether each attempt of the task has a task token. For activities and the token pattern a worker
// completes the task with it; for a job it can end the wait early.
func (t *Task) Tokens() bool { return t.Target == Activity || t.Pattern != RequestResponse }

// tokens reports whether a task of the state, or of a scope that the state runs in the same execution, has task
// tokens.
func (s *State) tokens() bool {
	if s.Task != nil && s.Task.Tokens() || s.Map != nil && !s.Map.Distributed && s.Map.Processor.Tokens {
		return true
	}
	return slices.ContainsFunc(s.Branches, func(g *Graph) bool { return g.Tokens })
}
