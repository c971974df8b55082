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
