package interpreter_test

import (
	"strings"
	"testing"
)

// said is the prefix of causes about the first state of a machine, X.
const said = "An error occurred while executing the state 'X' (entered at the event id #2). "

func TestCausesOfStatesThatCannotGoOn(t *testing.T) {
	t.Parallel()
	const processor = `"ItemProcessor":{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}`
	for name, c := range map[string]struct{ fields, input, failed, cause string }{
		"parameters over null": {
			`"Type":"Pass","Parameters":{"v.$":"$"},"End":true`, `null`,
			"States.Runtime", "Unable to apply Path transformation to null or empty input.",
		},
		"argument of a call over null": {
			`"Type":"Pass","Parameters":{"v.$":"States.Format('{}', $.a)"},"End":true`, ` null `,
			"States.Runtime", "Unable to apply Path transformation to null or empty input.",
		},
		"input path over null": {
			`"Type":"Pass","InputPath":"$.a","End":true`, `null`,
			"States.Runtime", "Unable to apply Path transformation to null or empty input.",
		},
		"output path over null": {
			`"Type":"Pass","Result":null,"OutputPath":"$.a","End":true`, `{}`,
			"States.Runtime", "Unable to apply Path transformation to null or empty input.",
		},
		"negative concurrency": {
			`"Type":"Map","MaxConcurrencyPath":"$.n","ItemsPath":"$.items","End":true,` + processor,
			`{"n":-1,"items":[1]}`,
			"States.Runtime", "MaxConcurrency cannot be negative.",
		},
		"timestamp that is null": {
			`"Type":"Wait","TimestampPath":"$.t","End":true`, `{"t":null}`, "States.Runtime",
			"The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format string: $.t == null",
		},
		"timestamp that is an object": {
			`"Type":"Wait","TimestampPath":"$.t","End":true`, `{"t":{"a":1}}`, "States.Runtime",
			`The TimestampPath parameter does not reference a valid ISO-8601 extended offset date-time format string: $.t == {"a":1}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after := ""
			if strings.Contains(c.fields, `"After"`) {
				after = `,"After":{"Type":"Succeed"}`
			}
			w := newWorld(t, `{"StartAt":"X","States":{"X":{`+c.fields+`}`+after+`}}`, c.input).run(t)
			if f := w.x.Failure(); f.Name != c.failed || f.Cause != said+c.cause {
				t.Errorf("got %s: %s\nwant %s: %s", f.Name, f.Cause, c.failed, said+c.cause)
			}
		})
	}
}

func TestWhatDoesNotReadTheInputRunsOverNull(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fields, want string }{
		"input handed on":       {`"InputPath":"$","OutputPath":"$"`, `null`},
		"literal parameters":    {`"Parameters":{"a":1}`, `{"a":1}`},
		"context":               {`"Parameters":{"s.$":"$$.State.Name"}`, `{"s":"X"}`},
		"input path of context": {`"InputPath":"$$.State.Name"`, `"X"`},
		"nothing":               {`"InputPath":null`, `{}`},
	} {
		w := newWorld(t, `{"StartAt":"X","States":{"X":{"Type":"Pass","End":true,`+c.fields+`}}}`, `null`).run(t)
		if w.x.Output() != c.want {
			t.Errorf("%s: got %s, want %s (%+v)", name, w.x.Output(), c.want, w.x.Failure())
		}
	}
}

func TestStatesRuntimeEndsTheExecutionFromAnyDepth(t *testing.T) {
	t.Parallel()
	const wait = `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":9,"End":true}}}`
	for name, c := range map[string]struct{ state, input, want string }{
		"branch": {
			`"Type":"Parallel","Branches":[{"StartAt":"A","States":{"A":{"Type":"Wait","SecondsPath":"$.no","End":true}}},` + wait + `]`, `{}`,
			"4<3 WaitStateEntered A {}\n5<4 ExecutionFailed error=States.Runtime",
		},
		"branch, after another has begun": {
			`"Type":"Parallel","Branches":[` + wait +
				`,{"StartAt":"A","States":{"A":{"Type":"Wait","SecondsPath":"$.no","End":true}}}]`, `{}`,
			"5<3 WaitStateEntered A {}\n6<5 ExecutionFailed error=States.Runtime",
		},
		"iteration in a branch": {
			`"Type":"Parallel","Branches":[{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemProcessor":{
				"StartAt":"A","States":{"A":{"Type":"Pass","InputPath":"$.no","End":true}}}}}}]`, `[{}]`,
			"7<6 PassStateEntered A {}\n8<7 ExecutionFailed error=States.Runtime",
		},
		"item selector": {
			`"Type":"Map","ItemSelector":{"a.$":"$.no"},"ItemProcessor":` + wait, `[1]`,
			"4<3 MapIterationStarted X[0]\n5<4 ExecutionFailed error=States.Runtime",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `{"StartAt":"X","States":{"X":{`+c.state+`,"Retry":[{"ErrorEquals":["States.ALL"]}],
				"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Y"}],"Next":"Y"},"Y":{"Type":"Succeed"}}}`,
				c.input).run(t)
			if !strings.Contains(w.trace(), c.want) {
				t.Errorf("want %s in\n%s", c.want, w.trace())
			}
		})
	}
}

func TestParallelCatchesABranchWithoutAMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"X","States":{"X":{"Type":"Parallel","Branches":[{"StartAt":"A","States":{
		"A":{"Type":"Choice","Choices":[{"Variable":"$.a","IsPresent":true,"Next":"B"}]},"B":{"Type":"Pass","End":true}}}],
		"Catch":[{"ErrorEquals":["States.NoChoiceMatched"],"ResultPath":"$.error","Next":"Y"}],"Next":"Z"},
		"Y":{"Type":"Succeed"},"Z":{"Type":"Fail"}}}`, `{}`).run(t)
	if trace := w.trace(); !strings.Contains(trace, "ParallelStateFailed") ||
		!strings.Contains(trace, "ExecutionSucceeded") {
		t.Error(trace)
	}
}
