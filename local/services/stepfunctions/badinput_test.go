package stepfunctions_test

import (
	"strings"
	"testing"

	"stepback/aws/server"
	"stepback/local/services/stepfunctions/wiretest"
)

const mib = 1 << 20

// bystander starts an execution that the rest of a test must not affect; check verifies that.
func bystander(t *testing.T, w wiretest.Wire) (check func()) {
	t.Helper()
	machine := w.Machine(t, "bystander", wiretest.Waiting)
	arn := w.Call(t, "StartExecution", map[string]any{"stateMachineArn": machine, "name": "x"})["executionArn"]
	return func() {
		t.Helper()
		if d := w.Call(t, "DescribeExecution", map[string]any{"executionArn": arn}); d["status"] != "RUNNING" {
			t.Errorf("another execution was harmed: %v", d)
		}
	}
}

func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	const serialization, unknown = `{"__type":"SerializationException"`, `{"__type":"UnknownOperationException","message":"SFN `
	for name, c := range map[string]struct {
		operation, body string
		header          []string
		status          int
		want            string
	}{
		"not JSON":   {"ListStateMachines", `{"maxResults":`, nil, 400, serialization},
		"not UTF-8":  {"ListStateMachines", "{\"nextToken\":\"\xff\"}", nil, 400, serialization},
		"two values": {"ListStateMachines", `{}{}`, nil, 400, serialization},
		"an array":   {"ListStateMachines", `[]`, nil, 400, serialization},
		"10,001 deep": {"StartExecution", strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001),
			nil, 400, serialization},
		"a number for a string": {"StartExecution", `{"stateMachineArn":1}`, nil, 400, serialization},
		"no target":             {"", `{}`, []string{"X-Amz-Target", ""}, 400, unknown},
		"another service":       {"", `{}`, []string{"X-Amz-Target", "DynamoDB_20120810.ListTables"}, 400, unknown + "is asked by POST"},
		"no such operation":     {"MakeCoffee", `{}`, nil, 400, unknown + "has no operation MakeCoffee"},
		"a form": {"ListStateMachines", `{}`,
			[]string{"Content-Type", "application/x-www-form-urlencoded"}, 400, unknown},
		"a body over the limit": {"StartExecution", strings.Repeat(" ", mib+1), nil, 413,
			`{"__type":"RequestEntityTooLargeException","message":"Request size exceeded 1048576 bytes"}`},
		"a definition far over": {"CreateStateMachine", strings.Repeat(" ", 4*mib+1), nil, 413,
			`{"__type":"RequestEntityTooLargeException","message":"Request size exceeded 4194304 bytes"}`},
		"a body at the limit": {"ListStateMachines", `{}` + strings.Repeat(" ", server.MaxBody-2), nil, 200,
			`{"stateMachines":[]`},
		"no body": {"ListStateMachines", "", nil, 200, `{"stateMachines":[]`},
		"a charset": {"ListStateMachines", "{}",
			[]string{"Content-Type", "application/x-amz-json-1.0; charset=utf-8"}, 200, `{"stateMachines":[]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, got := w.Post(t, c.operation, c.body, c.header...)
			if status != c.status || !strings.HasPrefix(got, c.want) {
				t.Errorf("%d %.200s\nwant %d %s", status, got, c.status, c.want)
			}
		})
	}
}

func TestPayloadsAtTheLimit(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	defer bystander(t, w)()
	echo := w.Machine(t, "echo", `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`)
	fail := w.Machine(t, "fail", `{"StartAt":"F","States":{"F":{"Type":"Fail","ErrorPath":"$.e","CausePath":"$.c"}}}`)
	grow := w.Machine(t, "grow", `{"StartAt":"P","States":{"P":{"Type":"Pass","Parameters":{"a.$":"States.Format('{}{}{}', $.a, $.a, $.a)"},"OutputPath":"$.a","End":true}}}`)
	const invalid = "ValidationException: 1 validation error detected: Value at "
	const over = invalid + "'input' failed to satisfy constraint: Member must have size less than or equal to 262144 bytes in UTF-8 e"
	if d := w.Run(t, echo, wiretest.Text(wiretest.MaxPayload)); d["output"] != wiretest.Text(wiretest.MaxPayload) {
		t.Errorf("an input of 256 KiB: %s", wiretest.Refusal(d))
	}
	if d := w.Run(t, echo, wiretest.Text(wiretest.MaxPayload+1)); !strings.HasPrefix(wiretest.Refusal(d), over) {
		t.Errorf("one byte more: %s", wiretest.Refusal(d))
	}
	if d := w.Run(t, echo, `"`+strings.Repeat("é", wiretest.MaxPayload/2)+`"`); !strings.HasPrefix(wiretest.Refusal(d), over) {
		t.Errorf("more bytes than characters: %s", wiretest.Refusal(d))
	}
	if d := w.Run(t, fail, `{"e":"E","c":`+wiretest.Text(32_768)+`}`); d["status"] != "FAILED" ||
		len(d["cause"].(string)) != 32_766 {
		t.Errorf("a long cause: %v %s", d["status"], wiretest.Refusal(d))
	}
	if d := w.Run(t, grow, `{"a":`+wiretest.Text(wiretest.MaxPayload/2)+`}`); d["error"] != "States.DataLimitExceeded" {
		t.Errorf("an output that is too large: %v %v %v", d["status"], d["error"], wiretest.Refusal(d))
	}
	stopped := w.Call(t, "StartExecution", map[string]any{"stateMachineArn": w.Machine(t, "w",
		wiretest.Waiting)})["executionArn"]
	for _, c := range []struct {
		cause int
		want  string
	}{{32_769, invalid + "'cause' failed to satisfy constraint: Member must have length less than or equal to 32768"},
		{32_768, ": "}} {
		if d := w.Call(t, "StopExecution", map[string]any{"executionArn": stopped, "cause": strings.Repeat("c",
			c.cause)}); !strings.HasPrefix(wiretest.Refusal(d), c.want) {
			t.Errorf("a cause of %d: %s", c.cause, wiretest.Refusal(d))
		}
	}
}

func TestDeepJSON(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	defer bystander(t, w)()
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	echo := w.Machine(t, "echo", `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`)
	if d := w.Run(t, echo, deep); !strings.HasPrefix(wiretest.Refusal(d), "InvalidExecutionInput: ") {
		t.Errorf("%s", wiretest.Refusal(d))
	}
	definition := `{"StartAt":"P","States":{"P":{"Type":"Pass","Result":` + deep + `,"End":true}}}`
	if d := w.Call(t, "CreateStateMachine", map[string]any{"name": "d", "definition": definition,
		"roleArn": wiretest.Role}); !strings.HasPrefix(wiretest.Refusal(d), "InvalidDefinition: ") {
		t.Errorf("%s", wiretest.Refusal(d))
	}
	if d := w.Call(t, "ValidateStateMachineDefinition",
		map[string]any{"definition": definition}); d["result"] != "FAIL" {
		t.Errorf("%v", d)
	}
}

// TestDefinitionsAtTheLimit creates state machines with definitions of exactly 1 MiB and of one byte more.
func TestDefinitionsAtTheLimit(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	defer bystander(t, w)()
	const before, after = `{"Comment":"`, `","StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`
	for more, want := range []string{": ",
		"ValidationException: 1 validation error detected: Value at 'definition' failed"} {
		definition := before + strings.Repeat("c", mib+more-len(before)-len(after)) + after
		for _, operation := range []string{"CreateStateMachine", "ValidateStateMachineDefinition"} {
			if d := w.Call(t, operation, map[string]any{"name": "m", "definition": definition,
				"roleArn": wiretest.Role}); !strings.HasPrefix(wiretest.Refusal(d), want) {
				t.Errorf("%s of %d bytes: %s", operation, len(definition), wiretest.Refusal(d))
			}
		}
	}
}

// TestValuesThatShareParts repeatedly selects parts of a deep document; written out, the result would take gigabytes.
func TestValuesThatShareParts(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	defer bystander(t, w)()
	const depth = 490
	input := strings.Repeat(`{"p":"`+strings.Repeat("p", 500)+`","a":`, depth) + "1" + strings.Repeat("}", depth)
	const all, large = `$..a..a`, "States.DataLimitExceeded"
	for name, c := range map[string]struct{ state, want string }{
		"Parameters":   {`"Parameters":{"x.$":"` + all + `"}`, large},
		"InputPath":    {`"InputPath":"` + all + `"`, large},
		"OutputPath":   {`"OutputPath":"` + all + `"`, large},
		"Assign":       {`"Assign":{"x.$":"` + all + `"}`, large},
		"JsonToString": {`"Parameters":{"x.$":"States.JsonToString(` + all + `)"}`, "States.IntrinsicFailure"},
		"Format":       {`"Parameters":{"x.$":"States.Format('{}', ` + all + `)"}`, "States.IntrinsicFailure"},
		"Hash":         {`"Parameters":{"x.$":"States.Hash(` + all + `, 'MD5')"}`, "States.IntrinsicFailure"},
	} {
		d := w.Run(t, w.Machine(t, name, `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true,`+c.state+`}}}`),
			input)
		if d["status"] != "FAILED" || d["error"] != c.want {
			t.Errorf("%s: %v %v, want %s", name, d["status"], d["error"], c.want)
		}
	}
	const processor = `"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}}`
	d := w.Run(t, w.Machine(t, "map", `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemSelector":{"x.$":"$$.Map.Item.Value..a..a"},`+processor+`}}}`), "["+input+"]")
	if d["status"] != "FAILED" || d["error"] != large {
		t.Errorf("ItemSelector: %v %v", d["status"], d["error"])
	}
	a := w.Call(t, "TestState", map[string]any{
		"definition": `{"Type":"Pass","End":true,"InputPath":"` + all + `"}`, "input": input,
		"inspectionLevel": "DEBUG",
	})
	if a["status"] != "FAILED" || a["error"] != large {
		t.Errorf("%v %v", a["status"], a["error"])
	}
}

// TestHistoriesAtTheLimit runs state machines whose history would have exactly 25,000 events, and more.
func TestHistoriesAtTheLimit(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	defer bystander(t, w)()
	endless := w.Machine(t, "endless", `{"StartAt":"A","States":{"A":{"Type":"Choice",
		"Choices":[{"Variable":"$.never","IsPresent":true,"Next":"Z"}],"Default":"B"},"B":{"Type":"Pass","Next":"A"},"Z":{"Type":"Succeed"}}}`)
	d := w.Run(t, endless, "{}")
	if d["status"] != "FAILED" || d["error"] != "States.Runtime" {
		t.Errorf("%v", d)
	}
	// A Map has six events in addition to four per iteration, and a Pass state has two: 6,248 iterations and one Pass
	// state are 25,000 events.
	for first, want := range map[string]string{
		`{"StartAt":"P","States":{`:                                "SUCCEEDED",
		`{"StartAt":"O","States":{"O":{"Type":"Pass","Next":"P"},`: "FAILED",
	} {
		exact := w.Machine(t, want, first+
			`"P":{"Type":"Pass","Next":"M"},"M":{"Type":"Map","End":true,"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}}}}}`)
		if d := w.Run(t, exact, "["+strings.Repeat("1,", 6247)+"1]"); d["status"] != want {
			t.Errorf("%v %v %v, want %s", d["status"], d["error"], d["cause"], want)
		}
	}
	h := w.Call(t, "GetExecutionHistory", map[string]any{"executionArn": d["executionArn"], "reverseOrder": true,
		"maxResults": 1})
	last := h["events"].([]any)[0].(map[string]any)
	if last["id"] != 25_000.0 || last["type"] != "ExecutionFailed" {
		t.Errorf("%v", last)
	}
}

// An expression that never ends fails only its own execution.
func TestExpressionThatNeverEnds(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	defer bystander(t, w)()
	machine := w.Machine(t, "m", `{"QueryLanguage":"JSONata","StartAt":"P","States":{"P":{"Type":"Pass","End":true,
		"Output":"{% ($f := function($n) { $n > 0 ? $f($n + 1) : 0 }; $f(1)) %}"}}}`)
	if d := w.Run(t, machine, "{}"); d["status"] != "FAILED" || d["error"] != "States.QueryEvaluationError" {
		t.Errorf("%v", d)
	}
}
