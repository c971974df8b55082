package local_test

import (
	"strings"
	"testing"

	"stepback/local"
	"stepback/local/services/lambda/functions"
)

// taggedStack has resources of types that CloudFormation tags automatically, and a queue, which it does not.
const taggedStack = `{"Parameters": {"Warm": {"Type": "Number", "Default": 1}},
"Conditions": {"IsWarm": {"Fn::Not": [{"Fn::Equals": [{"Ref": "Warm"}, 0]}]}},
"Resources": {
	"Secret": {"Type": "AWS::SecretsManager::Secret", "Properties": {"Name": "key", "Tags": [{"Key": "team", "Value": "a"}]}},
	"Group": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "group", "DeletionProtectionEnabled": true}},
	"Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "queue"}},
	"Version": {"Type": "AWS::Lambda::Version", "Properties": {"FunctionName": "works"}},
	"Live": {"Type": "AWS::Lambda::Alias", "Properties": {"FunctionName": "works", "Name": "live",
		"FunctionVersion": {"Fn::GetAtt": ["Version", "Version"]}, "ProvisionedConcurrencyConfig": {"Fn::If": ["IsWarm",
			{"ProvisionedConcurrentExecutions": {"Ref": "Warm"}}, {"Ref": "AWS::NoValue"}]}}}}}`

const reserved = "aws: prefixed tag key names are not allowed for external use."

// CloudFormation tags the resources that it creates, keeps the tags in an update, and provisions concurrency for an
// alias.
func TestResourcesKnowTheirStack(t *testing.T) {
	t.Parallel()
	works := func(functions.Surroundings) (functions.Program, error) {
		return functions.Program{Handler: func() error { return nil }}, nil
	}
	p := open(t, local.Config{BuiltIn: map[string]functions.BuiltIn{"works": works}})
	s := stacksOf(t, p)
	if err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "works", BuiltIn: "works",
		Role: "arn:aws:iam::000000000000:role/r"}); err != nil {
		t.Fatal(err)
	}
	ask := func(service, operation string, in map[string]any) string {
		out, err := s.try(service, operation, in)
		if err != nil {
			return err.Error()
		}
		return jsonText(out)
	}
	must := func(got, what string, is bool) {
		t.Helper()
		if strings.Contains(got, what) != is {
			t.Errorf("%s in %s: %v", what, got, !is)
		}
	}
	looks := func(warm bool) {
		t.Helper()
		secret := ask("secretsmanager", "DescribeSecret", map[string]any{"SecretId": "key"})
		must(secret, `{"Key":"aws:cloudformation:logical-id","Value":"Secret"}`, true)
		must(secret, `{"Key":"aws:cloudformation:stack-name","Value":"tagged"}`, true)
		must(secret, `{"Key":"team"`, true)
		must(ask("cloudwatchlogs", "ListTagsLogGroup", map[string]any{"logGroupName": "group"}),
			`"aws:cloudformation:stack-id":"arn:aws:cloudformation:us-east-1:000000000000:stack/tagged/`, true)
		url := "http://localhost/000000000000/queue"
		must(ask("sqs", "ListQueueTags", map[string]any{"QueueUrl": url}), "aws:cloudformation", false)
		must(ask("lambda", "GetProvisionedConcurrencyConfig", map[string]any{"FunctionName": "works", "Qualifier": "live"}),
			`"RequestedProvisionedConcurrentExecutions":1`, warm)
	}
	s.call("CreateStack", map[string]any{"StackName": "tagged", "TemplateBody": taggedStack})
	if status, reason := s.settled("tagged"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("tagged"))
	}
	looks(true)
	must(ask("cloudwatchlogs", "DescribeLogGroups", nil), `"deletionProtectionEnabled":true`, true)
	must(ask("secretsmanager", "TagResource", map[string]any{"SecretId": "key", "Tags": []any{
		map[string]any{"Key": "aws:mine", "Value": "x"}}}), "Tag keys can't start with aws:.", true)
	own, lower := []any{map[string]any{"Key": "aws:mine", "Value": "x"}}, []any{map[string]any{"key": "AWS:mine", "value": "x"}}
	for _, c := range []struct {
		service, operation string
		in                 map[string]any
		want               string
	}{
		{"sqs", "TagQueue", map[string]any{"QueueUrl": "http://localhost/000000000000/queue", "Tags": map[string]any{"aws:mine": "x"}},
			"InvalidParameterValue: " + reserved},
		{"sqs", "CreateQueue", map[string]any{"QueueName": "new", "tags": map[string]any{"aws:mine": "x"}}, "InvalidParameterValue: " + reserved},
		{"sns", "CreateTopic", map[string]any{"Name": "new", "Tags": own}, "InvalidParameter: Invalid parameter: Tags Reason: " + reserved},
		{"eventbridge", "PutRule", map[string]any{"Name": "new", "ScheduleExpression": "rate(1 hour)", "Tags": own},
			"ValidationException: " + reserved},
		{"scheduler", "CreateScheduleGroup", map[string]any{"Name": "new", "Tags": own}, "ValidationException: " + reserved},
		{"cloudwatchlogs", "CreateLogGroup", map[string]any{"logGroupName": "new", "tags": map[string]any{"aws:mine": "x"}},
			"InvalidParameterException: " + reserved},
		{"ssm", "PutParameter", map[string]any{"Name": "new", "Value": "x", "Type": "String", "Tags": own}, "ValidationException: " + reserved},
		{"sfn", "CreateActivity", map[string]any{"name": "new", "tags": lower}, "ValidationException: " + reserved},
		{"iam", "TagRole", map[string]any{"RoleName": "new", "Tags": own}, "InvalidInput: " + reserved},
		{"lambda", "TagResource", map[string]any{"Resource": "arn:aws:lambda:us-east-1:000000000000:function:works",
			"Tags": map[string]any{"aws:mine": "x"}}, "InvalidParameterValueException: " + reserved},
		{"cloudformation", "CreateStack", map[string]any{"StackName": "new", "TemplateBody": "{}", "Tags": own}, "ValidationError: " + reserved},
		{"kms", "CreateKey", map[string]any{"Tags": []any{map[string]any{"TagKey": "aws:mine", "TagValue": "x"}}},
			"TagException: Tags beginning with aws: are reserved"},
	} {
		if got := ask(c.service, c.operation, c.in); !strings.Contains(got, ", "+c.want+" (status 400, ") {
			t.Errorf("%s %s: %s, want %s", c.service, c.operation, got, c.want)
		}
	}
	s.call("UpdateStack", map[string]any{"StackName": "tagged", "TemplateBody": strings.ReplaceAll(taggedStack,
		`"DeletionProtectionEnabled": true`, `"DeletionProtectionEnabled": false`), "Parameters": []any{
		map[string]any{"ParameterKey": "Warm", "ParameterValue": "0"}}, "Tags": []any{
		map[string]any{"Key": "cost", "Value": "9"}}})
	if status, reason := s.settled("tagged"); status != "UPDATE_COMPLETE" {
		t.Fatal(status, reason, s.events("tagged"))
	}
	looks(false)
	must(ask("secretsmanager", "DescribeSecret", map[string]any{"SecretId": "key"}), `{"Key":"cost","Value":"9"}`, true)
	s.call("DeleteStack", map[string]any{"StackName": "tagged"})
	if status, reason := s.settled("tagged"); status != "GONE" {
		t.Fatal(status, reason, s.events("tagged"))
	}
}
