package local_test

import (
	"regexp"
	"testing"
)

// TestAttributesOfResources reads attributes that the schemas of AWS's registry define and few templates use.
func TestAttributesOfResources(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "facts", "Capabilities": []string{"CAPABILITY_IAM"}, "TemplateBody": `{
	"Resources": {
		"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "t", "DisplayName": "shown"}},
		"TopicPolicy": {"Type": "AWS::SNS::TopicPolicy", "Properties": {"Topics": [{"Ref": "Topic"}], "PolicyDocument": {
			"Version": "2012-10-17", "Statement": []}}},
		"Policy": {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": {"Version": "2012-10-17",
			"Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}}},
		"Group": {"Type": "AWS::Scheduler::ScheduleGroup", "Properties": {"Name": "g"}},
		"Connection": {"Type": "AWS::Events::Connection", "Properties": {"Name": "c", "AuthorizationType": "API_KEY",
			"AuthParameters": {"ApiKeyAuthParameters": {"ApiKeyName": "k", "ApiKeyValue": "v"}}}},
		"Table": {"Type": "AWS::DynamoDB::Table", "Properties": {"BillingMode": "PAY_PER_REQUEST",
			"KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
			"AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}]}}},
	"Outputs": {
		"DisplayName": {"Value": {"Fn::GetAtt": ["Topic", "DisplayName"]}},
		"PolicyOfTopic": {"Value": {"Fn::GetAtt": ["TopicPolicy", "Id"]}},
		"Version": {"Value": {"Fn::Sub": "${Policy.DefaultVersionId} ${Policy.AttachmentCount} ${Policy.CreateDate}"}},
		"Group": {"Value": {"Fn::Sub": "${Group.State} ${Group.CreationDate}"}},
		"Connection": {"Value": {"Fn::GetAtt": ["Connection", "ArnForPolicy"]}},
		"Table": {"Value": {"Fn::GetAtt": ["Table", "TableId"]}}}}`})
	if status, reason := s.settled("facts"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("facts"))
	}
	want := map[string]string{"DisplayName": `shown`, "PolicyOfTopic": `facts-TopicPolicy-\w+`,
		"Version": `v1 0 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`, "Group": `ACTIVE 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`,
		"Connection": `arn:aws:events:us-east-1:000000000000:connection/c`, "Table": `[0-9a-f-]{36}`}
	for _, o := range s.call("DescribeStacks", map[string]any{"StackName": "facts"})["Stacks"].([]any)[0].(map[string]any)["Outputs"].([]any) {
		o := o.(map[string]any)
		name, value := o["OutputKey"].(string), o["OutputValue"].(string)
		if !regexp.MustCompile(`^` + want[name] + `$`).MatchString(value) {
			t.Errorf("%s is %s, not like %s", name, value, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("there are no outputs %v", want)
	}
}
