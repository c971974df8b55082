package main

import (
	"encoding/json"
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
              for o in event["InitialExecutionState"]["Operations"]:
                  if o["Id"] == "c" and o["Status"] == "SUCCEEDED":
                      return {"Status": "SUCCEEDED", "Result": o["CallbackDetails"]["Result"]}
                  if o["Id"] == "c" and o["Status"] == "FAILED":
                      return {"Status": "FAILED", "Error": o["CallbackDetails"]["Error"]}
              arn = urllib.parse.quote(event["DurableExecutionArn"], safe="")
              url = os.environ["AWS_ENDPOINT_URL"] + "/2025-12-01/durable-executions/" + arn + "/checkpoint"
              body = json.dumps({"CheckpointToken": event["CheckpointToken"], "Updates": [
                  {"Id": "s", "Type": "STEP", "Name": "charge", "Action": "START"},
                  {"Id": "s", "Type": "STEP", "Action": "RETRY", "Error": {"ErrorType": "Declined"},
                   "StepOptions": {"NextAttemptDelaySeconds": 3600}},
                  {"Id": "c", "Type": "CALLBACK", "Name": "approval", "Action": "START"}]}).encode()
              urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"})).read()
              return {"Status": "PENDING"}
`

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
		verb("describe", arn).ends(t, exit.OK, "RUNNING", `{"order":7}`, "charge", "PENDING", "Declined", "(in ", "callback succeed "+id)
		verb("history", arn).ends(t, exit.OK, "StepFailed", "charge Declined", "CallbackStarted", "approval")
		verb("callback", "heartbeat", id).complains(t, exit.OK, "reported")
		verb("callback", "succeed", id, "--result", `"yes"`).complains(t, exit.OK, "reported")
		verb("history", arn, "--follow", "--json").ends(t, exit.OK, `"EventType":"ExecutionSucceeded"`)
		verb("describe", arn).ends(t, exit.OK, "SUCCEEDED", `result: "yes"`)
		verb("callback", "succeed", id).complains(t, exit.Failure, "CallbackTimeoutException")

		arn, id = begin(name + "-refused")
		verb("callback", "fail", id, "--error", "Rejected", "--cause", "over budget", "--json").ends(t, exit.OK, `"reported": true`)
		verb("history", arn, "--follow").ends(t, exit.OK, "ExecutionFailed", "Rejected over budget")
		verb("describe", arn).ends(t, exit.OK, "FAILED", "error: Rejected over budget")

		arn, _ = begin(name + "-stopped")
		verb("stop", arn, "--dry-run").ends(t, exit.OK, "would be stopped")
		verb("stop", arn, "--reason", "Mine", "--cause", "enough").ends(t, exit.OK, "stopped")
		verb("describe", arn).ends(t, exit.OK, "STOPPED", "Mine enough")
		verb("history", arn).ends(t, exit.OK, "ExecutionStopped", "Mine enough")
		verb("executions", "--durable", "--function", "pay", "--status", "STOPPED", "--json").ends(t, exit.OK, arn)
		verb("executions", "--durable", "--machine", "m").complains(t, exit.Usage, "--function")
		verb("describe", arn+"0").complains(t, exit.Failure, "ResourceNotFoundException")
		verb("history", arn, "--children").complains(t, exit.Usage, "no Map Runs")
	}
	stepback(t, "executions", "--function", "pay").complains(t, exit.Usage, "add --durable")
}
