package local_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws/client"
	"stepback/local"
)

// stacks calls CloudFormation of a platform, and other services.
type stacks struct {
	t   *testing.T
	cfg awssdk.Config
}

func stacksOf(t *testing.T, p *local.Platform) stacks {
	t.Helper()
	return stacks{t, awssdk.Config{Region: "us-east-1", BaseEndpoint: awssdk.String(p.Endpoint),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		Retryer:     func() awssdk.Retryer { return awssdk.NopRetryer{} }}}
}

func (s stacks) try(service, operation string, in any) (map[string]any, error) {
	s.t.Helper()
	n, err := client.NewNamed(s.t.Context(), s.cfg, service)
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]any{}
	return out, n.Call(s.t.Context(), operation, in, &out)
}

func (s stacks) call(operation string, in any) map[string]any {
	s.t.Helper()
	out, err := s.try("cloudformation", operation, in)
	if err != nil {
		s.t.Fatal(operation, err)
	}
	return out
}

// settled waits until a stack is at rest and returns its status and the reason.
func (s stacks) settled(name string) (status, reason string) {
	s.t.Helper()
	for {
		out, err := s.try("cloudformation", "DescribeStacks", map[string]any{"StackName": name})
		if err != nil {
			return "GONE", err.Error()
		}
		st := out["Stacks"].([]any)[0].(map[string]any)
		status, _ = st["StackStatus"].(string)
		reason, _ = st["StackStatusReason"].(string)
		if !strings.HasSuffix(status, "_IN_PROGRESS") {
			return status, reason
		}
		if err := s.t.Context().Err(); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s stacks) events(name string) string {
	s.t.Helper()
	text, _ := json.MarshalIndent(s.call("DescribeStackEvents", map[string]any{"StackName": name}), "", " ")
	return string(text)
}

const small = `
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Days: {Type: Number, Default: 7}
Resources:
  Queue:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 45
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 3}
  Dead:
    Type: AWS::SQS::Queue
  Log:
    Type: AWS::Logs::LogGroup
    Properties: {RetentionInDays: !Ref Days}
  Bucket:
    Type: AWS::S3::Bucket
  Machine:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      RoleArn: !Sub arn:aws:iam::${AWS::AccountId}:role/x
      DefinitionString: '{"StartAt":"A","States":{"A":{"Type":"Pass","Result":"${queue}","End":true}}}'
      DefinitionSubstitutions: {queue: !GetAtt Queue.QueueName}
Outputs:
  Url: {Value: !Ref Queue, Export: {Name: url}}
  Arn: {Value: !GetAtt Machine.Arn}
  Group: {Value: !Ref Log}
`

func openPlatform(t *testing.T, dir string) *local.Platform {
	t.Helper()
	p, err := local.Open(context.Background(), local.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestStackIsMadeChangedAndDeleted(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "one", "TemplateBody": small})
	if status, reason := s.settled("one"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("one"))
	}
	_, err := s.try("cloudformation", "UpdateStack", map[string]any{"StackName": "one", "TemplateBody": small})
	if err == nil || !strings.Contains(err.Error(), "No updates are to be performed.") {
		t.Fatal(err)
	}
	s.call("UpdateStack", map[string]any{"StackName": "one", "TemplateBody": small, "Parameters": []any{
		map[string]any{"ParameterKey": "Days", "ParameterValue": "14"}}})
	if status, reason := s.settled("one"); status != "UPDATE_COMPLETE" {
		t.Fatal(status, reason, s.events("one"))
	}
	s.call("DeleteStack", map[string]any{"StackName": "one"})
	if status, reason := s.settled("one"); status != "GONE" {
		t.Fatal(status, reason)
	}
}
