package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The state machines of a SAM template can be validated, run, explained and printed.
func TestDefinitionsWhereTheyAre(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	template := filepath.Join(dir, "template.yaml")
	for name, text := range map[string]string{
		"template.yaml": `
Resources:
  Orders:
    Type: AWS::Serverless::StateMachine
    Properties:
      DefinitionUri: states/orders.json
      DefinitionSubstitutions: {ChargeArn: !GetAtt Charge.Arn, Seconds: 30}
  Inline:
    Type: AWS::Serverless::StateMachine
    Properties:
      Definition:
        StartAt: A
        States: {A: {Type: Task, Resource: !GetAtt Charge.Arn, End: true}}
`,
		"states/orders.json": `{"StartAt": "Charge", "States": {"Charge": {"Type": "Task", "Resource": "${ChargeArn}",
			"TimeoutSeconds": ${Seconds}, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 2}], "End": true}}}`,
		"saga.yaml": `
Parameters: {Wait: {Type: Number, Default: 0}}
Resources:
  Saga:
    Type: AWS::Serverless::StateMachine
    Properties:
      DefinitionUri: states/saga.asl.json
      DefinitionSubstitutions: {reserve: !GetAtt Reserve.Arn, Cancel.Arn: !GetAtt Cancel.Arn, wait: !Ref Wait}
`,
		"states/saga.asl.json": `{"StartAt": "Reserve", "States": {
			"Reserve": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "${reserve}"}, "Next": "Wait"},
			"Wait": {"Type": "Wait", "Seconds": ${wait}, "Next": "Cancel"},
			"Cancel": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "${Cancel.Arn}:$LATEST"},
				"OutputPath": "$.Payload", "End": true}}}`,
		"retries.yaml": "patterns:\n  gentle: {interval: 2s, retries: 5, jitter: FULL}\nstates:\n  Charge:\n" +
			"    timeout: 30s\n    retry: [{errors: [Busy], pattern: gentle}]\n",
		"bad.yaml": "states: {}\nodd: 1\n",
		"cdk.out/Stack.template.json": `{"Resources": {"M1": {"Type": "AWS::StepFunctions::StateMachine", "Properties":
			{"DefinitionString": "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Odd\"}}}"}}}}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(dir, "retries.yaml")
	stepback(t, "retries", "show", "--table", own, "--json").ends(t, 0, `"Busy"`, `"MaxAttempts": 5`)
	stepback(t, "retries", "show", "--table", own).ends(t, 0, "Charge  (timeout 30s")
	stepback(t, "retries", "explain", "Charge", "--table", own).ends(t, 0, "Busy", "5 retries")
	stepback(t, "retries", "show", "--table", filepath.Join(dir, "bad.yaml")).complains(t, 3, "bad.yaml:2:1: there is no member")
	orders := filepath.Join(dir, "states", "orders.json")
	stepback(t, "validate", template).ends(t, 0, orders+": accepted", template+"#Inline: accepted")
	stepback(t, "validate", filepath.Join(dir, "cdk.out")).ends(t, 3, "Stack.template.json:2:78: error",
		"Stack.template.json#M1: refused")
	stepback(t, "exec", template).complains(t, 2, template+" declares Orders, Inline: name one of them, such as "+template+
		"#Orders")
	stepback(t, "exec", template+"#Orders", "--lambda", "ChargeArn=echo 7").ends(t, 0, "7\n")
	stepback(t, "exec", filepath.Join(dir, "saga.yaml"), "--lambda", "reserve=echo 8", "--lambda", "Cancel=echo 9").ends(t, 0, "9\n")
	stepback(t, "definition", template+"#Inline").ends(t, 0, `"StartAt": "A"`)
	stepback(t, "definition").ends(t, 0, `"StartAt": "Initialize"`)
	stepback(t, "retries", "explain", template+"#Orders", "--state", "Charge").ends(t, 0,
		"Charge: each attempt may take 30s", "Busy", "if the errors alternate: 2 retries")
	stepback(t, "retries", "explain", template+"#Orders", "--json").ends(t, 0, `"longestSeconds": `)
	stepback(t, "retries", "explain", template+"#Orders", "--state", "Nope").complains(t, 2, `no state "Nope" of `)
}

// TestTemplateBesideDefinitions checks the templates and other definitions of a directory, each once. A file that a
// template names is checked with the template's values; build output is skipped; a definition in S3 is reported and
// skipped.
func TestTemplateBesideDefinitions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const task = `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "${Arn}", "TimeoutSeconds": %s, "End": true}}}`
	for name, text := range map[string]string{
		"template.yaml": `
Resources:
  Named: {Type: AWS::Serverless::StateMachine, Properties: {DefinitionUri: named.asl.json, DefinitionSubstitutions: {Seconds: -5}}}
  Inline: {Type: AWS::StepFunctions::StateMachine, Properties: {DefinitionString: '{"StartAt": "A", "States": {"A": {"Type": "Pass"}}}'}}
  Elsewhere: {Type: AWS::StepFunctions::StateMachine, Properties: {DefinitionS3Location: {Bucket: b, Key: k}}}
`,
		"named.asl.json":                strings.ReplaceAll(task, "%s", "${Seconds}"),
		"other.asl.json":                strings.ReplaceAll(task, "%s", "5"),
		"node_modules/a/x.asl.json":     "{",
		".aws-sam/build/template.yaml":  "Resources: {M: {Type: AWS::StepFunctions::StateMachine, Properties: {DefinitionString: '{'}}}",
		"stacks/errors.yaml":            "Resources: {Odd: {Type: AWS::StepFunctions::StateMachine, Properties: {DefinitionString: '{'}}}",
		"chart/values.yaml":             "stateMachines: [{{ .Values.x }}",
		"main.tf":                       "resource \"aws_sfn_state_machine\" \"m\" {\n}\n",
		"policies/template.yaml":        "Resources: {R: {Type: AWS::IAM::Role}}",
		"comment/template.yaml":         "# AWS::StepFunctions::StateMachine\nResources: {}",
		"templates/copied.template.yml": "not read",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := stepback(t, "validate", dir)
	got.ends(t, 3, "other.asl.json: accepted", "named.asl.json:1:", "TimeoutSeconds", "template.yaml:4:112: error",
		"template.yaml#Inline: refused", "errors.yaml:1:", "errors.yaml#Odd: refused")
	if strings.Count(got.out, "TimeoutSeconds") == 0 || strings.Contains(got.out, "named.asl.json: accepted") ||
		strings.Contains(got.out, "x.asl.json") || strings.Contains(got.out, ".aws-sam") {
		t.Errorf("%s", got.out)
	}
	for _, want := range []string{
		"not read: " + filepath.Join(dir, "template.yaml") + "#Elsewhere: its definition is in S3; give its file to the command\n",
		"not read: " + filepath.Join(dir, "main.tf") + ": 1 state machine (m): Terraform's own language is not supported; give",
	} {
		if !strings.Contains(got.err, want) {
			t.Errorf("lacks %s\n%s", want, got.err)
		}
	}
	got = stepback(t, "validate", filepath.Join(dir, "template.yaml"), "--json")
	got.ends(t, 2, `"result": "FAIL"`, `"result": "NOT_READ"`, `"reason": "its definition is in S3; give its file to the command"`)
	stepback(t, "validate", filepath.Join(dir, "main.tf")).complains(t, 2, "main.tf: Terraform's own language is not supported; give")
	stepback(t, "retries", "review", dir).ends(t, 3, "Inline")
	stepback(t, "retries", "review", filepath.Join(dir, "template.yaml#Inline"), "--sarif").ends(t, 3,
		`/template.yaml"`, `"startLine": 4`, `Inline: `, `"Inline/States/A"`)
}
