package interpreter_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stepback/asl"
	"stepback/asl/jsonvalue"
	"stepback/engine/history"
	"stepback/engine/interpreter"
	"stepback/engine/plan"
)

// notes is a Trace that writes down what it is told.
type notes struct{ strings.Builder }

func (n *notes) Data(stage interpreter.Stage, data *interpreter.Payload) {
	fmt.Fprintf(n, "%s %s\n", stage, data.Text())
}
func (n *notes) Retry(i int, delay time.Duration) { fmt.Fprintf(n, "retry %d after %v\n", i, delay) }
func (n *notes) Exhausted(i int)                  { fmt.Fprintf(n, "exhausted %d\n", i) }
func (n *notes) Catch(i int)                      { fmt.Fprintf(n, "catch %d\n", i) }
func (n *notes) Next(s *plan.State) {
	if s != nil {
		fmt.Fprintf(n, "next %s\n", s.Name)
	}
}

// isolated runs a state alone; a mock that starts with ! fails the state with that error.
func isolated(t *testing.T, state, input, mock string, i interpreter.Isolation) (x *interpreter.Execution, trace string) {
	t.Helper()
	m, diagnostics := asl.Options{}.ParseState("S", state)
	if m == nil {
		t.Fatal(diagnostics)
	}
	p, err := plan.CompileState(m)
	if err != nil {
		t.Fatal(err)
	}
	n := &notes{}
	i.Trace = n
	x = interpreter.NewIsolated(p, interpreter.Info{ARN: "arn", Name: "e", Input: input}, i)
	var r interpreter.Result
	x.Step(&interpreter.Event{Kind: interpreter.Start, At: epoch, Seed: 1}, &r)
	for _, f := range r.Effects {
		if f.Kind != interpreter.InvokeTask {
			continue
		}
		e := interpreter.Event{Kind: interpreter.TaskSucceeded, ID: f.ID, At: epoch, Output: interpreter.TextPayload(mock)}
		if name, failed := strings.CutPrefix(mock, "!"); failed {
			e = interpreter.Event{Kind: interpreter.TaskFailed, ID: f.ID, At: epoch, Failure: history.NewFailure(name, "mocked")}
		}
		x.Step(&e, &r)
	}
	return x, n.String()
}

func TestIsolatedStates(t *testing.T) {
	t.Parallel()
	const task = `"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Next":"Elsewhere"`
	const processor = `"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}}`
	for name, c := range map[string]struct {
		state, input, mock string
		isolation          interpreter.Isolation
		status             interpreter.Status
		output, trace      string
	}{
		"every stage of JSONPath": {
			state: `{` + task + `,"InputPath":"$.a","Parameters":{"p.$":"$.b"},"ResultSelector":{"s.$":"$.r"},"ResultPath":"$.res","OutputPath":"$.res"}`,
			input: `{"a":{"b":1}}`, mock: `{"r":2}`, status: interpreter.Succeeded, output: `{"s":2}`,
			trace: `input {"a":{"b":1}}
				afterInputPath {"b":1}
				afterParameters {"p":1}
				result {"r":2}
				afterResultSelector {"s":2}
				afterResultPath {"a":{"b":1},"res":{"s":2}}
				variables {}
				next Elsewhere`,
		},
		"every stage of JSONata": {
			state: `{` + task + `,"QueryLanguage":"JSONata","Arguments":{"p":"{% $v %}"},"Assign":{"w":"{% $states.result.r %}"},"Output":"{% $v + $states.result.r %}"}`,
			input: `{}`, mock: `{"r":2}`, status: interpreter.Succeeded, output: `7`,
			isolation: interpreter.Isolation{Variables: parse(t, `{"v":5}`)},
			trace: `input {}
				afterArguments {"p":5}
				result {"r":2}
				variables {"v":5,"w":2}
				next Elsewhere`,
		},
		"a context of one's own": {
			state:     `{"Type":"Pass","QueryLanguage":"JSONata","Output":"{% $states.context.State.Name %}","End":true}`,
			isolation: interpreter.Isolation{Context: parse(t, `{"State":{"Name":"Mine"}}`)},
			input:     `{}`, status: interpreter.Succeeded, output: `"Mine"`,
			trace: "input {}\nresult {}\nvariables {}",
		},
		"retried": {
			state: `{` + task + `,"Retry":[{"ErrorEquals":["Other"]},{"ErrorEquals":["Boom"],"IntervalSeconds":3,"MaxAttempts":2}]}`,
			input: `{}`, mock: "!Boom", isolation: interpreter.Isolation{Retried: 1}, status: interpreter.Running,
			trace: "input {}\nafterInputPath {}\nafterParameters {}\nretry 1 after 6s",
		},
		"exhausted and caught": {
			state: `{` + task + `,"Retry":[{"ErrorEquals":["Boom"],"MaxAttempts":2}],"Catch":[{"ErrorEquals":["Boom"],"Next":"Handler","ResultPath":null}]}`,
			input: `{}`, mock: "!Boom", isolation: interpreter.Isolation{Retried: 2}, status: interpreter.Succeeded, output: `{}`,
			trace: "input {}\nafterInputPath {}\nafterParameters {}\nexhausted 0\ncatch 0\nvariables {}\nnext Handler",
		},
		"a map as a whole": {
			state: `{"Type":"Map","ItemsPath":"$.l","ItemSelector":{"v.$":"$$.Map.Item.Value"},"ToleratedFailureCountPath":"$.n","ToleratedFailurePercentage":5,` +
				`"End":true,` + processor + `}`,
			input: `{"l":[7],"n":1}`, mock: `[8]`, status: interpreter.Succeeded, output: `[8]`,
			trace: `input {"l":[7],"n":1}
				afterInputPath {"l":[7],"n":1}
				afterItemsPath [7]
				maxConcurrency 0
				toleratedFailureCount 1
				toleratedFailurePercentage 5.0
				afterItemSelector [{"v":7}]
				result [8]
				afterResultSelector [8]
				afterResultPath [8]
				variables {}`,
		},
		"a parallel as a whole": {
			state: `{"Type":"Parallel","QueryLanguage":"JSONata","Branches":[{"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}}],"End":true}`,
			input: `{}`, mock: `!Boom`, status: interpreter.Failed, trace: "input {}",
		},
		"a choice": {
			state: `{"Type":"Choice","QueryLanguage":"JSONata","Choices":[{"Condition":true,"Next":"There"}]}`,
			input: `1`, status: interpreter.Succeeded, output: `1`, trace: "input 1\nvariables {}\nnext There",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, trace := isolated(t, c.state, c.input, c.mock, c.isolation)
			if x.Status() != c.status || x.Output() != c.output {
				t.Errorf("%s %s %+v; want %s %s", x.Status(), x.Output(), x.Failure(), c.status, c.output)
			}
			if want := strings.ReplaceAll(c.trace, "\t", "") + "\n"; trace != want {
				t.Errorf("trace:\n%swant:\n%s", trace, want)
			}
		})
	}
}

func TestAnIsolatedMapSaysWhatItWouldRun(t *testing.T) {
	t.Parallel()
	m, _ := asl.Options{}.ParseState("S", `{"Type":"Map","QueryLanguage":"JSONata","Items":[1],"ItemSelector":{"v":"{% $states.context.Map.Item.Value %}"},
		"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}},"End":true}`)
	p, err := plan.CompileState(m)
	if err != nil {
		t.Fatal(err)
	}
	var r interpreter.Result
	interpreter.NewIsolated(p, interpreter.Info{Input: `{}`}, interpreter.Isolation{}).Step(&interpreter.Event{Kind: interpreter.Start, At: epoch}, &r)
	if len(r.Effects) != 1 || r.Effects[0].MapRun == nil || r.Effects[0].Task.Task != nil {
		t.Fatalf("%+v", r.Effects)
	}
	if v, err := r.Effects[0].MapRun.Select(0, jsonvalue.OfInt(9), "", ""); err != nil || v.JSON() != `{"v":9}` {
		t.Errorf("%s, %v", v.JSON(), err)
	}
}
