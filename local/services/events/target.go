package events

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/jsonvalue"
	"stepback/local/services/delivery"
	"stepback/local/services/dispatch"
)

// maxTargets is the maximum number of targets per rule.
const maxTargets = 5

// targetSpec holds the members of a target that are supported.
type targetSpec struct {
	ID               string `json:"Id"`
	ARN              string `json:"Arn"`
	RoleArn          string
	Input            *string
	InputPath        *string
	InputTransformer *struct {
		Paths    map[string]string `json:"InputPathsMap"`
		Template string            `json:"InputTemplate"`
	}
	SqsParameters struct {
		MessageGroupID string `json:"MessageGroupId"`
	}
	HTTPParameters   *httpParameters `json:"HttpParameters"`
	DeadLetterConfig deadLetterConfig
	RetryPolicy      struct{ MaximumRetryAttempts, MaximumEventAgeInSeconds *int64 }
}

// httpParameters holds the parameters that a rule adds to the request of an API destination.
type httpParameters struct {
	PathParameterValues   []string
	HeaderParameters      map[string]string
	QueryStringParameters map[string]string
}

// target is a compiled target of a rule.
type target struct {
	targetSpec
	document jsonvalue.Value // verbatim
	input    input
}

// newTarget parses a target from its JSON document.
func newTarget(r *rule, text []byte) (*target, error) {
	v, err := jsonvalue.Parse(string(text))
	if err != nil {
		return nil, err
	}
	t := &target{document: v}
	if err := server.Fill(&t.targetSpec, v); err != nil {
		return nil, err
	}
	t.input, err = t.compile(r)
	return t, err
}

// letter returns the message that the target receives for an event, or nil if its input cannot be rendered.
func (t *target) letter(r *rule, e *event) *dispatch.Letter {
	body, ok := t.input.render(e)
	if !ok {
		return nil
	}
	l := &dispatch.Letter{To: t.ARN, Age: int64(dispatch.DefaultAge.Seconds()), Attempts: dispatch.DefaultAttempts,
		DeadLetters: t.DeadLetterConfig.ARN, Labels: map[string]string{"RULE_ARN": r.arn, "TARGET_ARN": t.ARN}}
	l.Message.Body = body
	l.From = delivery.Sender{Service: "events.amazonaws.com", Source: r.arn, Role: t.RoleArn}
	if n := t.RetryPolicy.MaximumRetryAttempts; n != nil {
		l.Attempts = int(*n)
	}
	if n := t.RetryPolicy.MaximumEventAgeInSeconds; n != nil {
		l.Age = *n
	}
	if l.DeadLetters != "" && !t.input.whole() {
		l.Original = e.text()
	}
	arn, _ := aws.ParseARN(t.ARN)
	switch arn.Service {
	case "sqs":
		l.Message.Group = t.SqsParameters.MessageGroupID
		if l.Message.Group != "" {
			l.Message.Deduplication = e.name() + "-" + t.ID
		}
	case "states": // named, so that one event does not start two executions
		l.Message.Name = e.name() + "_" + nameOf(r.arn+"\x00"+t.ID)
	case "events":
		l.Owner = t.requestParameters(e)
	}
	return l
}

type putTargetsRequest struct {
	Rule, EventBusName string
	Targets            []jsonvalue.Value
}

type failedEntry struct {
	TargetID     string `json:"TargetId"`
	ErrorCode    string
	ErrorMessage string
}

type failedAnswer struct {
	FailedEntryCount int
	FailedEntries    []failedEntry
}

func (s *Service) putTargets(_ context.Context, scope aws.Scope, in *putTargetsRequest) (*failedAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, r, err := s.rule(scope, in.EventBusName, in.Rule)
	if err != nil {
		return nil, err
	}
	record := r.ruleRecord
	record.Targets = slices.Clone(r.Targets)
	ids := map[string]int{}
	for i, t := range r.targets {
		ids[t.ID] = i
	}
	for _, v := range in.Targets {
		text := []byte(v.JSON())
		t, err := newTarget(r, text)
		if err == nil {
			err = s.check(t)
		}
		if err != nil {
			return nil, err
		}
		if i, ok := ids[t.ID]; ok {
			record.Targets[i] = text
			continue
		}
		ids[t.ID] = len(record.Targets)
		record.Targets = append(record.Targets, text)
	}
	if len(record.Targets) > maxTargets {
		return nil, &aws.Error{Code: "LimitExceededException",
			Message: "The requested resource exceeds the maximum number allowed."}
	}
	if _, err := s.replace(b, record); err != nil {
		return nil, err
	}
	return &failedAnswer{FailedEntries: []failedEntry{}}, nil
}

// check rejects targets that cannot be delivered to. mu is held.
func (s *Service) check(t *target) error {
	arn, ok := aws.ParseARN(t.ARN)
	if !ok {
		return invalid("Parameter %s is not valid. Reason: Provided Arn is not in correct format.", t.ARN)
	}
	kind, _, _ := strings.Cut(arn.Resource, "/")
	switch {
	case arn.Service == "events" && kind == "event-bus":
	case arn.Service == "events" && kind == "api-destination":
	case arn.Service == "events":
		return invalid("Parameter %s is not valid. Reason: Provided Arn is not in correct format.", t.ARN)
	case !s.o.Targets.Takes(t.ARN):
		return invalid("Target %s is not supported here: rules can send to event buses, API destinations and %s.", t.ARN,
			strings.Join(s.o.Targets.Services(), ", "))
	}
	if needsRole := arn.Service == "states" || arn.Service == "events"; needsRole && t.RoleArn == "" {
		return invalid("RoleArn is required for target %s.", t.ARN)
	}
	fifo := arn.Service == "sqs" && strings.HasSuffix(arn.Resource, ".fifo")
	if fifo && t.SqsParameters.MessageGroupID == "" {
		return invalid("Parameter(s) SqsParameters must be specified for target: %s.", t.ID)
	}
	if dead, ok := aws.ParseARN(t.DeadLetterConfig.ARN); t.DeadLetterConfig.ARN != "" && (!ok || dead.Service != "sqs") {
		return invalid("Parameter %s is not valid. Reason: Provided Arn is not in correct format.", t.DeadLetterConfig.ARN)
	}
	return nil
}

type removeTargetsRequest struct {
	Rule, EventBusName string
	IDs                []string `json:"Ids"`
}

func (s *Service) removeTargets(_ context.Context, scope aws.Scope, in *removeTargetsRequest) (*failedAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, r, err := s.rule(scope, in.EventBusName, in.Rule)
	if err != nil {
		return nil, err
	}
	answer := &failedAnswer{FailedEntries: []failedEntry{}}
	record := r.ruleRecord
	record.Targets = nil
	for i, t := range r.targets {
		if !slices.Contains(in.IDs, t.ID) {
			record.Targets = append(record.Targets, r.Targets[i])
		}
	}
	for _, id := range in.IDs {
		if !slices.ContainsFunc(r.targets, func(t *target) bool { return t.ID == id }) {
			answer.FailedEntries = append(answer.FailedEntries, failedEntry{id, "ResourceNotFoundException",
				fmt.Sprintf("Rule '%s' does not have a target with the Id '%s'.", r.Name, id)})
		}
	}
	answer.FailedEntryCount = len(answer.FailedEntries)
	_, err = s.replace(b, record)
	return answer, err
}

type listTargetsRequest struct {
	paged
	Rule, EventBusName string
}

type targetsAnswer struct {
	Targets   []json.RawMessage
	NextToken string `json:",omitempty"`
}

func (s *Service) listTargetsByRule(_ context.Context, scope aws.Scope, in *listTargetsRequest) (*targetsAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, r, err := s.rule(scope, in.EventBusName, in.Rule)
	if err != nil {
		return nil, err
	}
	sorted := slices.Clone(r.targets)
	slices.SortFunc(sorted, func(x, y *target) int { return strings.Compare(x.ID, y.ID) })
	part, next, err := page(s, in.paged, []string{"ListTargetsByRule", r.arn}, sorted, func(t *target) string { return t.ID })
	answer := &targetsAnswer{Targets: []json.RawMessage{}, NextToken: next}
	for _, t := range part {
		answer.Targets = append(answer.Targets, json.RawMessage(t.document.JSON()))
	}
	return answer, err
}
