package definitions_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"stepback/cmd/stepback/definitions"
)

const sam = `
Transform: AWS::Serverless-2016-10-31
Resources:
  Bucket: {Type: AWS::S3::Bucket}
  Orders:
    Type: AWS::Serverless::StateMachine
    Properties:
      DefinitionUri: statemachine/orders.asl.yaml
      DefinitionSubstitutions:
        ChargeArn: !GetAtt Charge.Arn
        Seconds: 30
  Inline:
    Type: AWS::Serverless::StateMachine
    Properties:
      Type: EXPRESS
      Definition:
        StartAt: A
        States:
          A: {Type: Task, Resource: !GetAtt Charge.Arn, TimeoutSeconds: 5, End: true}
  Plain:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionString: !Sub |
        {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "${Charge.Arn}", "End": true}}}
`

const cdk = `{"Resources": {"Saga4711": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionString": {"Fn::Join": ["",
	["{\"StartAt\":\"A\",\"States\":{\"A\":{\"Type\":\"Task\",\"Resource\":\"", {"Fn::GetAtt": ["Charge", "Arn"]}, "\",\"End\":true}}}"]]}}}}}`

const inTerraform = `{"resource": {"aws_sfn_state_machine": {"orders": {"type": "EXPRESS", "definition": "{\"StartAt\": \"${var.start}\"}"}}}}`

const planned = `{"planned_values": {"root_module": {"child_modules": [{"resources": [{"type": "aws_sfn_state_machine", "name": "m",
	"values": {"definition": "{}"}}]}]}}}`

const inServerless = `
service: x
stepFunctions:
  stateMachines:
    orders:
      definition: {StartAt: A, States: {A: {Type: Task, Resource: {Fn::GetAtt: [charge, Arn]}, End: true}}}
    other:
      definition: ${file(other.asl.json)}
`

func TestIn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"sam": {sam, []string{
			`Orders  "statemachine/orders.asl.yaml" map[Seconds:30] false`,
			`Inline {"StartAt":"A","States":{"A":{"Type":"Task","Resource":"${Charge.Arn}","TimeoutSeconds":5,"End":true}}} "" map[] true`,
			`Plain {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "${Charge.Arn}", "End": true}}} "" map[] false`,
		}},
		"cdk": {cdk, []string{
			`Saga4711 {"StartAt":"A","States":{"A":{"Type":"Task","Resource":"${Charge.Arn}","End":true}}} "" map[] false`,
		}},
		"terraform": {inTerraform, []string{`orders {"StartAt": "${var.start}"} "" map[] true`}},
		"plan":      {planned, []string{`m {} "" map[] false`}},
		"serverless": {inServerless, []string{
			`orders {"StartAt":"A","States":{"A":{"Type":"Task","Resource":"${charge.Arn}","End":true}}} "" map[] false`,
			`other  "other.asl.json" map[] false`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !definitions.Looks(test.text) {
				if name != "plan" || !strings.Contains(test.text, "aws_sfn") {
					t.Error("it does not look like one")
				}
			}
			found, err := definitions.In(test.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, fmt.Sprintf("%s %s %q %v %t", f.Name, strings.TrimSpace(f.Text), f.File, f.Values, f.Express))
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("%s", strings.Join(got, "\n"))
			}
		})
	}
}

func TestInRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: [": "neither JSON nor YAML", "": "no state machine", "Resources: {}": "no state machine",
	} {
		if _, err := definitions.In(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"Resources: {M: {Type: AWS::StepFunctions::StateMachine, Properties: {DefinitionS3Location: {}}}}": "its definition is in S3",
		"Resources: {M: {Type: AWS::Serverless::StateMachine, Properties: {DefinitionUri: s3://b/k}}}":     "its definition is in S3",
		"Resources: {M: {Type: AWS::StepFunctions::StateMachine, Properties: {DefinitionString: [1]}}}":    "only the deployment can resolve",
		`{"resource": {"aws_sfn_state_machine": {"m": {"type": "STANDARD"}}}}`:                             "unknown until the plan",
		"stepFunctions: {stateMachines: {m: {}}}":                                                          "it has no definition",
		"stepFunctions: {stateMachines: {m: {definition: '${self:custom.m}'}}}":                            `is "${self:custom.m}"; only an object or`,
	} {
		found, err := definitions.In(text)
		if err != nil || len(found) != 1 || !strings.Contains(found[0].Missing, want) || found[0].File+found[0].Text != "" {
			t.Errorf("%s: %+v, %v", text, found, err)
		}
	}
	for text, want := range map[string]definitions.Found{
		"Resources: {M: {Type: AWS::Serverless::StateMachine, Properties: {Definition: {'Fn::Transform': {Name: AWS::Include, " +
			"Parameters: {Location: m.asl.json}}}}}}": {Name: "M", File: "m.asl.json"},
		"stepFunctions: {stateMachines: {m: {definition: '{\"StartAt\": \"A\"}'}}}": {Name: "m", Text: `{"StartAt": "A"}`},
	} {
		found, err := definitions.In(text)
		if err != nil || len(found) != 1 || found[0].File != want.File || found[0].Text != want.Text || found[0].Missing != "" {
			t.Errorf("%s: %+v, %v", text, found, err)
		}
	}
	found, err := definitions.In(`{"Parameters": {"Days": {"Type": "Number", "Default": 3}, "Name": {"Type": "AWS::SSM::Parameter::Value<String>",
		"Default": "/a"}}, "Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionSubstitutions": {"D": {"Ref": "Days"},
		"N": {"Ref": "Name"}}, "DefinitionString": {"Fn::Sub": ["${Days}${I}", {"I": 5, "J": {"Ref": "Days"}, "F": {"Fn::GetAtt": ["F", "Arn"]}}]}}}}}`)
	if err != nil || fmt.Sprint(found[0].Values) != "map[D:3 Days:3 I:5 J:3]" {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := definitions.In("x: 1"); !errors.Is(err, definitions.ErrNone) {
		t.Errorf("%v", err)
	}
	if definitions.Looks(`{"StartAt": "A", "States": {}}`) {
		t.Error("a definition looks like a template")
	}
}

func FuzzIn(f *testing.F) {
	for _, text := range []string{sam, cdk, inTerraform, planned, inServerless} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) { _, _ = definitions.In(text) })
}
