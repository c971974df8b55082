package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws/client"
	"stepback/cmd/stepback/exit"
)

// durableFunction is a template with a durable function that speaks the protocol without an SDK: a step fails and is to
// be retried after an hour, and a callback is open. It returns when the callback has ended.
const durableFunction = `
Resources:
  Pay:
    Type: AWS::Lambda::Function
    Properties:
      FunctionName: pay
      Handler: index.handler
      Runtime: python3.12
      Timeout: 20
      Role: arn:aws:iam::000000000000:role/x
      DurableConfig: {ExecutionTimeout: 86400}
      Code:
        ZipFile: |
          import json, os, urllib.parse, urllib.request
          def handler(event, context):
              known = {o["Id"]: o for o in event["InitialExecutionState"]["Operations"]}
              if known.get("c", {}).get("Status") == "SUCCEEDED":
                  return {"Status": "SUCCEEDED", "Result": known["c"]["CallbackDetails"]["Result"]}
              if known.get("c", {}).get("Status") == "FAILED":
                  return {"Status": "FAILED", "Error": known["c"]["CallbackDetails"]["Error"]}
              updates = []
              if known.get("s", {"Status": "READY"})["Status"] == "READY":
                  updates += [{"Id": "s", "Type": "STEP", "Name": "charge", "Action": "START"},
                      {"Id": "s", "Type": "STEP", "Action": "RETRY", "Error": {"ErrorType": "Declined"},
                       "StepOptions": {"NextAttemptDelaySeconds": 3600}}]
              if "c" not in known:
                  updates += [{"Id": "c", "Type": "CALLBACK", "Name": "approval", "Action": "START"}]
              arn = urllib.parse.quote(event["DurableExecutionArn"], safe="")
              url = os.environ["AWS_ENDPOINT_URL"] + "/2025-12-01/durable-executions/" + arn + "/checkpoint"
              body = json.dumps({"CheckpointToken": event["CheckpointToken"], "Updates": updates}).encode()
              urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"})).read()
              return {"Status": "PENDING"}
`

// TestRetryNow begins the retry of a state machine's execution, by the data directory of a server and by its address.
func TestRetryNow(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stepback(t, "retry-now", "o-1", "--data", data).complains(t, exit.Failure, "no process serves")
	url, stop := serving(t, data)
	defer stop()
	c, err := client.NewNamed(t.Context(), aws.Config{Region: "us-east-1", BaseEndpoint: &url,
		Credentials: credentials.NewStaticCredentialsProvider("000000000000", "local", "")}, "sfn")
	if err != nil {
		t.Fatal(err)
	}
	err = c.Call(t.Context(), "CreateStateMachine", map[string]any{"name": "orders", "roleArn": "arn:aws:iam::000000000000:role/r",
		"definition": `{"StartAt":"Charge","States":{"Charge":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
			"Parameters":{"FunctionName":"none"},"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":3600,"MaxAttempts":5}],"End":true}}}`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stepback(t, "start", "orders", "--name", "o-1", "--data", data).ends(t, exit.OK)
	attempts := func(n string) {
		t.Helper()
		for !strings.Contains(stepback(t, "describe", "o-1", "--data", data).out, "attempt "+n+" of 6 failed") {
			wait(t)
		}
	}
	attempts("1")
	stepback(t, "retry-now", "o-1", "--state", "Other", "--data", data).complains(t, exit.Failure, "does not wait for a retry of Other")
	stepback(t, "retry-now", "o-1", "--data", data).ends(t, exit.OK, "Charge: the retry has begun")
	attempts("2")
	stepback(t, "retry-now", "o-1", "--endpoint", url, "--json").ends(t, exit.OK, `"state":"Charge"`)
	attempts("3")
	stepback(t, "retry-now", "o-1", "--aws").complains(t, exit.Usage, "AWS has no operation")
}

// TestVerbsForDurableExecutions lists, describes, follows, completes and stops executions of a durable function, by the
// data directory of a server and by its address.
func TestVerbsForDurableExecutions(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	url, stop := serving(t, data)
	defer stop()
	call := func(service, operation string, in map[string]any, out any) {
		t.Helper()
		c, err := client.NewNamed(t.Context(), aws.Config{Region: "us-east-1", BaseEndpoint: &url,
			Credentials: credentials.NewStaticCredentialsProvider("000000000000", "local", "")}, service)
		if err == nil {
			err = c.Call(t.Context(), operation, in, out)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var last string // the ARN of an execution
	at := []string{"--data", data}
	verb := func(args ...string) said { return stepback(t, append(args, at...)...) }
	verb("executions", "--durable").complains(t, exit.OK, "no durable executions")
	call("cloudformation", "CreateStack", map[string]any{"StackName": "durable", "TemplateBody": durableFunction}, nil)
	for status := ""; status != "CREATE_COMPLETE"; wait(t) {
		var out struct {
			Stacks []struct{ StackStatus string }
		}
		call("cloudformation", "DescribeStacks", map[string]any{"StackName": "durable"}, &out)
		if status = out.Stacks[0].StackStatus; strings.HasPrefix(status, "ROLLBACK") {
			t.Fatal(status)
		}
	}
	// begin starts an execution and returns its ARN and the ID of its callback.
	begin := func(name string) (arn, callback string) {
		t.Helper()
		var out struct {
			ARN string `json:"DurableExecutionArn"`
		}
		call("lambda", "Invoke", map[string]any{"FunctionName": "pay", "Qualifier": "$LATEST", "InvocationType": "Event",
			"DurableExecutionName": name, "Payload": []byte(`{"order":7}`)}, &out)
		for callback == "" {
			wait(t)
			s := verb("describe", out.ARN, "--json")
			s.ends(t, exit.OK)
			var d struct {
				Operations []struct {
					ID, Status string
					Attempts   int64
					Callback   string `json:"callbackId"`
				}
			}
			if err := json.Unmarshal([]byte(s.out), &d); err != nil {
				t.Fatal(err)
			}
			if len(d.Operations) == 2 && d.Operations[0].Status == "PENDING" && d.Operations[0].Attempts == 1 {
				callback = d.Operations[1].Callback
			}
		}
		return out.ARN, callback
	}
	for _, at = range [][]string{{"--data", data}, {"--endpoint", url}} {
		name := strings.TrimLeft(at[0], "-")
		arn, id := begin(name)
		verb("executions", "--durable", "--status", "running").ends(t, exit.OK, "pay:$LATEST", "RUNNING")
		verb("executions", "--durable", "--retrying", "--error", "Declined").ends(t, exit.OK, "pay:$LATEST", "charge: attempt 2 at", "after Declined")
		verb("executions", "--durable", "--retrying", "--error", "Other").complains(t, exit.OK, "no durable executions")
		verb("retry-now", arn, "--state", "other").complains(t, exit.Failure, "does not wait for a retry of other")
		verb("retry-now", arn, "--state", "charge").ends(t, exit.OK, "charge: the retry has begun")
		for { // the function fails the step again
			if s := verb("history", arn); strings.Count(s.out, "StepFailed") == 2 {
				break
			}
			wait(t)
		}
		verb("describe", arn).ends(t, exit.OK, "RUNNING", `{"order":7}`, "charge", "PENDING", "Declined", "(in ", "callback succeed "+id)
		verb("history", arn).ends(t, exit.OK, "StepFailed", "charge Declined", "CallbackStarted", "approval")
		verb("callback", "heartbeat", id).complains(t, exit.OK, "reported")
		verb("callback", "succeed", id, "--result", `"yes"`).complains(t, exit.OK, "reported")
		verb("history", arn, "--follow", "--json").ends(t, exit.OK, `"EventType":"ExecutionSucceeded"`)
		verb("describe", arn).ends(t, exit.OK, "SUCCEEDED", `result: "yes"`)
		verb("callback", "succeed", id).complains(t, exit.Failure, "CallbackTimeoutException")
		verb("redrive", arn, "--dry-run").complains(t, exit.Usage, "which cannot be redriven")
		verb("cost", arn, "--executions", "1000000").ends(t, exit.OK, "Lambda, durable operations             24.00",
			"Lambda, retries of steps               16.00", "Each has 5 operations, of which 2 retries of steps")

		arn, id = begin(name + "-refused")
		verb("callback", "fail", id, "--error", "Rejected", "--cause", "over budget", "--json").ends(t, exit.OK, `"reported": true`)
		verb("history", arn, "--follow").ends(t, exit.OK, "ExecutionFailed", "Rejected over budget")
		verb("describe", arn).ends(t, exit.OK, "FAILED", "error: Rejected over budget")

		arn, _ = begin(name + "-stopped")
		last = arn
		verb("stop", arn, "--dry-run").ends(t, exit.OK, "would be stopped")
		verb("stop", arn, "--reason", "Mine", "--cause", "enough").ends(t, exit.OK, "stopped")
		verb("describe", arn).ends(t, exit.OK, "STOPPED", "Mine enough")
		verb("history", arn).ends(t, exit.OK, "ExecutionStopped", "Mine enough")
		verb("executions", "--durable", "--function", "pay", "--status", "STOPPED", "--json").ends(t, exit.OK, arn)
		verb("executions", "--durable", "--machine", "m").complains(t, exit.Usage, "--function")
		verb("describe", arn+"0").complains(t, exit.Failure, "ResourceNotFoundException")
		verb("history", arn, "--children").complains(t, exit.Usage, "no Map Runs")
	}
	recorded := filepath.Join(t.TempDir(), "pay.test.yaml")
	stepback(t, "record", last, "--data", data, "-o", recorded).ends(t, exit.OK, recorded)
	if text, err := os.ReadFile(recorded); err != nil || !strings.Contains(string(text), `function: {handler: "index.handler", runtime: python3.12}`) ||
		!strings.Contains(string(text), `- {error: "Declined"}`) {
		t.Errorf("%s, %v", text, err)
	}
	stepback(t, "record", last, "--definition", "x.json", "--data", data).complains(t, exit.Usage, "leave out --definition")
	stepback(t, "record", "order", "--code", "dist", "--data", data).complains(t, exit.Usage, "--handler and --code are for durable functions")
	history := filepath.Join(t.TempDir(), "history.json")
	if err := os.WriteFile(history, []byte(`{"Events":[{"EventType":"ExecutionStarted","EventId":1,"EventTimestamp":1,"Id":"e",
		"ExecutionStartedDetails":{"ExecutionTimeout":60,"Input":{}}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "record", "--history", history).complains(t, exit.Usage, "needs --handler FILE.FUNCTION")
	stepback(t, "record", "--history", history, "--definition", "x.json").complains(t, exit.Usage, "instead of --definition")
	stepback(t, "record", "--history", history, "--handler", "pay.handler").complains(t, exit.Failure, "history.json: the history has no inputs and results", "--include-execution-data")
	stepback(t, "hold", "--machine", "pay", "--state", "charge", "--data", data).ends(t, exit.OK, "pay", "charge")
	stepback(t, "release", "--all", "--data", data).ends(t, exit.OK, "released: 1 hold")
	policy := filepath.Join(data, "policy.json")
	if err := os.WriteFile(policy, []byte(`{"charge":[{"ErrorEquals":["States.ALL"],"MaxAttempts":0}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var reports []string // the steps of a durable function are tasks, by the journal and by the API
	for _, at = range [][]string{{"--data", data}, {"--endpoint", url}} {
		report := verb("retries", "analyze", "--json")
		report.ends(t, exit.OK, `"state": "charge"`, `"error": "Declined"`, `"callee": "step charge"`, `"executions": 6`)
		reports = append(reports, regexp.MustCompile(`"(from|to)": "[^"]*"|"[a-zA-Z]*Seconds": [0-9.e-]+`).ReplaceAllString(report.out, ""))
		verb("retries", "whatif", "--policy", policy, "--function", "pay").ends(t, exit.OK, "level: exact", "charge")
	}
	stepback(t, "retries", "analyze", "--function", "other", "--json", "--data", data).ends(t, exit.OK, `"executions": 0`)
	stepback(t, "retries", "analyze", "--function", "other", "--endpoint", url).complains(t, exit.Failure, "Function not found")
	if reports[0] != reports[1] {
		t.Errorf("by the journal: %s, by the API: %s", reports[0], reports[1])
	}
	stepback(t, "executions", "--function", "pay").complains(t, exit.Usage, "add --durable")

	// The function's code is broken in the middle of an execution: each verb says so.
	broken, _ := begin("broken")
	var code bytes.Buffer
	z := zip.NewWriter(&code)
	w, err := z.Create("index.py")
	if err == nil {
		_, err = io.WriteString(w, "def handler(event, context:\n")
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	call("lambda", "UpdateFunctionCode", map[string]any{"FunctionName": "pay", "ZipFile": code.Bytes()}, nil)
	verb("retry-now", broken, "--state", "charge").ends(t, exit.OK, "charge: the retry has begun")
	for !strings.Contains(verb("history", broken).out, "Runtime.UserCodeSyntaxError Syntax error in module 'index'") {
		wait(t)
	}
	verb("describe", broken).ends(t, exit.OK, "RUNNING", " invocations failed", "; the last failure was Runtime.UserCodeSyntaxError at ",
		"Syntax error in module 'index'", "Lambda invokes the function again until the execution times out")
	for _, at = range [][]string{{"--data", data}, {"--endpoint", url}} {
		for { // between two invocations
			if s := verb("retry-now", broken, "--state", "invocation"); strings.Contains(s.out, "invocation: the retry has begun") {
				break
			}
			wait(t)
		}
	}
	for !strings.Contains(verb("executions", "--durable", "--retrying", "--error", "Runtime.UserCodeSyntaxError").out, "invocation: attempt ") {
		wait(t)
	}
	verb("stop", broken).ends(t, exit.OK, "stopped")
	verb("describe", broken, "--json").ends(t, exit.OK, `"failedInARow": `, `"Name": "Runtime.UserCodeSyntaxError"`)
}
