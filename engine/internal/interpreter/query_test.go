package interpreter_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// jsonata returns a JSONata state machine with one state X, of the given type and fields, and the state After if they
// mention it.
func jsonata(fields string) string {
	after := ""
	if strings.Contains(fields, `"After"`) {
		after = `,"After":{"Type":"Succeed"}`
	}
	return `{"QueryLanguage":"JSONata","StartAt":"X","States":{"X":{` + fields + `}` + after + `}}`
}

func TestJSONataStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fields, input, want string }{
		"pass hands on": {`"Type":"Pass","End":true`, `{"a": 1.0}`, `{"a": 1.0}`},
		"output":        {`"Type":"Pass","Output":{"b":"{% $states.input.a + 1 %}","c":["{% $states.context.State.Name %}"]},"End":true`, `{"a":1}`, `{"b":2,"c":["X"]}`},
		"succeed":       {`"Type":"Succeed","Output":"{% $states.input.a %}"`, `{"a":[1]}`, `[1]`},
		"task": {
			`"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Arguments":{"n":"{% $states.input.a %}"},
				"Output":{"in":"{% $states.input %}","out":"{% $states.result.ok %}"},"End":true`, `{"a":1}`,
			`{"in":{"a":1},"out":true}`,
		},
		"caught": {
			`"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","End":true,"Arguments":"fail",
				"Catch":[{"ErrorEquals":["Boom"],"Next":"After","Output":{"why":"{% $states.errorOutput.Cause %}","of":"{% $states.input.a %}"}}]`,
			`{"a":1}`, `{"why":"because","of":1}`,
		},
		"caught without Output": {
			`"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","End":true,"Arguments":"fail","Catch":[{"ErrorEquals":["Boom"],"Next":"After"}]`,
			`{"a":1}`, `{"Error":"Boom","Cause":"because"}`,
		},
		"first rule": {
			`"Type":"Choice","Choices":[{"Condition":false,"Next":"X"},{"Condition":"{% $states.input.a = 1 %}","Next":"After","Output":"one"}],
				"Default":"After","Output":"other"`, `{"a":1}`, `"one"`,
		},
		"no rule": {
			`"Type":"Choice","Choices":[{"Condition":"{% $states.input.a = 1 %}","Next":"After","Output":"one"}],"Default":"After","Output":"other"`,
			`{"a":2}`, `"other"`,
		},
		"map": {
			`"Type":"Map","End":true,"Items":"{% $states.input.list %}","MaxConcurrency":"{% $count($states.input.list) %}",
				"ItemSelector":{"i":"{% $states.context.Map.Item.Index %}","v":"{% $states.context.Map.Item.Value %}","k":"{% $states.input.k %}"},
				"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass","Output":"{% $states.input.k & $states.input.v & $states.input.i %}","End":true}}},
				"Output":"{% $join($states.result, '-') %}"`, `{"list":["a","b"],"k":"x"}`, `"xa0-xb1"`,
		},
		"parallel": {
			`"Type":"Parallel","End":true,"Arguments":{"n":"{% $states.input.a %}"},"Output":"{% $sum($states.result) %}","Branches":[
				{"StartAt":"L","States":{"L":{"Type":"Pass","Output":"{% $states.input.n * 2 %}","End":true}}},
				{"StartAt":"R","States":{"R":{"Type":"Pass","Output":"{% $states.input.n * 3 %}","End":true}}}]`,
			`{"a":2}`, `10`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, jsonata(c.fields), c.input)
			w.answer = func(call *interpreter.TaskCall) interpreter.Signal {
				if call.Parameters == `"fail"` {
					return interpreter.Signal{Kind: interpreter.TaskFailed, Failure: history.NewFailure("Boom",
						"because")}
				}
				return interpreter.Signal{Kind: interpreter.TaskSucceeded, Output: jsonvalue.TextDocument(`{"ok":` +
					"true" + `,"was":` + call.Parameters + `}`)}
			}
			if w.run(t); w.x.Output() != c.want {
				t.Errorf("output %s, want %s; %+v\n%s", w.x.Output(), c.want, w.x.Failure(), w.trace())
			}
		})
	}
}

// TestEvaluationFailures checks where in the history the service writes the failure of an expression, and its
// wording.
func TestEvaluationFailures(t *testing.T) {
	t.Parallel()
	const at = "An error occurred while executing the state 'X' (entered at the event id #2). "
	for name, c := range map[string]struct{ fields, want, location, cause string }{
		"output": {
			`"Type":"Pass","Output":{"a":"{% $none %}"},"End":true`, `
			1<0 ExecutionStarted
			2<0 PassStateEntered X {}
			3<0 EvaluationFailed X error=States.QueryEvaluationError
			4<3 ExecutionFailed error=States.QueryEvaluationError`, "Output/a",
			"The JSONata expression '$none' specified for the field 'Output/a' returned nothing (undefined).",
		},
		"timestamp": {
			`"Type":"Wait","Timestamp":"{% 'soon' %}","End":true`, `
			1<0 ExecutionStarted
			2<0 WaitStateEntered X {}
			3<2 EvaluationFailed X error=States.QueryEvaluationError
			4<3 ExecutionFailed error=States.QueryEvaluationError`, "Timestamp",
			"The Timestamp field cannot be parsed as an ISO-8601 extended offset date-time format string: soon",
		},
		"input that is no array": {
			`"Type":"Map","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}},"End":true`, `
			1<0 ExecutionStarted
			2<0 MapStateEntered X {}
			3<0 EvaluationFailed X error=States.QueryEvaluationError
			4<3 MapStateFailed
			5<4 ExecutionFailed error=States.QueryEvaluationError`, "", "Map state input must be an array but was: {}",
		},
		"item selector": {
			`"Type":"Map","Items":[1],"ItemSelector":"{% $none %}","ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}},"End":true`, `
			1<0 ExecutionStarted
			2<0 MapStateEntered X {}
			3<2 MapStateStarted length=1
			4<3 MapIterationStarted X[0]
			5<4 EvaluationFailed X error=States.QueryEvaluationError
			6<5 MapIterationFailed X[0]
			7<5 MapStateFailed
			8<7 ExecutionFailed error=States.QueryEvaluationError`, "ItemSelector",
			"The JSONata expression '$none' specified for the field 'ItemSelector' returned nothing (undefined).",
		},
		"condition": {
			`"Type":"Choice","Choices":[{"Condition":false,"Next":"After"},{"Condition":"{% 1 %}","Next":"After"}]`, `
			1<0 ExecutionStarted
			2<0 ChoiceStateEntered X {}
			3<0 EvaluationFailed X error=States.QueryEvaluationError
			4<3 ExecutionFailed error=States.QueryEvaluationError`, "Choices[1]/Condition",
			"The JSONata expression '1' specified for the field 'Choices[1]/Condition' returned an unexpected result type. " +
				"Expected 'boolean', but was 'number' for value: 1",
		},
		"seconds": {
			`"Type":"Wait","Seconds":"{% -1 %}","End":true`, `
			1<0 ExecutionStarted
			2<0 WaitStateEntered X {}
			3<2 EvaluationFailed X error=States.QueryEvaluationError
			4<3 ExecutionFailed error=States.QueryEvaluationError`, "Seconds",
			"The Seconds field must be a whole number from 0 on but was: -1",
		},
		"error name": {
			`"Type":"Fail","Error":"{% 5 %}"`, `
			1<0 ExecutionStarted
			2<0 FailStateEntered X {}
			3<0 EvaluationFailed X error=States.QueryEvaluationError
			4<3 ExecutionFailed error=States.QueryEvaluationError`, "Error",
			"The JSONata expression '5' specified for the field 'Error' returned an unexpected result type. " +
				"Expected 'string', but was 'number' for value: 5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, jsonata(c.fields), `{}`).run(t)
			w.expect(t, c.want)
			if got := w.x.Failure().Cause; got != at+c.cause {
				t.Errorf("cause %s\nwant  %s", got, at+c.cause)
			}
			for _, e := range w.history {
				if e.Type == history.EvaluationFailed && e.More.Location != c.location {
					t.Errorf("location %q, want %q", e.More.Location, c.location)
				}
			}
		})
	}
}

func TestEvaluationFailuresAreRetriedAndCaught(t *testing.T) {
	t.Parallel()
	w := newWorld(t, jsonata(`"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Arguments":"{% $none %}","End":true,
		"Retry":[{"ErrorEquals":["States.QueryEvaluationError"],"MaxAttempts":1}],"Catch":[{"ErrorEquals":["States.ALL"],"Next":"After","Output":1}]`), `{}`)
	w.run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 TaskStateEntered X {}
		3<0 EvaluationFailed X error=States.QueryEvaluationError
		4<3 EvaluationFailed X error=States.QueryEvaluationError
		5<4 TaskStateExited X 1
		6<5 SucceedStateEntered After 1
		7<6 SucceedStateExited After 1
		8<7 ExecutionSucceeded 1`)
}

// TestACatcherThatFailsEndsTheState: a value that the catcher itself builds fails with an error that the same catcher
// would match.
func TestACatcherThatFailsEndsTheState(t *testing.T) {
	t.Parallel()
	for language, definition := range map[string]string{
		"JSONata": jsonata(`"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","End":true,
			"Retry":[{"ErrorEquals":["States.ALL"],"MaxAttempts":2}],
			"Catch":[{"ErrorEquals":["States.ALL"],"Next":"After","Output":"{% $none %}"}]`),
		"JSONPath": `{"StartAt":"X","States":{"X":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","End":true,
			"Retry":[{"ErrorEquals":["States.ALL"],"MaxAttempts":2}],
			"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Caught","ResultPath":"$.a.b.c"}]},"Caught":{"Type":"Succeed"}}}`,
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, definition, `{"a":[1]}`)
			w.answer = script(map[string][]string{"X": {"!Boom"}})
			if w.run(t); w.x.Status() != history.Failed || len(w.waited) != 2 || w.x.Failure().Name == "Boom" {
				t.Errorf("%s, %d retries, %+v", w.x.Status(), len(w.waited), w.x.Failure())
			}
		})
	}
}

func TestVariablesAcrossLanguages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"A","States":{
		"A":{"Type":"Pass","Assign":{"a":1,"b.$":"$.n"},"Next":"B"},
		"B":{"Type":"Pass","QueryLanguage":"JSONata","Assign":{"a":"{% $b %}","b":"{% $a %}","sum":"{% $a + $b %}"},"Output":"{% $a %}","Next":"C"},
		"C":{"Type":"Pass","Parameters":{"a.$":"$a","b.$":"$b","sum.$":"$sum","in.$":"$"},"End":true}}}`,
		`{"n":5}`).run(t)
	if want := `{"a":5,"b":1,"sum":6,"in":1}`; w.x.Output() != want {
		t.Errorf("%s, want %s\n%s", w.x.Output(), want, w.trace())
	}
}

// TestNowAndRandomComeFromTheEvent checks that replaying the same signals gives the same output.
func TestNowAndRandomComeFromTheEvent(t *testing.T) {
	t.Parallel()
	definition := jsonata(`"Type":"Pass","End":true,"Output":{"now":"{% $now() %}","id":"{% $uuid() %}","r":"{% $random() %}","s":"{% $random(7) %}"}`)
	first, again := newWorld(t, definition, `{}`).run(t).x.Output(), newWorld(t, definition, `{}`).run(t).x.Output()
	if first != again || !strings.Contains(first, `"now":"`+epoch.Format("2006-01-02T15:04:05.000Z")) {
		t.Errorf("%s\n%s", first, again)
	}
	other := newWorld(t, definition, `{}`)
	other.seed, other.now = 77, epoch.Add(time.Hour)
	if got := other.run(t).x.Output(); got == first {
		t.Errorf("another seed and time give the same output: %s", got)
	}
}

func TestJSONataMapRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, jsonata(`"Type":"Map","End":true,"Assign":{"x":"{% $states.result[0] %}"},
		"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}},
		"ItemReader":{"Resource":"arn:aws:states:::s3:getObject","Arguments":{"Bucket":"{% $states.input.b %}","Key":"k"},
			"ReaderConfig":{"InputType":"JSON","MaxItems":"{% 2 %}"}},
		"ItemSelector":{"v":"{% $states.context.Map.Item.Value & $states.input.b %}"},
		"ItemBatcher":{"MaxItemsPerBatch":"{% 3 %}","BatchInput":{"b":"{% $states.input.b %}"}},
		"ToleratedFailureCount":"{% 4 %}","ToleratedFailurePercentage":"{% 12.5 %}","MaxConcurrency":"{% 5 %}"`),
		`{"b":"B"}`)
	w.mapRun = func(c *interpreter.MapRunCall) interpreter.Signal {
		item, err := c.Select(t.Context(), 0, parse(t, `"i"`), "", "")
		if err != nil {
			t.Error(err)
		}
		got := strings.Join([]string{c.ReaderParameters.JSON(), c.MaxItems.JSON(), item.JSON(), c.BatchInput.JSON()},
			" ")
		if want := `{"Bucket":"B","Key":"k"} 2 {"v":"iB"} {"b":"B"}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if c.MaxItemsPerBatch != 3 || c.ToleratedFailureCount != 4 || c.ToleratedFailurePercentage != 12.5 ||
			c.MaxConcurrency != 5 {
			t.Errorf("%+v", c)
		}
		return interpreter.Signal{Kind: interpreter.MapRunSucceeded, Output: jsonvalue.TextDocument(`[7]`)}
	}
	if w.run(t); w.x.Output() != `[7]` || !strings.Contains(w.trace(), "$x=7") {
		t.Errorf("%s\n%s", w.x.Output(), w.trace())
	}
}

func parse(tb testing.TB, text string) jsonvalue.Value {
	tb.Helper()
	v, err := jsonvalue.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// TestAResultThatDoesNotFitIsCaught: a ResultPath fails after the task, and the catcher's own ResultPath fits.
func TestAResultThatDoesNotFitIsCaught(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"X","States":{"X":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","End":true,"ResultPath":"$.a.b.c",
		"Catch":[{"ErrorEquals":["States.ResultPathMatchFailure"],"Next":"After","ResultPath":null}]},"After":{"Type":"Succeed"}}}`, `{"a":[1]}`)
	w.answer = script(map[string][]string{"X": {`{}`}})
	if w.run(t); w.x.Output() != `{"a":[1]}` {
		t.Errorf("%s %+v\n%s", w.x.Output(), w.x.Failure(), w.trace())
	}
}

// BenchmarkLoop counts to 100 with a Pass and a Choice state, in both query languages.
func BenchmarkLoop(b *testing.B) {
	for language, definition := range map[string]string{
		"JSONPath": `{"StartAt":"P","States":{"P":{"Type":"Pass","Parameters":{"n.$":"States.MathAdd($.n, 1)"},"Next":"C"},
			"C":{"Type":"Choice","Choices":[{"Variable":"$.n","NumericLessThan":100,"Next":"P"}],"Default":"E"},"E":{"Type":"Succeed"}}}`,
		"JSONata": `{"QueryLanguage":"JSONata","StartAt":"P","States":{"P":{"Type":"Pass","Output":{"n":"{% $states.input.n + 1 %}"},"Next":"C"},
			"C":{"Type":"Choice","Choices":[{"Condition":"{% $states.input.n < 100 %}","Next":"P"}],"Default":"E"},"E":{"Type":"Succeed"}}}`,
	} {
		b.Run(language, func(b *testing.B) {
			p := compile(b, definition)
			var r interpreter.Result
			b.ReportAllocs()
			for b.Loop() {
				r.Reset()
				x := interpreter.New(interpreter.Machine{Plan: p},
					&history.Info{Origin: history.Origin{Input: `{"n":0}`}})
				x.Step(&interpreter.Signal{Kind: interpreter.Start, At: epoch}, &r)
				if x.Status() != history.Succeeded {
					b.Fatal(x.Failure())
				}
			}
		})
	}
}

// TestHeavyExpressionsYield runs a loop of expressions that each do the work of many transitions.
func TestHeavyExpressionsYield(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"QueryLanguage":"JSONata","StartAt":"P","States":{"P":{"Type":"Pass","Output":"{% $sum([1..50000].($ * 2)) %}","Next":"Q"},
		"Q":{"Type":"Pass","Output":"{% $sum([1..500000]) %}","Next":"R"},"R":{"Type":"Pass","End":true}}}`, `{}`)
	w.step(interpreter.Signal{Kind: interpreter.Start})
	if w.x.Status() != history.Running || len(w.queue) != 1 || w.queue[0].Kind != interpreter.Continue {
		t.Fatalf("%s, queue %v", w.x.Status(), w.queue)
	}
	if w.finish(t); w.x.Output() != "125000250000" {
		t.Errorf("%s %+v", w.x.Output(), w.x.Failure())
	}
}

func TestItemSelectorErrors(t *testing.T) {
	t.Parallel()
	for selector, want := range map[string]string{
		`"QueryLanguage":"JSONata","ItemSelector":{"a":"{% $none %}"}`: "States.QueryEvaluationError: An error occurred while executing the state 'X' " +
			"(entered at the event id #2). The JSONata expression '$none' specified for the field 'ItemSelector/a' returned nothing (undefined).",
		`"ItemSelector":{"a.$":"$.none"}`: "States.Runtime: An error occurred while executing the state 'X' (entered at the event id #2). " +
			"The JSONPath '$.none' specified for the field 'a.$' could not be found in the input '[7]'",
		`"ItemSelector":{"a.$":"States.ArrayGetItem($, 3)"}`: "States.IntrinsicFailure: An error occurred while executing the state 'X' (entered at the event id #2). " +
			"The function 'States.ArrayGetItem($, 3)' had the following error: Invalid arguments in States.ArrayGetItem",
		`"ItemSelector":{"a.$":"States.Array( $.none)"}`: "States.Runtime: An error occurred while executing the state 'X' (entered at the event id #2). " +
			"The function 'States.Array( $.none)' had the following error: The JsonPath argument for the field '$.none' could not be found in the input '[7]'",
		`"ItemSelector":{"a.$":"$$.none"}`: "States.Runtime: An error occurred while executing the state 'X' (entered at the event id #2). " +
			"The JSONPath '$$.none' specified for the field 'a.$' could not be found in the input '{",
	} {
		w := newWorld(t, `{"StartAt":"X","States":{"X":{"Type":"Map","End":true,`+selector+`,"ItemProcessor":{
			"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}}}}}`, `[7]`)
		w.mapRun = func(c *interpreter.MapRunCall) interpreter.Signal {
			if _, err := c.Select(t.Context(), 0, c.Items[0], "", ""); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v\nwant %s", err, want)
			}
			return interpreter.Signal{Kind: interpreter.MapRunSucceeded, Output: jsonvalue.TextDocument(`[]`)}
		}
		w.run(t)
	}
}

func TestInputsOfBranchesAndIterationsAreLimited(t *testing.T) {
	t.Parallel()
	big := func(n int) string { return fmt.Sprintf(`"{%% $pad('', %d, 'x') %%}"`, n-2) } // two bytes for the quotes
	for name, fields := range map[string]string{
		"branch":    `"Type":"Parallel","Arguments":%s,"End":true,"Branches":[{"StartAt":"I","States":{"I":{"Type":"Pass","Output":1,"End":true}}}]`,
		"iteration": `"Type":"Map","Items":[1],"ItemSelector":%s,"End":true,"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass","Output":1,"End":true}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if w := newWorld(t, jsonata(fmt.Sprintf(fields, big(interpreter.MaxPayload))),
				`{}`).run(t); w.x.Output() != "[1]" {
				t.Errorf("at the limit: %s %+v", w.x.Status(), w.x.Failure())
			}
			w := newWorld(t, jsonata(fmt.Sprintf(fields, big(interpreter.MaxPayload+1))), `{}`).run(t)
			if w.x.Failure().Name != plan.ErrDataLimitExceeded {
				t.Errorf("one byte more: %s %+v", w.x.Status(), w.x.Failure())
			}
		})
	}
}

func TestVariablesAreLimited(t *testing.T) {
	t.Parallel()
	assign := func(n int) string {
		return jsonata(fmt.Sprintf(`"Type":"Pass","Assign":{"v":"{%% $pad('', %d, 'x') %%}"},"Output":"{%% 1 %%}","End":true`, n-2))
	}
	if w := newWorld(t, assign(interpreter.MaxPayload), `{}`).run(t); w.x.Output() != "1" {
		t.Errorf("at the limit: %s %+v", w.x.Status(), w.x.Failure())
	}
	if w := newWorld(t, assign(interpreter.MaxPayload+1),
		`{}`).run(t); w.x.Failure().Name != plan.ErrDataLimitExceeded {
		t.Errorf("one byte more: %s %+v", w.x.Status(), w.x.Failure())
	}
}

func TestARoleThatIsNoStringIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, jsonata(`"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Arguments":{"FunctionName":"f"},
		"Credentials":{"RoleArn":"{% 1 %}"},"End":true`), `{}`).run(t)
	const want = "The JSONata expression '1' specified for the field 'Credentials/RoleArn' returned an unexpected result type. " +
		"Expected 'string', but was 'number' for value: 1"
	if f := w.x.Failure(); f.Name != "States.QueryEvaluationError" || !strings.HasSuffix(f.Cause, want) {
		t.Errorf("%+v", f)
	}
}
