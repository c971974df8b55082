package teststate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"stepback/local/services/stepfunctions/wiretest"
)

// tested tests a state and returns the response.
func tested(t *testing.T, w wiretest.Wire, definition, more string) map[string]any {
	t.Helper()
	request := map[string]any{}
	if err := json.Unmarshal([]byte("{"+more+"}"), &request); err != nil {
		t.Fatal(err)
	}
	request["definition"] = definition
	return w.Call(t, "TestState", request)
}

const (
	mapped = `{"Type":"Map","End":true,"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},` +
		`"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`
	activity = `{"Type":"Task","End":true,"Resource":"arn:aws:states:us-east-1:123456789012:activity:a"}`
	reader   = `,"ItemReader":{"Resource":"arn:aws:states:::s3:getObject","Parameters":{"Bucket":"b","Key":"k"},` +
		`"ReaderConfig":{"InputType":"JSON","ItemsPointer":"/a/b"}}}`
)

// taskOf returns a Task state that calls an integration.
func taskOf(integration string) string {
	return `{"Type":"Task","End":true,"Parameters":{},"Resource":"arn:aws:states:::` + integration + `"}`
}

func mocked(result string) string {
	text, _ := json.Marshal(result)
	return `"mock":{"result":` + string(text) + `}`
}

// TestRefusedTests checks tests that are rejected before the state runs.
func TestRefusedTests(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	const schema = "ValidationException: Mock result schema validation error: "
	for name, c := range map[string]struct{ definition, more, want string }{
		"activity": {activity, `"roleArn":"` + wiretest.Role + `"`,
			"InvalidDefinition: TestState API does not support Activity tasks"},
		"job": {taskOf("ecs:runTask.sync"), `"roleArn":"` + wiretest.Role + `"`,
			"InvalidDefinition: TestState API does not support the .sync integration"},
		"token": {taskOf("sqs:sendMessage.waitForTaskToken"), `"roleArn":"` + wiretest.Role + `"`,
			"InvalidDefinition: TestState API does not support the .waitForTaskToken"},
		"no role": {taskOf("sqs:sendMessage"), ``,
			"ValidationException: RoleArn must be specified when testing a Task state"},
		"context, no mock": {`{"Type":"Succeed"}`, `"context":"{}"`,
			"ValidationException: TestState does not support Context when a mock is not specified."},
		"negative count": {mapped + "}", mocked("[]") + `,"stateConfiguration":{"retrierRetryCount":-1}`,
			"ValidationException: 1 validation error detected: Value '-1'"},
		"unknown cause": {
			mapped + "}", `"mock":{"errorOutput":{"error":"E"}},"stateConfiguration":{"errorCausedByState":"Q"}`,
			"ValidationException: State not found in definition",
		},
		"broken mock": {taskOf("sqs:sendMessage"), mocked("{"),
			"ValidationException: Mocked result must be valid JSON"},
		"token for a task without one": {taskOf("sqs:sendMessage"), mocked("{}") + `,"context":"{\"Task\":{\"Token\":\"t\"}}"`,
			"ValidationException: Invalid Context object provided: Context object contains 'Task' when state is not a " +
				"Task state with a '.sync' or '.waitForTaskToken' service integration pattern"},
		"array for an object": {taskOf("sqs:sendMessage"), mocked("[]"),
			"ValidationException: Mocked result must be a JSON object."},
		"optimized names": {taskOf("dynamodb:getItem"), mocked(`{"Item":{"a":{"BOOL":1}}}`),
			schema + "Field 'BOOL' must be a boolean"},
		"names of the SDK": {taskOf("aws-sdk:dynamodb:getItem"), mocked(`{"Item":{"a":{"Bool":1}}}`),
			schema + "Field 'Bool' must be a boolean"},
		"polled action": {taskOf("states:startExecution.sync"), mocked(`{"ExecutionArn":"e"}`),
			schema + "Required field 'StateMachineArn' is missing"},
		"job's status": {taskOf("glue:startJobRun.sync"), mocked(`{"JobRun":{"JobRunState":"DONE"}}`),
			schema + "Field 'JobRunState' is not an expected value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := wiretest.Refusal(tested(t, w, c.definition, c.more)); !strings.HasPrefix(got, c.want) {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// Mocked results are accepted where their shape is not defined by an API model.
func TestMocksThatAreAccepted(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	for name, c := range map[string]struct{ definition, result string }{
		"activity":            {activity, `7`},
		"token":               {taskOf("sqs:sendMessage.waitForTaskToken"), `"done"`},
		"function":            {`{"Type":"Task","End":true,"Resource":"arn:aws:lambda:us-east-1:123456789012:function:f"}`, `[1]`},
		"payload of any kind": {taskOf("lambda:invoke"), `{"Payload":{"a":[1]},"StatusCode":200}`},
		"parsed output": {taskOf("states:startExecution.sync:2"),
			`{"ExecutionArn":"e","StateMachineArn":"m","StartDate":"d","Status":"SUCCEEDED","Output":{"a":1}}`},
		"HTTP Task":             {taskOf("http:invoke"), `{"StatusCode":200,"ResponseBody":[]}`},
		"unknown service":       {taskOf("aws-sdk:brandnew:getIt"), `{"a":1}`},
		"action without result": {taskOf("aws-sdk:sqs:deleteMessage"), `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a := tested(t, w, c.definition, mocked(c.result)); a["status"] != "SUCCEEDED" || a["output"] != c.result {
				t.Error(a)
			}
		})
	}
}

// TestInspectionOfMaps checks the stages that do not occur in recordings.
func TestInspectionOfMaps(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	definition := mapped + `,"ItemBatcher":{"MaxItemsPerBatch":2},"ItemSelector":{"v.$":"$$.Map.Item.Value"}` + reader
	a := tested(t, w, definition, mocked("[1,2]")+
		`,"inspectionLevel":"DEBUG","stateConfiguration":{"mapItemReaderData":"{\"a\":{\"b\":[1,2,3]}}"}`)
	data, _ := a["inspectionData"].(map[string]any)
	for stage, want := range map[string]string{
		"afterItemsPointer": `[1,2,3]`,
		"afterItemSelector": `[{"v":1},{"v":2},{"v":3}]`,
		"afterItemBatcher":  `[{"Items":[{"v":1},{"v":2}]},{"Items":[{"v":3}]}]`,
	} {
		if data[stage] != want {
			t.Errorf("%s is %v, want %s (%v)", stage, data[stage], want, a)
		}
	}
}

// The inspection of a Parallel state has no afterArguments, because each branch evaluates them itself.
func TestInspectionOfParallelStates(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	a := tested(t, w, `{"Type":"Parallel","QueryLanguage":"JSONata","Arguments":{"a":1},"End":true,"Branches":[
		{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}]}`, mocked("[1]")+`,"inspectionLevel":"DEBUG"`)
	data, _ := a["inspectionData"].(map[string]any)
	if _, ok := data["afterArguments"]; ok || a["output"] != "[1]" {
		t.Error(a)
	}
}

// A Wait state ends at once, unless it takes longer than a test may.
func TestWaits(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	for seconds, want := range map[string]string{"0": "SUCCEEDED", "60": "SUCCEEDED", "299": "SUCCEEDED", "300": "FAILED"} {
		a := tested(t, w, `{"Type":"Wait","Seconds":`+seconds+`,"End":true}`, `"input":"{\"a\":1}"`)
		if a["status"] != want || want == "FAILED" && a["error"] != "States.Timeout" || want != "FAILED" && a["output"] != `{"a":1}` {
			t.Errorf("%s seconds: got %v, want %s", seconds, a, want)
		}
	}
}

func TestItemsPointerThatLeadsNowhere(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	definition := mapped + `,"Next":"N","Catch":[{"ErrorEquals":["States.ItemReaderFailed"],"Next":"C"}]` + reader
	definition = strings.Replace(definition, `"End":true,"ItemP`, `"ItemP`, 1)
	a := tested(t, w, definition, mocked("[]")+`,"stateConfiguration":{"mapItemReaderData":"{}"}`)
	const cause = `ItemsPointer "/a/b" finds nothing: there is no "/a" in the JSON document`
	if a["status"] != "CAUGHT_ERROR" || a["nextState"] != "C" || a["cause"] != cause {
		t.Error(a)
	}
}
