package local_test

import (
	"strings"
	"testing"

	"stepback/local"
)

// kept is a template of two existing resources that creates none.
const kept = `{"Resources":{
 "Queue":{"Type":"AWS::SQS::Queue","DeletionPolicy":"Retain","Properties":{"QueueName":"old"}},
 "Table":{"Type":"AWS::DynamoDB::Table","DeletionPolicy":"Retain","Properties":{"TableName":"orders","BillingMode":"PAY_PER_REQUEST",
  "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]}}},
 "Outputs":{"Arn":{"Value":{"Fn::GetAtt":["Queue","Arn"]}},"Table":{"Value":{"Fn::GetAtt":["Table","Arn"]}}}}`

func TestResourcesAreImported(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{})
	s := stacksOf(t, p)
	queue, err := s.try("sqs", "CreateQueue", map[string]any{"QueueName": "old"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.try("dynamodb", "CreateTable", map[string]any{"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": []any{map[string]any{"AttributeName": "id", "AttributeType": "S"}},
		"KeySchema":            []any{map[string]any{"AttributeName": "id", "KeyType": "HASH"}}}); err != nil {
		t.Fatal(err)
	}
	summary := s.call("GetTemplateSummary", map[string]any{"TemplateBody": kept})
	if list, _ := summary["ResourceIdentifierSummaries"].([]any); len(list) != 2 ||
		list[0].(map[string]any)["ResourceIdentifiers"].([]any)[0] != "QueueUrl" {
		t.Errorf("the template's resources are identified by %v", summary["ResourceIdentifierSummaries"])
	}
	both := func(table string) []any {
		return []any{map[string]any{"ResourceType": "AWS::SQS::Queue", "LogicalResourceId": "Queue",
			"ResourceIdentifier": map[string]any{"QueueUrl": queue["QueueUrl"]}},
			map[string]any{"ResourceType": "AWS::DynamoDB::Table", "LogicalResourceId": "Table",
				"ResourceIdentifier": map[string]any{"TableName": table}}}
	}
	set := func(template string, list []any) map[string]any {
		return map[string]any{"StackName": "kept", "ChangeSetName": "bring", "ChangeSetType": "IMPORT", "TemplateBody": template,
			"ResourcesToImport": list}
	}
	for want, in := range map[string]map[string]any{
		"Resources [Table] is missing from ResourceToImport list": set(kept, both("orders")[:1]),
		"The following resources to import [Queue] must have DeletionPolicy attribute specified in the template.": set(
			strings.Replace(kept, `"DeletionPolicy":"Retain",`, "", 1), both("orders")),
		"ResourcesToImport must be specified for change sets of type IMPORT": set(kept, nil),
	} {
		if _, err := s.try("cloudformation", "CreateChangeSet", in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	missing := set(strings.Replace(kept, `"TableName":"orders"`, `"TableName":"nothing"`, 1), both("nothing"))
	s.call("CreateChangeSet", missing)
	s.call("ExecuteChangeSet", map[string]any{"StackName": "kept", "ChangeSetName": "bring"})
	if status, reason := s.settled("kept"); status != "IMPORT_ROLLBACK_COMPLETE" {
		t.Fatal(status, reason, s.events("kept"))
	}
	if events := s.events("kept"); !strings.Contains(events, "Resource of type 'AWS::DynamoDB::Table' with identifier 'nothing' was not found.") {
		t.Error(events)
	}
	if d := s.call("DescribeChangeSet", map[string]any{"StackName": "kept", "ChangeSetName": "bring"}); d["ExecutionStatus"] != "EXECUTE_FAILED" {
		t.Errorf("the change set is %v", d["ExecutionStatus"])
	}
	s.call("CreateChangeSet", set(kept, both("orders")))
	d := s.call("DescribeChangeSet", map[string]any{"StackName": "kept", "ChangeSetName": "bring"})
	for _, c := range d["Changes"].([]any) {
		if c := c.(map[string]any)["ResourceChange"].(map[string]any); c["Action"] != "Import" || c["PhysicalResourceId"] == nil {
			t.Errorf("%v", c)
		}
	}
	s.call("ExecuteChangeSet", map[string]any{"StackName": "kept", "ChangeSetName": "bring"})
	if status, reason := s.settled("kept"); status != "IMPORT_COMPLETE" {
		t.Fatal(status, reason, s.events("kept"))
	}
	if out := s.outputs("kept"); out["Arn"] != "arn:aws:sqs:us-east-1:000000000000:old" ||
		out["Table"] != "arn:aws:dynamodb:us-east-1:000000000000:table/orders" {
		t.Errorf("outputs %v", out)
	}
	// The change set can be described until the stack's next operation.
	if d := s.call("DescribeChangeSet", map[string]any{"StackName": "kept", "ChangeSetName": "bring"}); d["ExecutionStatus"] != "EXECUTE_COMPLETE" {
		t.Errorf("the change set is %v", d["ExecutionStatus"])
	}
	_, err = s.try("cloudformation", "ExecuteChangeSet", map[string]any{"StackName": "kept", "ChangeSetName": "bring"})
	if err == nil || !strings.Contains(err.Error(), "cannot be executed in its current execution status of [EXECUTE_COMPLETE]") {
		t.Error(err)
	}
	s.call("UpdateStack", map[string]any{"StackName": "kept", "TemplateBody": strings.Replace(kept, `"QueueName":"old"`,
		`"QueueName":"old","VisibilityTimeout":77`, 1)})
	if status, reason := s.settled("kept"); status != "UPDATE_COMPLETE" {
		t.Fatal(status, reason, s.events("kept"))
	}
	if _, err := s.try("cloudformation", "DescribeChangeSet", map[string]any{"StackName": "kept", "ChangeSetName": "bring"}); err == nil ||
		!strings.Contains(err.Error(), "ChangeSetNotFound") {
		t.Error(err)
	}
	attributes, err := s.try("sqs", "GetQueueAttributes", map[string]any{"QueueUrl": queue["QueueUrl"], "AttributeNames": []string{"VisibilityTimeout"}})
	if err != nil || attributes["Attributes"].(map[string]any)["VisibilityTimeout"] != "77" {
		t.Errorf("%v, %v", attributes, err)
	}
}
