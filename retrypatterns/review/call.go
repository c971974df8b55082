package review

import (
	"strings"

	"stepback/asl"
	"stepback/jsonvalue"
)

// call is the call that a Task makes, parsed from its Resource. The zero value means that the state calls nothing.
type call struct {
	function bool   // the Resource is the ARN of a function
	activity bool   // the Resource is the ARN of an activity
	service  string // of an integration: "lambda", "dynamodb"; also for aws-sdk:dynamodb
	action   string // "invoke", "putItem"
	sdk      bool   // aws-sdk:service:action
	pattern  string // "sync", "sync:2", "waitForTaskToken"; empty for request response
	input    jsonvalue.Value
}

func callOf(s *asl.State) call {
	c := call{}
	if v := s.Parameters; v != nil {
		c.input = *v
	} else if v := s.Arguments; v != nil {
		c.input = *v
	}
	parts := strings.SplitN(s.Resource, ":", 6)
	if len(parts) < 6 {
		return c
	}
	rest := parts[5]
	switch {
	case parts[2] == "lambda":
		c.function = true
		return c
	case strings.HasPrefix(rest, "activity:"):
		c.activity = true
		return c
	}
	for _, p := range []string{"sync:2", "sync", "waitForTaskToken"} {
		if body, ok := strings.CutSuffix(rest, "."+p); ok {
			rest, c.pattern = body, p
			break
		}
	}
	rest, c.sdk = cutPrefix(rest, "aws-sdk:")
	c.service, c.action, _ = strings.Cut(rest, ":")
	return c
}

func cutPrefix(s, prefix string) (string, bool) {
	return strings.TrimPrefix(s, prefix), strings.HasPrefix(s, prefix)
}

// lambda reports whether the call runs a function and waits for its response or its token.
func (c *call) lambda() bool { return c.function || c.service == "lambda" && c.action == "invoke" }

// is reports whether the call is the given action, as an optimized integration or through the SDK.
func (c *call) is(service, action string) bool { return c.service == service && c.action == action }

// jobs reports whether the call starts a job and the state waits for the job's end.
func (c *call) jobs() bool { return strings.HasPrefix(c.pattern, "sync") }

// waits reports whether the task ends when an activity worker or the holder of a task token reports it.
func (c *call) waits() bool { return c.activity || c.pattern == "waitForTaskToken" }

// has reports whether the parameters have a member, as a value or as a path.
func (c *call) has(name string) bool {
	_, plain := c.input.Get(name)
	_, path := c.input.Get(name + ".$")
	return plain || path
}

// open reports whether the parameters are a single expression, so that they are unknown before it is evaluated.
func (c *call) open() bool { return c.input.Kind() == jsonvalue.String }

// text returns a literal string member of the parameters; false if it is missing or computed when the state runs.
func (c *call) text(name string) (string, bool) {
	v, ok := c.input.Get(name)
	if !ok || v.Kind() != jsonvalue.String || strings.HasPrefix(v.Text(), "{%") {
		return "", false
	}
	return v.Text(), true
}

// named returns the call as it is written in a Resource, such as sqs:sendMessage.
func (c *call) named() string { return c.service + ":" + c.action }

// callee identifies the service, function or resource that the call reaches, so that states with the same callee
// can be compared. It is empty if it is unknown.
func (s *subject) callee() string {
	switch {
	case s.function, s.activity:
		return s.Resource
	case s.service == "":
		return ""
	}
	for _, name := range []string{"FunctionName", "TableName", "QueueUrl", "TopicArn", "StateMachineArn",
		"ApiEndpoint"} {
		if text, ok := s.text(name); ok {
			return s.named() + " " + text
		}
	}
	return s.named()
}

// tokens lists, for actions that start or send something, the members by which a service recognises a repeated
// call.
var tokens = map[string][]string{
	"sns:publish":                      {"MessageDeduplicationId"},
	"sqs:sendMessage":                  {"MessageDeduplicationId"},
	"glue:startJobRun":                 {"JobRunId"},
	"ecs:runTask":                      {"ClientToken"},
	"batch:submitJob":                  nil,
	"codebuild:startBuild":             {"IdempotencyToken"},
	"codebuild:startBuildBatch":        {"IdempotencyToken"},
	"events:putEvents":                 nil,
	"ec2:runInstances":                 {"ClientToken"},
	"athena:startQueryExecution":       {"ClientRequestToken"},
	"emr-serverless:startJobRun":       {"ClientToken"},
	"emr-containers:startJobRun":       {"ClientToken"},
	"databrew:startJobRun":             nil,
	"elasticmapreduce:addStep":         nil,
	"mediaconvert:createJob":           {"ClientRequestToken"},
	"sqs:sendMessageBatch":             nil,
	"sns:publishBatch":                 nil,
	"kinesis:putRecord":                nil,
	"kinesis:putRecords":               nil,
	"ses:sendEmail":                    nil,
	"sesv2:sendEmail":                  nil,
	"transcribe:startTranscriptionJob": {"TranscriptionJobName"},
}

// lookUp is the hint for calls that have no token.
const lookUp = "look first whether the work is done, or make the receiver idempotent"

// repeats reports whether repeating the call does the work twice. hint describes how to prevent that.
func (c *call) repeats() (twice bool, hint string) {
	if c.open() {
		return false, ""
	}
	if c.is("http", "invoke") {
		method, _ := c.text("Method")
		headers, _ := c.input.Get("Headers")
		for _, key := range headers.Keys() {
			if strings.EqualFold(strings.TrimSuffix(key, ".$"), "Idempotency-Key") {
				return false, ""
			}
		}
		return method == "POST" || method == "PATCH", "send an Idempotency-Key header made from the input"
	}
	return RepeatsWork(c.service, c.action, c.has, c.text)
}

// RepeatsWork reports whether a second call of an AWS action does the work twice. The service and the action are those
// of Step Functions' integrations, such as sqs and sendMessage; other calls count as idempotent. has reports whether
// the call has a parameter, and text returns a parameter that is a literal string; both take names as AWS's API spells
// them, with a capital. hint describes how to prevent the repetition.
func RepeatsWork(service, action string, has func(name string) bool, text func(name string) (string, bool)) (twice bool,
	hint string) {
	if names, ok := tokens[service+":"+action]; ok {
		for _, n := range names {
			if has(n) {
				return false, ""
			}
		}
		if len(names) == 0 {
			return true, lookUp
		}
		return true, "give it " + names[0] + " from the input, or " + lookUp
	}
	if service == "dynamodb" && action == "updateItem" && !has("ConditionExpression") {
		expression, _ := text("UpdateExpression")
		upper := strings.ToUpper(expression)
		counts := strings.HasPrefix(upper, "ADD ") || strings.Contains(upper, " ADD ") ||
			strings.Contains(expression, " + ") || strings.Contains(upper, "LIST_APPEND")
		return counts, "add a ConditionExpression that refuses the second time"
	}
	return false, ""
}
