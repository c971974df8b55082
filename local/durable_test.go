package local_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/engine/clock"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local"
	"stepback/retrymetrics"
)

// durableStack has a durable function, written against the API without an SDK: a step fails once and is retried after a
// minute. A rule sends the function's status changes to a queue.
const durableStack = `
Resources:
  Queue: {Type: AWS::SQS::Queue, Properties: {QueueName: changes}}
  Rule:
    Type: AWS::Events::Rule
    Properties:
      EventPattern: {source: [aws.lambda], detail-type: [Durable Execution Status Change]}
      Targets: [{Id: q, Arn: !GetAtt Queue.Arn}]
  Pay:
    Type: AWS::Lambda::Function
    Properties:
      FunctionName: pay
      Handler: index.handler
      Runtime: python3.12
      Timeout: 20
      Role: arn:aws:iam::000000000000:role/x
      DurableConfig: {ExecutionTimeout: 600, RetentionPeriodInDays: 3}
      Code:
        ZipFile: |
          import json, os, urllib.parse, urllib.request
          def handler(event, context):
              def checkpoint(*updates):
                  arn = urllib.parse.quote(event["DurableExecutionArn"], safe="")
                  body = json.dumps({"CheckpointToken": event["CheckpointToken"], "Updates": updates}).encode()
                  url = os.environ["AWS_ENDPOINT_URL"] + "/2025-12-01/durable-executions/" + arn + "/checkpoint"
                  urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"})).read()
              start = {"Id": "s", "Type": "STEP", "Name": "charge", "Action": "START"}
              if len(event["InitialExecutionState"]["Operations"]) == 1:
                  checkpoint(start, {"Id": "s", "Type": "STEP", "Action": "RETRY", "Error": {"ErrorType": "Declined"},
                                     "StepOptions": {"NextAttemptDelaySeconds": 60}})
                  return {"Status": "PENDING"}
              checkpoint(start, {"Id": "s", "Type": "STEP", "Action": "SUCCEED", "Payload": "1"})
              return {"Status": "SUCCEEDED", "Result": "\"paid\""}
`

// paid deploys a template with the durable function pay, and runs the execution order-1 of it until it has succeeded.
// It returns the execution's ARN.
func paid(t *testing.T, p *local.Platform, template string) (s stacks, arn string) {
	t.Helper()
	s = stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "durable", "TemplateBody": template})
	if status, reason := s.settled("durable"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("durable"))
	}
	out, err := s.try("lambda", "Invoke", map[string]any{"FunctionName": "pay", "Qualifier": "$LATEST", "DurableExecutionName": "order-1"})
	arn, _ = out["DurableExecutionArn"].(string)
	if err != nil || out["FunctionError"] != nil || arn == "" {
		t.Fatal(out, err)
	}
	return s, arn
}

// A durable function from a template runs in virtual time. Its step's retry is counted as a retry, its changes of
// status are announced, and the next process on the directory still has its history.
func TestADurableFunctionOfAStack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	began := time.Now()
	var counter retrymetrics.Counter
	observed := 0
	p := open(t, local.Config{Dir: dir, Clock: clock.Virtual(began), Counts: []retrymetrics.Target{&counter},
		Observe: func(x *journal.Execution, all []history.Event) {
			if observed++; x.Name != "order-1" || len(all) != 8 {
				t.Errorf("observed: %+v with %d events", x, len(all))
			}
		}})
	s, arn := paid(t, p, durableStack)
	if !strings.Contains(arn, ":function:pay:$LATEST/durable-execution/order-1/") {
		t.Fatal(arn)
	}
	if a := counter.Attempts(); a.Started != 2 || a.Failed != 1 {
		t.Errorf("%+v", a)
	}
	if sums := totals(p.Metrics().Points()); sums["TaskAttempts"] != 2 || sums["RetryAttempts"] != 1 || sums["RetrySuccess"] != 1 {
		t.Errorf("%v", sums)
	}
	metrics, err := s.try("cloudwatch", "ListMetrics", map[string]any{"Namespace": "AWS/Lambda"})
	for _, name := range []string{"DurableExecutionStarted", "DurableExecutionSucceeded", "DurableExecutionDuration",
		"DurableExecutionOperations", "DurableExecutionStorageWrittenBytes"} {
		if err != nil || !strings.Contains(jsonText(metrics), `"`+name+`"`) {
			t.Errorf("%s is not in %v, %v", name, metrics, err)
		}
	}
	if observed != 1 {
		t.Errorf("%d executions were observed", observed)
	}
	url := "http://localhost/000000000000/changes"
	seen := map[string]bool{}
	for len(seen) < 2 {
		got, err := s.try("sqs", "ReceiveMessage", map[string]any{"QueueUrl": url, "MaxNumberOfMessages": 10})
		if err != nil {
			t.Fatal(err)
		}
		for _, status := range []string{"RUNNING", "SUCCEEDED"} {
			if text := jsonText(got); strings.Contains(text, `\"status\":\"`+status+`\"`) && strings.Contains(text, arn) {
				seen[status] = true
			}
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	s = stacksOf(t, open(t, local.Config{Dir: dir}))
	x, err := s.try("lambda", "GetDurableExecution", map[string]any{"DurableExecutionArn": arn})
	if err != nil || x["Status"] != "SUCCEEDED" || x["Result"] != `"paid"` {
		t.Errorf("%v, %v", x, err)
	}
	h, err := s.try("lambda", "GetDurableExecutionHistory", map[string]any{"DurableExecutionArn": arn})
	if events, _ := h["Events"].([]any); err != nil || len(events) != 8 {
		t.Errorf("%v, %v", h, err)
	}
}

// tracedStack has a traced durable function: a step fails once, a wait follows, and it invokes another function.
const tracedStack = `
Resources:
  Plain:
    Type: AWS::Lambda::Function
    Properties:
      FunctionName: plain
      Handler: index.handler
      Runtime: python3.12
      Role: arn:aws:iam::000000000000:role/x
      Code: {ZipFile: "def handler(event, context): return 1"}
  Pay:
    Type: AWS::Lambda::Function
    Properties:
      FunctionName: pay
      Handler: index.handler
      Runtime: python3.12
      Timeout: 20
      Role: arn:aws:iam::000000000000:role/x
      TracingConfig: {Mode: Active}
      DurableConfig: {ExecutionTimeout: 600}
      Code:
        ZipFile: |
          import json, os, urllib.parse, urllib.request
          def handler(event, context):
              def checkpoint(*updates):
                  arn = urllib.parse.quote(event["DurableExecutionArn"], safe="")
                  body = json.dumps({"CheckpointToken": event["CheckpointToken"], "Updates": updates}).encode()
                  url = os.environ["AWS_ENDPOINT_URL"] + "/2025-12-01/durable-executions/" + arn + "/checkpoint"
                  urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"})).read()
              start = {"Id": "s", "Type": "STEP", "Name": "charge", "Action": "START"}
              done = {o["Id"]: o["Status"] for o in event["InitialExecutionState"]["Operations"]}
              if "s" not in done:
                  checkpoint(start, {"Id": "s", "Type": "STEP", "Action": "RETRY", "Error": {"ErrorType": "Declined"},
                                     "StepOptions": {"NextAttemptDelaySeconds": 60}})
                  return {"Status": "PENDING"}
              if "w" not in done:
                  checkpoint(start, {"Id": "s", "Type": "STEP", "Action": "SUCCEED", "Payload": "1"},
                             {"Id": "w", "Type": "WAIT", "Name": "rest", "Action": "START", "WaitOptions": {"WaitSeconds": 30}})
                  return {"Status": "PENDING"}
              if "i" not in done:
                  checkpoint({"Id": "i", "Type": "CHAINED_INVOKE", "Name": "call", "Action": "START", "Payload": "{}",
                              "ChainedInvokeOptions": {"FunctionName": "plain"}})
                  return {"Status": "PENDING"}
              return {"Status": "SUCCEEDED", "Result": "1"}
`

// An execution of a function with active tracing is one trace: its operations with their attempts, its invocations, and
// those of the function that it invokes.
func TestADurableExecutionIsTraced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := open(t, local.Config{Dir: dir, Clock: clock.Virtual(time.Now())})
	s, arn := paid(t, p, tracedStack)
	x, err := s.try("lambda", "GetDurableExecution", map[string]any{"DurableExecutionArn": arn})
	if err != nil {
		t.Fatal(err)
	}
	described, _ := x["TraceHeader"].(map[string]any)
	header, _ := described["XAmznTraceId"].(string)
	trace, _, _ := strings.Cut(strings.TrimPrefix(header, "Root="), ";")
	if !strings.HasSuffix(header, ";Sampled=1") {
		t.Fatalf("%v", x)
	}
	if err := p.Close(); err != nil { // stores everything that is still waiting
		t.Fatal(err)
	}
	s = stacksOf(t, open(t, local.Config{Dir: dir}))
	got, err := s.try("xray", "BatchGetTraces", map[string]any{"TraceIds": []string{trace}})
	if err != nil || len(got["Traces"].([]any)) != 1 {
		t.Fatal(got, err)
	}
	found := map[string][]*segmentOf{}
	for _, one := range got["Traces"].([]any)[0].(map[string]any)["Segments"].([]any) {
		var g segmentOf
		if err := json.Unmarshal([]byte(one.(map[string]any)["Document"].(string)), &g); err != nil {
			t.Fatal(err)
		}
		g.all(found)
	}
	for name, want := range map[string]int{"pay AWS::Lambda::DurableExecution": 1, "charge": 1, "Attempt #1": 1, "Attempt #2": 1,
		"rest": 1, "call": 1, "pay AWS::Lambda": 4, "pay AWS::Lambda::Function": 4, "plain AWS::Lambda": 1,
		"plain AWS::Lambda::Function": 1} {
		if n := len(found[name]); n != want {
			t.Errorf("%d segments %s, want %d", n, name, want)
		}
	}
	for child, parent := range map[string]string{"pay AWS::Lambda": "pay AWS::Lambda::DurableExecution",
		"pay AWS::Lambda::Function": "pay AWS::Lambda", "plain AWS::Lambda": "call"} {
		for _, c := range found[child] {
			if !slices.ContainsFunc(found[parent], func(p *segmentOf) bool { return p.ID == c.ParentID }) {
				t.Errorf("%s is below %s, which is no %s", child, c.ParentID, parent)
			}
		}
	}
	if t.Failed() {
		return
	}
	if a := found["Attempt #1"][0]; !a.Fault || found["Attempt #2"][0].Fault || found["charge"][0].Fault {
		t.Errorf("faults: %+v, %+v", found["charge"][0], a)
	}
	if rest := found["rest"][0]; rest.End-rest.Start != 30 {
		t.Errorf("%+v", rest)
	}
}

// answering returns the code of a durable function that waits for a callback and then returns a word.
func answering(t *testing.T, word string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("index.py")
	if err == nil {
		_, err = f.Write([]byte(`
import json, os, urllib.parse, urllib.request
def handler(event, context):
    if len(event["InitialExecutionState"]["Operations"]) > 1:
        return {"Status": "SUCCEEDED", "Result": "` + word + `"}
    arn = urllib.parse.quote(event["DurableExecutionArn"], safe="")
    body = {"CheckpointToken": event["CheckpointToken"], "Updates": [{"Id": "c", "Type": "CALLBACK", "Action": "START"}]}
    url = os.environ["AWS_ENDPOINT_URL"] + "/2025-12-01/durable-executions/" + arn + "/checkpoint"
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})).read()
    return {"Status": "PENDING"}
`))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The code of a function changes while its executions wait: one of a version or an alias continues with its version,
// one of $LATEST with the new code, and one whose version has been deleted fails.
func TestCodeChangesDuringAnExecution(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{Clock: clock.Virtual(time.Now())})
	s := stacksOf(t, p)
	call := func(operation string, in map[string]any) map[string]any {
		t.Helper()
		in["FunctionName"] = "F"
		out, err := s.try("lambda", operation, in)
		if err != nil {
			t.Fatal(operation, err)
		}
		return out
	}
	call("CreateFunction", map[string]any{"Runtime": "python3.12", "Handler": "index.handler", "Timeout": 20,
		"Role": "arn:aws:iam::000000000000:role/r", "DurableConfig": map[string]any{"ExecutionTimeout": 600},
		"Code": map[string]any{"ZipFile": answering(t, "one")}, "Publish": true})
	call("CreateAlias", map[string]any{"Name": "live", "FunctionVersion": "1"})
	gone := call("PublishVersion", map[string]any{})["Version"]
	if gone == "1" { // the code has not changed since
		call("UpdateFunctionConfiguration", map[string]any{"Description": "another version"})
		gone = call("PublishVersion", map[string]any{})["Version"]
	}
	arns := map[any]string{}
	for _, qualifier := range []any{"1", "live", "$LATEST", gone} {
		arn := call("Invoke", map[string]any{"Qualifier": qualifier, "InvocationType": "Event"})["DurableExecutionArn"].(string)
		arns[qualifier] = arn
		for suspended := false; !suspended; {
			h, err := s.try("lambda", "GetDurableExecutionHistory", map[string]any{"DurableExecutionArn": arn})
			if err != nil {
				t.Fatal(err)
			}
			suspended = strings.Contains(jsonText(h), "InvocationCompleted")
		}
	}
	call("UpdateFunctionCode", map[string]any{"ZipFile": answering(t, "two")})
	call("UpdateAlias", map[string]any{"Name": "live", "FunctionVersion": call("PublishVersion", map[string]any{})["Version"]})
	call("DeleteFunction", map[string]any{"Qualifier": gone})
	for qualifier, want := range map[any]string{"1": "one", "live": "one", "$LATEST": "two", gone: "ResourceNotFoundException"} {
		events, err := p.Durable.History(t.Context(), arns[qualifier])
		if err != nil {
			t.Fatal(err)
		}
		for i := range events {
			if d, err := durable.DetailsOf(&events[i]); err == nil && d.CallbackID != "" {
				if err := p.Durable.Complete(t.Context(), &durable.Callback{ID: d.CallbackID,
					Outcome: durable.Outcome{Status: durable.Succeeded}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if d := ended(t, p, arns[qualifier]); !strings.Contains(jsonText(d), `"`+want+`"`) {
			t.Errorf("%s: %s", qualifier, jsonText(d))
		}
	}
}
