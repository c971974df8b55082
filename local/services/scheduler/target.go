package scheduler

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
	"stepback/local/services/delivery"
	"stepback/local/services/dispatch"
)

// target holds the members of a target that are supported.
type target struct {
	ARN              string `json:"Arn"`
	RoleArn          string
	Input            *string
	DeadLetterConfig struct{ Arn string }
	RetryPolicy      struct{ MaximumRetryAttempts, MaximumEventAgeInSeconds *int64 }
	SqsParameters    struct {
		MessageGroupID string `json:"MessageGroupId"`
	}
	EventBridgeParameters *struct{ DetailType, Source string }
}

// universal is the prefix of the ARNs of universal targets.
const universal = "arn:aws:scheduler:::aws-sdk:"

// reading matches the names of read-only actions, which Scheduler does not call.
var reading = lazyregexp.New(`^(get|describe|list|poll|receive|search|scan|query|select|read|lookup|discover|` +
	`validate|batchGet|download|head|check|preview|estimate)([A-Z]|$)`)

// action splits the ARN of a universal target into service and action.
func action(arn string) (service, name string, ok bool) {
	rest, ok := strings.CutPrefix(arn, universal)
	service, name, colon := strings.Cut(rest, ":")
	return service, name, ok && colon
}

// checkTarget returns an error for targets that cannot be delivered to.
func (s *Service) checkTarget(t *target) error {
	if strings.HasPrefix(t.ARN, universal) {
		service, name, ok := action(t.ARN)
		switch {
		case !ok:
			return invalid("Provided Arn is not in correct format: %s.", t.ARN)
		case reading.MatchString(name):
			return invalid("%s is not a supported target action: it only reads.", t.ARN)
		case s.o.Call == nil:
			return invalid("Universal targets are not supported here.")
		}
		if err := s.o.Check(service, name); err != nil {
			return invalid("Provided Arn is not in correct format: %s.", err.Error())
		}
		if t.Input != nil {
			if v, err := jsonvalue.Parse(*t.Input); err != nil || v.Kind() != jsonvalue.Object {
				return invalid("Invalid RequestJson provided. Reason: the Input of a universal target has to be a JSON object.")
			}
		}
		return nil
	}
	arn, ok := aws.ParseARN(t.ARN)
	switch {
	case !ok:
		return invalid("Provided Arn is not in correct format.")
	case slices.Contains(takeJSON, arn.Service) && t.Input != nil && !isJSON(*t.Input):
		return invalid("Invalid RequestJson provided. Reason: the Input of the target has to be JSON.")
	case !s.o.Targets.Takes(t.ARN):
		return invalid("Target %s is not supported here: schedules can send to %s, and to universal targets (%sSERVICE:ACTION).",
			t.ARN, strings.Join(s.o.Targets.Services(), ", "), universal)
	case arn.Service == "events" && t.EventBridgeParameters == nil:
		return invalid("EventBridgeParameters must be provided for the target %s.", t.ARN)
	case arn.Service == "sqs" && strings.HasSuffix(arn.Resource, ".fifo") && t.SqsParameters.MessageGroupID == "":
		return invalid("SqsParameters must be provided for the target %s.", t.ARN)
	}
	return nil
}

// takeJSON lists the services whose targets take a well-formed JSON as their input.
var takeJSON = []string{"lambda", "states", "events"}

// isJSON reports whether an input is JSON, whatever its context attributes are replaced by.
func isJSON(input string) bool {
	_, err := jsonvalue.Parse(strings.NewReplacer("<aws.scheduler.schedule-arn>", "1", "<aws.scheduler.scheduled-time>", "1",
		"<aws.scheduler.execution-id>", "1", attemptNumber, "1").Replace(input))
	return err == nil
}

// attemptNumber is the only context attribute that is not known until a letter is sent.
const attemptNumber = "<aws.scheduler.attempt-number>"

// letter returns the message that is sent to the target at a scheduled time.
func (e *entry) letter(at time.Time) *dispatch.Letter {
	t, execution := &e.target, aws.NewID()
	l := &dispatch.Letter{To: t.ARN, Age: int64(dispatch.DefaultAge.Seconds()), Attempts: dispatch.DefaultAttempts,
		DeadLetters: t.DeadLetterConfig.Arn, Labels: map[string]string{"SCHEDULE_ARN": e.arn, "TARGET_ARN": t.ARN,
			"IS_PAYLOAD_TRUNCATED": "false"}}
	l.From = delivery.Sender{Service: "scheduler.amazonaws.com", Source: e.arn, Role: t.RoleArn}
	if n := t.RetryPolicy.MaximumRetryAttempts; n != nil {
		l.Attempts = int(*n)
	}
	if n := t.RetryPolicy.MaximumEventAgeInSeconds; n != nil {
		l.Age = *n
	}
	scheduled := at.UTC().Format("2006-01-02T15:04:05Z")
	l.Labels["EXECUTION_ID"], l.Labels["SCHEDULED_TIME"] = execution, scheduled
	l.Message.Body = e.usualInput(execution, scheduled)
	if t.Input != nil {
		l.Message.Body = strings.NewReplacer("<aws.scheduler.schedule-arn>", e.arn, "<aws.scheduler.scheduled-time>", scheduled,
			"<aws.scheduler.execution-id>", execution).Replace(*t.Input)
	}
	if arn, _ := aws.ParseARN(t.ARN); arn.Service == "states" {
		l.Message.Name = execution
	}
	if t.SqsParameters.MessageGroupID != "" {
		l.Message.Group, l.Message.Deduplication = t.SqsParameters.MessageGroupID, execution
	}
	if p := t.EventBridgeParameters; p != nil {
		l.Message.Source, l.Message.DetailType, l.Message.Resources = p.Source, p.DetailType, []string{e.arn}
	}
	l.Owner = e.Account + "/" + e.Region
	return l
}

// deadAttributes returns the attributes of a letter in the dead-letter queue that differ from EventBridge's, as the
// user guide shows them ("Configuring a schedule's dead-letter queue").
func deadAttributes(l *dispatch.Letter) map[string]delivery.Attribute {
	code, message := l.Dead.Refusal, l.Dead.Message
	if code == "" {
		code, message = "AWS.Scheduler.InternalServerError", "Unexpected error occurred while processing the request"
	}
	attributes := map[string]delivery.Attribute{}
	for name, value := range map[string]string{"ERROR_CODE": code, "ERROR_MESSAGE": message,
		"RETRY_ATTEMPTS": strconv.Itoa(l.Failed - 1)} {
		attributes[name] = delivery.Attribute{Type: "String", String: value}
	}
	return attributes
}

// usualInput returns the input that targets receive if the schedule has no Input.
func (e *entry) usualInput(execution, scheduled string) string {
	text, err := json.Marshal(struct {
		Version    string   `json:"version"`
		ID         string   `json:"id"`
		DetailType string   `json:"detail-type"`
		Source     string   `json:"source"`
		Account    string   `json:"account"`
		Time       string   `json:"time"`
		Region     string   `json:"region"`
		Resources  []string `json:"resources"`
		Detail     string   `json:"detail"`
	}{"0", execution, "Scheduled Event", "aws.scheduler", e.Account, scheduled, e.Region, []string{e.arn}, "{}"})
	if err != nil {
		return "{}" // strings can always be marshalled
	}
	return string(text)
}

// send delivers a letter to its target.
func (s *Service) send(ctx context.Context, l *dispatch.Letter) error {
	m := l.Message
	m.Body = strings.ReplaceAll(m.Body, attemptNumber, strconv.Itoa(l.Failed+1))
	service, name, ok := action(l.To)
	if !ok {
		return s.o.Targets.Deliver(ctx, l.To, &m)
	}
	input, err := jsonvalue.Parse(m.Body)
	if err != nil {
		return invalid("The Input of the target is not JSON.")
	}
	account, region, _ := strings.Cut(l.Owner, "/")
	return s.o.Call(ctx, aws.Scope{Account: account, Region: region}, service, name, input)
}

// lane returns the target of a letter. The ARN of a universal target names only an action, so its lane is the schedule.
func lane(l *dispatch.Letter) string {
	if strings.HasPrefix(l.To, universal) {
		return l.To + " of " + l.From.Source
	}
	return l.To
}
