package local_test

import (
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// A stack with a snippet from S3 and a rule is created, refused and updated after the snippet has changed.
func TestStackIncludesAndRules(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	objects := s3.NewFromConfig(s.cfg, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := objects.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: awssdk.String("snippets")}); err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		t.Helper()
		if _, err := objects.PutObject(t.Context(), &s3.PutObjectInput{Bucket: awssdk.String("snippets"), Key: awssdk.String("queue.yaml"),
			Body: strings.NewReader(text)}); err != nil {
			t.Fatal(err)
		}
	}
	const text = `
Parameters:
  Stage: {Type: String}
Rules:
  Known:
    Assertions:
    - Assert: {"Fn::Contains": [[dev, prod], !Ref Stage]}
      AssertDescription: Stage is dev or prod
Resources:
  Fn::Transform: {Name: AWS::Include, Parameters: {Location: !Sub "s3://${Bucket}/queue.yaml"}}
  Topic: {Type: AWS::SNS::Topic}
Outputs:
  Name: {Value: !GetAtt Queue.QueueName}
`
	template := strings.ReplaceAll(text, "${Bucket}", "snippets")
	in := func(stage string) map[string]any {
		return map[string]any{"StackName": "included", "TemplateBody": template, "Capabilities": []string{"CAPABILITY_AUTO_EXPAND"},
			"Parameters": []any{map[string]any{"ParameterKey": "Stage", "ParameterValue": stage}}}
	}
	refuses := func(operation string, in map[string]any, want string) {
		t.Helper()
		if _, err := s.try("cloudformation", operation, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", operation, err, want)
		}
	}
	refuses("CreateStack", in("dev"), "Transform AWS::Include failed with: S3 error: ")
	put("Queue:\n  Type: AWS::SQS::Queue\n  Properties: {QueueName: !Sub '${Stage}-one'}\n")
	refuses("CreateStack", in("test"), "Template error: the rule Known failed: Stage is dev or prod")
	without := in("dev")
	delete(without, "Capabilities")
	refuses("CreateStack", without, "Requires capabilities : [CAPABILITY_AUTO_EXPAND]")
	s.call("CreateStack", in("dev"))
	if status, reason := s.settled("included"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("included"))
	}
	if got := jsonText(s.call("DescribeStacks", map[string]any{"StackName": "included"})); !strings.Contains(got, `"OutputValue":"dev-one"`) {
		t.Error(got)
	}
	if got := jsonText(s.call("GetTemplate", map[string]any{"StackName": "included", "TemplateStage": "Processed"})); !strings.Contains(got, `${Stage}-one`) ||
		strings.Contains(got, "Fn::Transform") {
		t.Error(got)
	}
	if got := jsonText(s.call("GetTemplateSummary", map[string]any{"TemplateBody": template})); !strings.Contains(got, `"AWS::SQS::Queue"`) {
		t.Error(got)
	}
	put("Queue:\n  Type: AWS::SQS::Queue\n  Properties: {QueueName: !Sub '${Stage}-two'}\n")
	s.call("UpdateStack", in("prod"))
	if status, reason := s.settled("included"); status != "UPDATE_COMPLETE" {
		t.Fatal(status, reason, s.events("included"))
	}
	if got := jsonText(s.call("DescribeStacks", map[string]any{"StackName": "included"})); !strings.Contains(got, `"OutputValue":"prod-two"`) {
		t.Error(got)
	}
}
