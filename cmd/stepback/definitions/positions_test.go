package definitions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/terminal"
)

// TestPositionsInTemplates finds one mistake in each template, the field Nxt, at the line and column of the file in
// which it stands.
func TestPositionsInTemplates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, want string }{
		"SAM inline": {"template.yaml", `Transform: AWS::Serverless-2016-10-31
Resources:
  Orders:
    Type: AWS::Serverless::StateMachine
    Properties:
      Definition:
        StartAt: A
        States:
          A: {Type: Task, Resource: !GetAtt Charge.Arn, Next: B}
          B:
            Type: Pass
            Nxt: C
            End: true
`, "template.yaml:12:13"},
		"block scalar of Fn::Sub": {"template.yaml", `Resources:
  Orders:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionString: !Sub |
        {
          "Comment": "${!Literal} of ${AWS::StackName} in ${AWS::Region}",
          "StartAt": "A",
          "States": {
            "A": {"Type": "Pass", "Comment": "${Env}", "Nxt": "B", "End": true}
          }
        }
`, "template.yaml:10:56"},
		"folded scalar": {"template.yaml", `Resources:
  Orders:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionString: >-
        {"StartAt": "A",
        "States":

          {"A": {"Type": "Pass", "Nxt": "B", "End": true}}}
`, "template.yaml:9:34"},
		"quoted scalars": {"template.yaml", `Resources:
  Orders:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionString: "{\"StartAt\": \"A\",\
        \"States\": {\"A\": {\"Type\": \"Pass\", \"Nxt\": \"B\", \"End\": true}}}"
`, "template.yaml:6:50"},
		"a single-quoted scalar": {"template.yaml", `Resources:
  Orders: {Type: AWS::StepFunctions::StateMachine, Properties: {
    DefinitionString: '{"StartAt": "A", "Comment": "it''s", "States": {"A": {"Type": "Pass", "Nxt": 1, "End": true}}}'}}
`, "template.yaml:3:94"},
		"Fn::Join of cdk": {"Stack.template.json", `{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {
 "DefinitionString": {"Fn::Join": ["", [
  "{\"StartAt\":\"\u0041\",\"States\":{\"A\":{\"Type\":\"Task\",\"Resource\":\"", {"Fn::GetAtt": ["Charge", "Arn"]},
  "\",\"Nxt\":\"B\",\"End\":true}}}"]]}}}}}
`, "Stack.template.json:4:7"},
		"an object of a JSON template": {"stack.json", `{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {
  "Definition": {"StartAt": "A", "States": {"A": {"Type": "Task",
    "Resource": {"Fn::Sub": "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:f"},
    "Nxt": "B", "End": true}}}}}}}
`, "stack.json:4:5"},
		"Fn::ToJsonString": {"stack.yaml", `Resources:
  Orders:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionString:
        Fn::ToJsonString:
          StartAt: A
          States: {A: {Type: Pass, Nxt: B, End: true}}
`, "stack.yaml:8:36"},
		"substitutions": {"template.yaml", `Resources:
  Orders:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionString: |
        {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": ${Seconds}, "Comment": "${Text}", "Nxt": 1, "End": true}}}
      DefinitionSubstitutions: {Seconds: 86400, Text: "a long ${Inner}", Inner: "text that moves what follows"}
`, "template.yaml:6:104"},
		"serverless.yml": {"serverless.yml", `service: x
stepFunctions:
  stateMachines:
    orders:
      definition:
        StartAt: A
        States:
          A:
            Type: Pass
            Result: {text: "über"}
            Nxt: B
            End: true
`, "serverless.yml:11:13"},
		"Terraform's JSON": {"main.tf.json", `{"resource": {"aws_sfn_state_machine": {"orders": {
  "definition": "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Pass\", \"Nxt\": 1, \"End\": true}}}"}}}}
`, "main.tf.json:2:80"},
		"JSONata on several lines": {"template.yaml", `Resources:
  Orders:
    Type: AWS::Serverless::StateMachine
    Properties:
      Definition:
        QueryLanguage: JSONata
        StartAt: A
        States:
          A:
            Type: Pass
            Output: |-
              {% (
                $x := 1;
                $x + )
              %}
            Nxt: 1
            End: true
`, "template.yaml:16:13 template.yaml:12:15"},
		"no definition": {"template.yaml", `Resources:
  Orders:
    Type: AWS::StepFunctions::StateMachine
    Properties: {RoleArn: r}
`, "template.yaml:2:3"},
		"two definitions": {"template.yaml", `Resources:
  Orders:
    Type: AWS::Serverless::StateMachine
    Properties: {DefinitionUri: a.asl.json, Definition: {StartAt: A}}
`, "template.yaml:2:3"},
		"a substitution that is none": {"template.yaml", `Resources:
  Orders:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionString: '{}'
      DefinitionSubstitutions:
        A: x
        B: [1]
`, "template.yaml:8:9"},
		"YAML in a DefinitionString": {"template.yaml", `Resources:
  Orders:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionString: |
        StartAt: A
        States: {A: {Type: Succeed}}
`, "template.yaml:6:9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, c.file)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			read, unread := definitions.All([]string{path}, nil, terminal.Streams{})
			if len(read) != 1 || len(unread) != 0 {
				t.Fatalf("%+v, %v", read, unread)
			}
			var got []string
			for _, d := range read[0].Diagnose(false) {
				got = append(got, fmt.Sprintf("%s:%d:%d", filepath.Base(read[0].Source), d.Line, d.Column))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %s\n%s", got, c.want, read[0].Render(read[0].Diagnose(false)))
			}
		})
	}
}

// TestAllNamesWhatItCannotRead reads a directory in which some files are broken, or of a kind that is not read: the
// others are read, and each of these is named.
func TestAllNamesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const machine = `{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`
	for name, text := range map[string]string{
		"a.asl.json": machine, "tf/b.json": machine, "z.asl.yaml": "a: [",
		"template.yaml":      "Description: >\nNot indented\nResources: {A: {Type: AWS::Serverless::StateMachine}}\n",
		"other/stack.yaml":   "Resources: {M: {Type: AWS::StepFunctions::StateMachine\n",
		"uri/template.yaml":  "Resources: {M: {Type: AWS::Serverless::StateMachine, Properties: {DefinitionUri: none.asl.json}}}",
		"s3/template.yaml":   "Resources: {M: {Type: AWS::StepFunctions::StateMachine, Properties: {DefinitionS3Location: {Bucket: b, Key: k.json}}}}",
		"chart/values.yaml":  "stateMachines: [{{ .Values.x }}",
		"list/policies.yaml": "Resources: {R: {Type: AWS::IAM::Role}}",
		"tf/main.tf": "resource \"aws_sfn_state_machine\" \"b\" {\n  definition = file(\"${path.module}/b.json\")\n}\n" +
			"resource \"aws_sfn_state_machine\" \"c\" {\n  definition = jsonencode({})\n}\n",
		"cdk.out/S.template.json":   `{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionS3Location": {"Bucket": "b", "Key": "0a1b.json"}}}}}`,
		"cdk.out/asset.0a1b.json":   "\ufeff" + machine,
		"cdk.out/T.template.json":   "",
		"node_modules/x/c.asl.json": "{",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, unread := definitions.All([]string{dir, filepath.Join(dir, "missing.json"), dir + "/a.asl.json#B"}, nil, terminal.Streams{})
	var got []string
	for _, d := range read {
		verdict := "accepted"
		if len(d.Diagnose(false)) > 0 {
			verdict = "refused"
		}
		got = append(got, strings.TrimPrefix(d.Path, dir+"/")+" "+verdict)
	}
	for _, u := range unread {
		got = append(got, fmt.Sprintf("%s: %v (%t)", strings.TrimPrefix(u.Path, dir+"/"), u.Err, u.Named))
	}
	want := `a.asl.json accepted
cdk.out/asset.0a1b.json accepted
tf/b.json accepted
z.asl.yaml refused
other/stack.yaml: it is neither JSON nor YAML: yaml: line 1: did not find expected ',' or '}' (false)
s3/template.yaml#M: its definition is in S3; give its file to the command (false)
template.yaml: it is neither JSON nor YAML: yaml: line 2: could not find expected ':' (false)
tf/main.tf: 1 state machine (c): Terraform's own language is not supported; give the definition's file, or a plan: terraform plan -out plan && terraform show -json plan > plan.json (false)
uri/template.yaml#M: ` + dir + `/uri/none.asl.json: no such file or directory (false)
missing.json: no such file or directory (true)
a.asl.json#B: it declares no state machine (true)`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
