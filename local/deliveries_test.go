package local_test

import (
	"fmt"
	"strings"
	"testing"

	"stepback/local"
)

// enforced calls a platform whose policies are enforced, as the account's root user.
type enforced struct{ stacks }

func enforce(t *testing.T) enforced {
	t.Helper()
	return enforced{stacksOf(t, open(t, local.Config{EnforceIAM: true}))}
}

func (e enforced) must(service, operation string, in map[string]any) map[string]any {
	e.t.Helper()
	out, err := e.try(service, operation, in)
	if err != nil {
		e.t.Fatal(service, operation, err)
	}
	return out
}

// queue creates a queue and returns its URL.
func (e enforced) queue(name string) string {
	e.t.Helper()
	url, _ := e.must("sqs", "CreateQueue", map[string]any{"QueueName": name})["QueueUrl"].(string)
	return url
}

// lets allows a service to send messages to a queue for a source.
func (e enforced) lets(url, service, source string) {
	e.t.Helper()
	e.must(
		"sqs",
		"SetQueueAttributes",
		map[string]any{"QueueUrl": url, "Attributes": map[string]any{"Policy": `{"Version":"2012-10-17",` +
			`"Statement":[{"Effect":"Allow","Principal":{"Service":"` + service + `"},"Action":"sqs:SendMessage","Resource":"*",` +
			`"Condition":{"ArnEquals":{"aws:SourceArn":"` + source + `"}}}]}`}},
	)
}

// received returns the bodies of up to ten messages of a queue, waiting for them if wait is set.
func (e enforced) received(url string, wait bool) (bodies []string) {
	e.t.Helper()
	in := map[string]any{"QueueUrl": url, "MaxNumberOfMessages": 10, "WaitTimeSeconds": 0}
	if wait {
		in["WaitTimeSeconds"] = 20
	}
	list, _ := e.must("sqs", "ReceiveMessage", in)["Messages"].([]any)
	for _, m := range list {
		body, _ := m.(map[string]any)["Body"].(string)
		bodies = append(bodies, body)
	}
	return bodies
}

// role creates a role that a service may assume, without permissions.
func (e enforced) role(name, service string) string {
	e.t.Helper()
	e.must(
		"iam",
		"CreateRole",
		map[string]any{"RoleName": name, "AssumeRolePolicyDocument": `{"Version":"2012-10-17","Statement":[` +
			`{"Effect":"Allow","Principal":{"Service":"` + service + `"},"Action":"sts:AssumeRole"}]}`},
	)
	return "arn:aws:iam::000000000000:role/" + name
}

func (e enforced) allow(role, action string) {
	e.t.Helper()
	e.must(
		"iam",
		"PutRolePolicy",
		map[string]any{"RoleName": role, "PolicyName": "p", "PolicyDocument": `{"Version":"2012-10-17",` +
			`"Statement":[{"Effect":"Allow","Action":"` + action + `","Resource":"*"}]}`},
	)
}

func TestTopicsNeedTheQueuesPolicy(t *testing.T) {
	t.Parallel()
	e := enforce(t)
	url := e.queue("orders")
	const topic = "arn:aws:sns:us-east-1:000000000000:placed"
	e.must("sns", "CreateTopic", map[string]any{"Name": "placed"})
	e.must("sns", "Subscribe", map[string]any{"TopicArn": topic, "Protocol": "sqs",
		"Endpoint": "arn:aws:sqs:us-east-1:000000000000:orders", "Attributes": map[string]any{"RawMessageDelivery": "true"}})
	for _, c := range []struct {
		source, message string
		arrives         bool
	}{{"", "no policy", false}, {topic + "-other", "another topic", false}, {topic, "this topic", true}} {
		if c.source != "" {
			e.lets(url, "sns.amazonaws.com", c.source)
		}
		e.must("sns", "Publish", map[string]any{"TopicArn": topic, "Message": c.message})
		if got := e.received(url, false); c.arrives && (len(got) != 1 || got[0] != c.message) ||
			!c.arrives && len(got) != 0 {
			t.Errorf("%s: received %q", c.message, got)
		}
	}
}

func TestBucketsNeedTheQueuesPolicy(t *testing.T) {
	t.Parallel()
	e := enforce(t)
	url := e.queue("uploads")
	e.must("s3", "CreateBucket", map[string]any{"Bucket": "files"})
	in := map[string]any{
		"Bucket": "files",
		"NotificationConfiguration": map[string]any{"QueueConfigurations": []any{map[string]any{
			"QueueArn": "arn:aws:sqs:us-east-1:000000000000:uploads", "Events": []any{"s3:ObjectCreated:*"}}}},
	}
	const refusal = "s3.amazonaws.com is not authorized to perform: sqs:SendMessage"
	if _, err := e.try("s3", "PutBucketNotificationConfiguration", in); err == nil ||
		!strings.Contains(err.Error(), refusal) {
		t.Errorf("without a policy: %v", err)
	}
	e.lets(url, "s3.amazonaws.com", "arn:aws:s3:::files")
	e.must("s3", "PutBucketNotificationConfiguration", in)
	e.must("s3", "PutObject", map[string]any{"Bucket": "files", "Key": "a"})
	if got := e.received(url, true); len(got) != 2 || !strings.Contains(got[1], `"key":"a"`) {
		t.Errorf("received %q", got)
	}
}

func TestRulesNeedPoliciesAndRoles(t *testing.T) {
	t.Parallel()
	e := enforce(t)
	dead := e.queue("dead")
	const rule = "arn:aws:events:us-east-1:000000000000:rule/placed"
	e.lets(dead, "events.amazonaws.com", rule)
	role := e.role("starter", "events.amazonaws.com")
	machine := e.must("sfn", "CreateStateMachine", map[string]any{"name": "m", "roleArn": e.role("machine", "states.amazonaws.com"),
		"definition": `{"StartAt":"P","States":{"P":{"Type":"Succeed"}}}`})["stateMachineArn"]
	started := e.queue("started")
	e.lets(started, "events.amazonaws.com", rule+"2")
	e.must("eventbridge", "PutRule", map[string]any{"Name": "placed", "EventPattern": `{"source":["shop"]}`})
	e.must(
		"eventbridge",
		"PutTargets",
		map[string]any{"Rule": "placed", "Targets": []any{map[string]any{"Id": "m", "Arn": machine,
			"RoleArn": role, "DeadLetterConfig": map[string]any{"Arn": "arn:aws:sqs:us-east-1:000000000000:dead"}}}},
	)
	e.must(
		"eventbridge",
		"PutRule",
		map[string]any{
			"Name":         "placed2",
			"EventPattern": `{"source":["aws.states"],"detail":{"status":["SUCCEEDED"]}}`,
		},
	)
	e.must("eventbridge", "PutTargets", map[string]any{"Rule": "placed2", "Targets": []any{map[string]any{"Id": "q",
		"Arn": "arn:aws:sqs:us-east-1:000000000000:started"}}})
	send := func() {
		t.Helper()
		e.must(
			"eventbridge",
			"PutEvents",
			map[string]any{"Entries": []any{map[string]any{"Source": "shop", "DetailType": "placed",
				"Detail": `{}`}}},
		)
	}
	send()
	if got := e.received(dead, true); len(got) != 1 {
		t.Errorf("dead letters %q", got)
	}
	e.allow("starter", "states:StartExecution")
	send()
	if got := e.received(started, true); len(got) != 1 {
		t.Errorf("started %q", got)
	}
}

func TestStacksAreMadeInTheirRole(t *testing.T) {
	t.Parallel()
	e := enforce(t)
	role := e.role("maker", "cloudformation.amazonaws.com")
	in := map[string]any{
		"StackName":    "one",
		"RoleARN":      role,
		"TemplateBody": `{"Resources":{"Q":{"Type":"AWS::SQS::Queue"}}}`,
	}
	e.call("CreateStack", in)
	status, _ := e.settled("one")
	const refusal = "User: arn:aws:sts::000000000000:assumed-role/maker/AWSCloudFormation is not authorized to perform: sqs:CreateQueue"
	if events := fmt.Sprint(e.events("one")); status != "ROLLBACK_COMPLETE" || !strings.Contains(events, refusal) {
		t.Errorf("%s: %s", status, events)
	}
	e.allow("maker", "sqs:*")
	in["StackName"] = "two"
	e.call("CreateStack", in)
	if status, reason := e.settled("two"); status != "CREATE_COMPLETE" {
		t.Error(status, reason, e.events("two"))
	}
}

func TestHTTPTasksNeedPermission(t *testing.T) {
	t.Parallel()
	e := enforce(t)
	role := e.role("caller", "states.amazonaws.com")
	e.must(
		"eventbridge",
		"CreateConnection",
		map[string]any{"Name": "c", "AuthorizationType": "API_KEY", "AuthParameters": map[string]any{
			"ApiKeyAuthParameters": map[string]any{"ApiKeyName": "k", "ApiKeyValue": "v"}}},
	)
	connection := e.must("eventbridge", "DescribeConnection", map[string]any{"Name": "c"})["ConnectionArn"]
	state := fmt.Sprintf(
		`{"Type":"Task","Resource":"arn:aws:states:::http:invoke","Parameters":{"ApiEndpoint":"https://127.0.0.1:1/",`+
			`"Method":"GET","Authentication":{"ConnectionArn":%q}},"End":true}`,
		connection,
	)
	const who = "User: arn:aws:sts::000000000000:assumed-role/caller/StepFunctions is not authorized to perform: "
	for _, c := range []struct{ allowed, name, cause string }{
		{"", "States.Permissions", who + "states:InvokeHTTPEndpoint on resource: arn:aws:states:us-east-1:000000000000:stateMachine:"},
		{"states:InvokeHTTPEndpoint", "States.Permissions", who + "events:RetrieveConnectionCredentials"},
		{`states:InvokeHTTPEndpoint","events:RetrieveConnectionCredentials`, "States.Permissions", who + "secretsmanager:GetSecretValue"},
		{"*", "States.Http.Socket", ""},
	} {
		if c.allowed != "" {
			e.must(
				"iam",
				"PutRolePolicy",
				map[string]any{"RoleName": "caller", "PolicyName": "p", "PolicyDocument": `{"Version":"2012-10-17",` +
					`"Statement":[{"Effect":"Allow","Action":["` + c.allowed + `"],"Resource":"*"}]}`},
			)
		}
		out := e.must("sfn", "TestState", map[string]any{"definition": state, "roleArn": role})
		name, _ := out["error"].(string)
		cause, _ := out["cause"].(string)
		if name != c.name || !strings.HasPrefix(cause, c.cause) {
			t.Errorf("%s: %s: %s", c.allowed, name, cause)
		}
	}
}
