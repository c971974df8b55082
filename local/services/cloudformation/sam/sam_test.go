package sam_test

import (
	"slices"
	"strings"
	"testing"

	"stepback/local/services/cloudformation/sam"
	"stepback/local/services/cloudformation/template"
)

const app = `
Transform: AWS::Serverless-2016-10-31
Globals:
  Function: {Timeout: 9, Environment: {Variables: {A: one}}}
Resources:
  Work:
    Type: AWS::Serverless::Function
    Properties:
      Runtime: python3.12
      Handler: app.handler
      CodeUri: s3://bucket/key.zip
      Environment: {Variables: {B: two}}
      Policies: [SQSSendMessagePolicy: {QueueName: !GetAtt Queue.QueueName}]
      Events:
        Jobs: {Type: SQS, Properties: {Queue: !GetAtt Queue.Arn, BatchSize: 5}}
        Daily: {Type: Schedule, Properties: {Schedule: rate(1 day)}}
  Queue: {Type: AWS::SQS::Queue}
  Machine:
    Type: AWS::Serverless::StateMachine
    Properties:
      Definition: {StartAt: T, States: {T: {Type: Task, Resource: !GetAtt Work.Arn, End: true}}}
      Events: {Hourly: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 hour)}}}
  Table: {Type: AWS::Serverless::SimpleTable}
`

func TestExpand(t *testing.T) {
	t.Parallel()
	d, err := template.Parse(app)
	if err != nil {
		t.Fatal(err)
	}
	if err := sam.Expand(d); err != nil {
		t.Fatal(err)
	}
	r, err := template.Read(d)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range r.Resources {
		got = append(got, x.ID+" "+strings.TrimPrefix(x.Type, "AWS::"))
	}
	slices.Sort(got)
	want := []string{"Machine StepFunctions::StateMachine", "MachineHourly Scheduler::Schedule", "MachineHourlyRole IAM::Role",
		"MachineRole IAM::Role", "Queue SQS::Queue", "Table DynamoDB::Table", "Work Lambda::Function",
		"WorkDaily Events::Rule", "WorkDailyPermission Lambda::Permission", "WorkJobs Lambda::EventSourceMapping",
		"WorkRole IAM::Role"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	work := template.JSON(r.Resource("Work").Properties)
	for _, part := range []string{`"Timeout":9`, `"Variables":{"A":"one","B":"two"}`,
		`"Code":{"S3Bucket":"bucket","S3Key":"key.zip"}`, `"Role":{"Fn::GetAtt":["WorkRole","Arn"]}`} {
		if !strings.Contains(work, part) {
			t.Errorf("%s is not in %s", part, work)
		}
	}
	machine := template.JSON(r.Resource("Machine").Properties)
	if !strings.Contains(machine, `"definition_substitution_1":{"Fn::GetAtt":["Work","Arn"]}`) {
		t.Error(machine)
	}
}

func TestWhatIsNotExpandedIsRefusedByName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Resources: {A: {Type: AWS::Serverless::Api}}":                                                                           "the type AWS::Serverless::Api is not supported here",
		"Resources: {A: {Type: AWS::Serverless::Function, Properties: {Colour: red}}}":                                           "The property Colour is not supported here.",
		"Resources: {A: {Type: AWS::Serverless::StateMachine, Properties: {Name: m}}}":                                           "Either 'Definition' or 'DefinitionUri' property must be specified.",
		"Resources: {A: {Type: AWS::Serverless::StateMachine, Properties: {Definition: {StartAt: A}, DefinitionUri: s3://b/k}}}": "Specify either 'Definition' or 'DefinitionUri' property and not both.",
		"Resources: {A: {Type: AWS::Serverless::Function, Properties: {CodeUri: ./here}}}":                                       "'CodeUri' is not a valid S3 Uri",
		"Resources: {A: {Type: AWS::Serverless::Function, Properties: {InlineCode: x, Events: {E: {Type: Api}}}}}":               "The type Api is not supported here.",
	} {
		d, err := template.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := sam.Expand(d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
