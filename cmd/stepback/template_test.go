package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestDefinitionsWhereTheyAre validates, runs, explains and prints machines of a SAM template.
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
	stepback(t, "validate", filepath.Join(dir, "cdk.out")).ends(t, 3, "Stack.template.json#M1:1:")
	stepback(t, "exec", template).complains(t, 2, template+" declares Orders, Inline: name one of them, such as "+template+
		"#Orders")
	stepback(t, "exec", template+"#Orders", "--lambda", "ChargeArn=echo 7").ends(t, 0, "7\n")
	stepback(t, "definition", template+"#Inline").ends(t, 0, `"StartAt": "A"`)
	stepback(t, "definition").ends(t, 0, `"StartAt": "Initialize"`)
	stepback(t, "retries", "explain", template+"#Orders", "--state", "Charge").ends(t, 0,
		"Charge: each attempt may take 30s", "Busy", "if the errors alternate: 2 retries")
	stepback(t, "retries", "explain", template+"#Orders", "--json").ends(t, 0, `"longestSeconds": `)
	stepback(t, "retries", "explain", template+"#Orders", "--state", "Nope").complains(t, 2, `no state "Nope" of `)
}
