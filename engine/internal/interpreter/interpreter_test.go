package interpreter_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/jsonvalue"
)

func TestPassAndChoice(t *testing.T) {
	t.Parallel()
	newWorld(t, `{"StartAt":"A","States":{
		"A":{"Type":"Pass","Result":{"n":2},"ResultPath":"$.r","Next":"C"},
		"C":{"Type":"Choice","Choices":[{"Variable":"$.r.n","NumericEquals":1,"Next":"No"},{"Variable":"$.r.n","NumericGreaterThan":1.5,"Next":"Yes"}],"Default":"No"},
		"Yes":{"Type":"Succeed","OutputPath":"$.r"},"No":{"Type":"Fail"}}}`, `{"a": 1.0}`).run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 PassStateEntered A {"a": 1.0}
		3<2 PassStateExited A {"a":1.0,"r":{"n":2}}
		4<3 ChoiceStateEntered C {"a":1.0,"r":{"n":2}}
		5<4 ChoiceStateExited C {"a":1.0,"r":{"n":2}}
		6<5 SucceedStateEntered Yes {"a":1.0,"r":{"n":2}}
		7<6 SucceedStateExited Yes {"n":2}
		8<7 ExecutionSucceeded {"n":2}`)
}

func TestFailHasOnlyWhatItNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"F","States":{"F":{"Type":"Fail"}}}`, `{}`).run(t)
	w.expect(t, `
		1<0 ExecutionStarted
		2<0 FailStateEntered F {}
		3<2 ExecutionFailed`)
	if !w.x.Failure().IsZero() {
		t.Errorf("failure %+v", w.x.Failure())
	}
}

func TestRetryThenSuccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{`+lambda+`,"Parameters":{"n.$":"$$.State.RetryCount"},
		"Retry":[{"ErrorEquals":["Boom"],"IntervalSeconds":3,"MaxAttempts":3,"BackoffRate":2,"MaxDelaySeconds":10}],"End":true}}}`, `{}`)
	w.answer = script(map[string][]string{"T": {"!Boom", "!Boom", "!Boom", `{"ok":true}`}})
	w.run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 TaskStateEntered T {}
		3<2 TaskScheduled {"n":0}
		4<3 TaskStarted
		5<4 TaskFailed error=Boom
		6<5 TaskScheduled {"n":1}
		7<6 TaskStarted
		8<7 TaskFailed error=Boom
		9<8 TaskScheduled {"n":2}
		10<9 TaskStarted
		11<10 TaskFailed error=Boom
		12<11 TaskScheduled {"n":3}
		13<12 TaskStarted
		14<13 TaskSucceeded {"ok":true}
		15<14 TaskStateExited T {"ok":true}
		16<15 ExecutionSucceeded {"ok":true}`)
	if want := []time.Duration{3 * time.Second, 6 * time.Second, 10 * time.Second}; !slices.Equal(w.waited, want) {
		t.Errorf("waited %v, want %v", w.waited, want)
	}
}

func TestRetriersCountSeparatelyAndTheFirstMatchDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{`+lambda+`,
		"Retry":[{"ErrorEquals":["A"],"MaxAttempts":1},{"ErrorEquals":["B"],"MaxAttempts":2},{"ErrorEquals":["States.ALL"],"MaxAttempts":9}],
		"Catch":[{"ErrorEquals":["States.ALL"],"ResultPath":"$.error","Next":"End"}],"End":true},"End":{"Type":"Succeed"}}}`, `{"k":1}`)
	w.answer = script(map[string][]string{"T": {"!A", "!B", "!B", "!A"}})
	w.run(t)
	if got := w.x.Output(); got != `{"k":1,"error":{"Error":"A","Cause":"because"}}` {
		t.Errorf("output %s\n%s", got, w.trace())
	}
	if len(w.waited) != 3 {
		t.Errorf("%d retries, want 3: an exhausted retrier must not fall through to a later one", len(w.waited))
	}
}

func TestMaxAttemptsZeroConsumesTheError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{`+lambda+`,
		"Retry":[{"ErrorEquals":["Bad"],"MaxAttempts":0},{"ErrorEquals":["States.TaskFailed"],"MaxAttempts":2}],"End":true}}}`, `{}`)
	w.answer = script(map[string][]string{"T": {"!Bad"}})
	if w.run(t); len(w.waited) != 0 || w.x.Status() != history.Failed {
		t.Errorf("waited %v, status %s", w.waited, w.x.Status())
	}
}

func TestFullJitterStaysWithinTheDelay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{`+lambda+`,
		"Retry":[{"ErrorEquals":["B"],"IntervalSeconds":10,"MaxAttempts":200,"BackoffRate":1,"JitterStrategy":"FULL"}],"End":true}}}`, `{}`)
	w.answer = script(map[string][]string{"T": {"!B"}})
	w.run(t)
	var total time.Duration
	for _, d := range w.waited {
		if d < 0 || d > 10*time.Second {
			t.Fatalf("a delay of %v", d)
		}
		total += d
	}
	if mean := total / time.Duration(len(w.waited)); mean < 4*time.Second || mean > 6*time.Second {
		t.Errorf("mean delay %v of %d, want about 5s", mean, len(w.waited))
	}
}

func TestTimeoutIsCaughtWithAnEmptyCause(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{`+lambda+`,"TimeoutSeconds":5,
		"Catch":[{"ErrorEquals":["States.TaskFailed"],"Next":"No"},{"ErrorEquals":["States.Timeout"],"Next":"Yes"}],"End":true},
		"Yes":{"Type":"Succeed"},"No":{"Type":"Fail"}}}`, `{}`)
	w.answer = script(map[string][]string{"T": {"-"}})
	w.run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 TaskStateEntered T {}
		3<2 TaskScheduled {}
		4<3 TaskStarted
		5<4 TaskTimedOut error=States.Timeout
		6<5 TaskStateExited T {"Error":"States.Timeout","Cause":""}
		7<6 SucceedStateEntered Yes {"Error":"States.Timeout","Cause":""}
		8<7 SucceedStateExited Yes {"Error":"States.Timeout","Cause":""}
		9<8 ExecutionSucceeded {"Error":"States.Timeout","Cause":""}`)
}

func TestStatesRuntimeIsNeverCaught(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{`+lambda+`,"Parameters":{"x.$":"$.missing"},
		"Retry":[{"ErrorEquals":["States.ALL"]}],"Catch":[{"ErrorEquals":["States.ALL"],"Next":"E"}],"End":true},"E":{"Type":"Succeed"}}}`, `{"a":1}`).run(t)
	want := `An error occurred while executing the state 'T' (entered at the event id #2). ` +
		`The JSONPath '$.missing' specified for the field 'x.$' could not be found in the input '{"a":1}'`
	if f := w.x.Failure(); w.x.Status() != history.Failed || f.Name != "States.Runtime" || f.Cause != want {
		t.Errorf("%s %+v", w.x.Status(), f)
	}
}

func TestParallelJoinsInOrder(t *testing.T) {
	t.Parallel()
	newWorld(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[
		{"StartAt":"A","States":{"A":{"Type":"Pass","Result":1,"End":true}}},
		{"StartAt":"B","States":{"B":{"Type":"Pass","Result":2,"End":true}}}]}}}`, `{}`).run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 ParallelStateEntered P {}
		3<2 ParallelStateStarted
		4<3 PassStateEntered A {}
		5<4 PassStateExited A 1
		6<3 PassStateEntered B {}
		7<6 PassStateExited B 2
		8<7 ParallelStateSucceeded
		9<7 ParallelStateExited P [1,2]
		10<9 ExecutionSucceeded [1,2]`)
}

func TestParallelFailureAbortsSiblings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,
		"Retry":[{"ErrorEquals":["X"],"MaxAttempts":1}],
		"Branches":[
		{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":100,"End":true}}},
		{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"X"}}}]}}}`, `{}`).run(t)
	w.expect(t, `
		1<0 ExecutionStarted
		2<0 ParallelStateEntered P {}
		3<2 ParallelStateStarted
		4<3 WaitStateEntered W {}
		5<3 FailStateEntered F {}
		6<5 WaitStateAborted
		7<5 ParallelStateStarted
		8<7 WaitStateEntered W {}
		9<7 FailStateEntered F {}
		10<9 WaitStateAborted
		11<9 ParallelStateFailed
		12<11 ExecutionFailed error=X`)
}

func TestInlineMapSequential(t *testing.T) {
	t.Parallel()
	newWorld(t, `{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":1,"ItemSelector":{"v.$":"$$.Map.Item.Value","i.$":"$$.Map.Item.Index"},"End":true,
		"ItemProcessor":{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}}}}`, `["x","y"]`).run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 MapStateEntered M ["x","y"]
		3<2 MapStateStarted length=2
		4<3 MapIterationStarted M[0]
		5<4 PassStateEntered A {"v":"x","i":0}
		6<5 PassStateExited A {"v":"x","i":0}
		7<6 MapIterationSucceeded M[0]
		8<6 MapIterationStarted M[1]
		9<8 PassStateEntered A {"v":"y","i":1}
		10<9 PassStateExited A {"v":"y","i":1}
		11<10 MapIterationSucceeded M[1]
		12<11 MapStateSucceeded
		13<11 MapStateExited M [{"v":"x","i":0},{"v":"y","i":1}]
		14<13 ExecutionSucceeded [{"v":"x","i":0},{"v":"y","i":1}]`)
}

func TestMapRetryAndCatch(t *testing.T) {
	t.Parallel()
	newWorld(t, `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"Retry":[{"ErrorEquals":["X"],"MaxAttempts":1}],
		"Catch":[{"ErrorEquals":["States.ALL"],"Next":"C"}],
		"ItemProcessor":{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"X","Cause":"c"}}}},"C":{"Type":"Succeed"}}}`, `[1]`).run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 MapStateEntered M [1]
		3<2 MapStateStarted length=1
		4<3 MapIterationStarted M[0]
		5<4 FailStateEntered F 1
		6<5 MapIterationFailed M[0]
		7<5 MapStateStarted length=1
		8<7 MapIterationStarted M[0]
		9<8 FailStateEntered F 1
		10<9 MapIterationFailed M[0]
		11<9 MapStateFailed
		12<11 MapStateExited M {"Error":"X","Cause":"c"}
		13<12 SucceedStateEntered C {"Error":"X","Cause":"c"}
		14<13 SucceedStateExited C {"Error":"X","Cause":"c"}
		15<14 ExecutionSucceeded {"Error":"X","Cause":"c"}`)
}

func TestMapFailureAbortsRunningIterations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,
		"ItemProcessor":{"StartAt":"T","States":{"T":{`+lambda+`,"TimeoutSeconds":5,"End":true}}}}}}`, `[1,2]`)
	w.answer = script(map[string][]string{"T": {"-"}})
	w.run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 MapStateEntered M [1,2]
		3<2 MapStateStarted length=2
		4<3 MapIterationStarted M[0]
		5<3 MapIterationStarted M[1]
		6<4 TaskStateEntered T 1
		7<6 TaskScheduled 1
		8<7 TaskStarted
		9<5 TaskStateEntered T 2
		10<9 TaskScheduled 2
		11<10 TaskStarted
		12<8 TaskTimedOut error=States.Timeout
		13<11 TaskTimedOut error=States.Timeout
		14<12 MapIterationFailed M[0]
		15<12 TaskStateAborted
		16<12 MapIterationAborted M[1]
		17<12 TaskStateAborted
		18<12 MapStateFailed
		19<18 ExecutionFailed error=States.Timeout`)
}

func TestATaskThatFailsItsBranchCountsAsAborted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[
		{"StartAt":"T","States":{"T":{`+lambda+`,"End":true}}}]}}}`, `{}`)
	w.answer = script(map[string][]string{"T": {"!X"}})
	w.run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 ParallelStateEntered P {}
		3<2 ParallelStateStarted
		4<3 TaskStateEntered T {}
		5<4 TaskScheduled {}
		6<5 TaskStarted
		7<6 TaskFailed error=X
		8<7 TaskStateAborted
		9<7 ParallelStateFailed
		10<9 ExecutionFailed error=X`)
}

func TestTasksThatTimeOutTogetherRetryApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemProcessor":{"StartAt":"T","States":{
		"T":{`+lambda+`,"TimeoutSeconds":5,"Retry":[{"ErrorEquals":["States.Timeout"]}],"End":true}}}}}}`, `[1,2]`)
	w.answer = script(map[string][]string{"T": {"-", "-", "3"}})
	w.run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 MapStateEntered M [1,2]
		3<2 MapStateStarted length=2
		4<3 MapIterationStarted M[0]
		5<3 MapIterationStarted M[1]
		6<4 TaskStateEntered T 1
		7<6 TaskScheduled 1
		8<7 TaskStarted
		9<5 TaskStateEntered T 2
		10<9 TaskScheduled 2
		11<10 TaskStarted
		12<8 TaskTimedOut error=States.Timeout
		13<11 TaskTimedOut error=States.Timeout
		14<12 TaskScheduled 1
		15<14 TaskStarted
		16<15 TaskSucceeded 3
		17<16 TaskStateExited T 3
		18<17 MapIterationSucceeded M[0]
		19<13 TaskScheduled 2
		20<19 TaskStarted
		21<20 TaskSucceeded 3
		22<21 TaskStateExited T 3
		23<22 MapIterationSucceeded M[1]
		24<23 MapStateSucceeded
		25<23 MapStateExited M [3,3]
		26<25 ExecutionSucceeded [3,3]`)
}

func TestMapNumbersMayBeStrings(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"MaxConcurrencyPath":"$.n","ItemsPath":"$.items",
		"ItemProcessor":{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}}}}`
	if w := newWorld(t, definition, `{"n":"1","items":[1,2]}`).run(t); w.x.Output() != `[1,2]` {
		t.Errorf("%s\n%s", w.x.Output(), w.trace())
	}
	w := newWorld(t, definition, `{"n":"x","items":[1,2]}`).run(t)
	if want := `The MaxConcurrencyPath field refers to value "x" which is not a valid integer: $.n`; !strings.HasSuffix(w.x.Failure().Cause, want) {
		t.Errorf("%+v", w.x.Failure())
	}
}

func TestSecondsOfATaskByPath(t *testing.T) {
	t.Parallel()
	said := strings.Replace(said, "X", "T", 1)
	for _, field := range []string{"TimeoutSecondsPath", "HeartbeatSecondsPath"} {
		for input, want := range map[string]string{
			`{"a":1}`:   "Invalid path '$.t' : No results for path: $['t']",
			`{"t":-1}`:  "The " + field + " parameter references a negative value: $.t == -1",
			`{"t":0}`:   "The " + field + " parameter does not reference a positive value: $.t == 0",
			`{"t":1.5}`: "The " + field + " parameter cannot be parsed as a long value: $.t == 1.5",
			`{"t":"5"}`: `The ` + field + ` parameter cannot be parsed as a long value: $.t == "5"`,
		} {
			w := newWorld(t, `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage",
				"`+field+`":"$.t","End":true}}}`, input).run(t)
			if f := w.x.Failure(); f.Name != "States.Runtime" || f.Cause != said+want {
				t.Errorf("%s of %s: got %s: %s", field, input, f.Name, f.Cause)
			}
		}
	}
}

func TestErrorPathThatFindsNothingIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"F","States":{"F":{"Type":"Fail","ErrorPath":"$.e"}}}`, `{"a":1}`).run(t)
	want := "An error occurred while executing the state 'F' (entered at the event id #2). The JSONPath '$.e' specified for the field " +
		"'ErrorPath' could not be found in the input '{\"a\":1}'"
	if f := w.x.Failure(); f.Name != "States.Runtime" || f.Cause != want {
		t.Errorf("%+v", f)
	}
}

func TestEmptyMapSucceedsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"ItemProcessor":{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}}}}`, `[]`).run(t)
	if w.x.Output() != `[]` {
		t.Errorf("%s\n%s", w.x.Output(), w.trace())
	}
}

func TestDistributedMap(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,"Label":"L","MaxConcurrency":7,"ToleratedFailurePercentage":5,
		"ItemSelector":{"v.$":"$$.Map.Item.Value","from.$":"$.from"},"ItemsPath":"$.items",
		"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}}}}`
	w := newWorld(t, definition, `{"items":[10,20],"from":"f"}`)
	w.mapRun = func(c *interpreter.MapRunCall) interpreter.Signal {
		if !strings.HasPrefix(c.ARN, "arn:aws:states:us-east-1:1:mapRun:m/L:") || c.MaxConcurrency != 7 ||
			c.ToleratedFailurePercentage != 5 {
			t.Errorf("call %+v", c)
		}
		v, err := c.Select(t.Context(), 1, c.Items[1], "", "STATE_DATA")
		if err != nil || v.JSON() != `{"v":20,"from":"f"}` {
			t.Errorf("selected %s, %v", v.JSON(), err)
		}
		return interpreter.Signal{Kind: interpreter.MapRunSucceeded, Output: jsonvalue.TextDocument(`["done"]`)}
	}
	w.run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 MapStateEntered M {"items":[10,20],"from":"f"}
		3<2 MapStateStarted length=2
		4<3 MapRunStarted
		5<4 MapRunSucceeded
		6<5 MapStateSucceeded
		7<4 MapStateExited M ["done"]
		8<7 ExecutionSucceeded ["done"]`)
	w = newWorld(t, definition, `{"items":[10,20],"from":"f"}`)
	w.mapRun = func(*interpreter.MapRunCall) interpreter.Signal {
		return interpreter.Signal{Kind: interpreter.MapRunFailed, Failure: history.NewFailure("States.ItemReaderFailed",
			"c")}
	}
	w.run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 MapStateEntered M {"items":[10,20],"from":"f"}
		3<2 MapStateStarted length=2
		4<3 MapRunStarted
		5<4 MapRunFailed error=States.ItemReaderFailed
		6<5 MapStateFailed
		7<6 ExecutionFailed error=States.ItemReaderFailed`)
}

func TestVariables(t *testing.T) {
	t.Parallel()
	newWorld(t, `{"StartAt":"A","States":{
		"A":{"Type":"Pass","Assign":{"x":"one","y.$":"$.n"},"Next":"B"},
		"B":{"Type":"Pass","Assign":{"x.$":"$y","y.$":"$x"},"Next":"C"},
		"C":{"Type":"Pass","Parameters":{"x.$":"$x","y.$":"$y"},"End":true}}}`, `{"n":2}`).run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 PassStateEntered A {"n":2}
		3<2 PassStateExited A $x="one" $y=2 {"n":2}
		4<3 PassStateEntered B {"n":2}
		5<4 PassStateExited B $x=2 $y="one" {"n":2}
		6<5 PassStateEntered C {"n":2}
		7<6 PassStateExited C {"x":2,"y":"one"}
		8<7 ExecutionSucceeded {"x":2,"y":"one"}`)
}

func TestCatcherAssignSeesTheRetryCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{`+lambda+`,"Retry":[{"ErrorEquals":["B"],"MaxAttempts":2}],
		"Catch":[{"ErrorEquals":["States.ALL"],"Assign":{"n.$":"$$.State.RetryCount"},"ResultPath":null,"Next":"P"}],"End":true},
		"P":{"Type":"Pass","Parameters":{"n.$":"$n"},"End":true}}}`, `{}`)
	w.answer = script(map[string][]string{"T": {"!B"}})
	if w.run(t); w.x.Output() != `{"n":2}` {
		t.Errorf("%s\n%s", w.x.Output(), w.trace())
	}
}

func TestMachineTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"W","TimeoutSeconds":3,"States":{"W":{"Type":"Wait","Seconds":10,"End":true}}}`,
		`{}`).run(t)
	w.expect(t, `
		1<0 ExecutionStarted
		2<0 WaitStateEntered W {}
		3<2 ExecutionTimedOut error=States.Timeout`)
	if w.x.Status() != history.TimedOut {
		t.Error(w.x.Status())
	}
}

func TestStopWritesAnAbortThatFollowsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":10,"End":true}}}`, `{}`)
	w.step(interpreter.Signal{Kind: interpreter.Start})
	w.step(interpreter.Signal{Kind: interpreter.Stop})
	w.step(interpreter.Signal{Kind: interpreter.TimerFired, ID: 1})
	w.expect(t, `
		1<0 ExecutionStarted
		2<0 WaitStateEntered W {}
		3<0 ExecutionAborted`)
}

func TestOversizedResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{`+lambda+
		`,"Catch":[{"ErrorEquals":["States.ALL"],"Next":"E"}],"End":true},"E":{"Type":"Succeed"}}}`, `{}`)
	w.answer = script(map[string][]string{"T": {`"` + strings.Repeat("a", interpreter.MaxPayload-1) + `"`}})
	w.run(t)
	want := `{"Error":"States.DataLimitExceeded","Cause":"The state/task 'lambda' returned a result with a size exceeding the maximum number of bytes service limit."}`
	if w.x.Output() != want {
		t.Errorf("%.300s", w.x.Output())
	}
}

func TestTheHistoryEndsAt25000Events(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"B"},
		"B":{"Type":"Choice","Choices":[{"Variable":"$.stop","BooleanEquals":true,"Next":"E"}],"Default":"A"},"E":{"Type":"Succeed"}}}`, `{"stop":false}`).run(t)
	last := w.history[len(w.history)-1]
	if len(w.history) != interpreter.MaxEvents || last.Type != history.ExecutionFailed ||
		last.ID != interpreter.MaxEvents {
		t.Errorf("%d events, the last is %+v", len(w.history), last)
	}
}

func TestSameEventsSameHistory(t *testing.T) {
	t.Parallel()
	one := func() string {
		w := newWorld(t, `{"StartAt":"T","States":{"T":{`+lambda+
			`,"Retry":[{"ErrorEquals":["B"],"MaxAttempts":5,"JitterStrategy":"FULL"}],"End":true}}}`, `{}`)
		w.answer = script(map[string][]string{"T": {"!B"}})
		w.run(t)
		return w.trace() + fmt.Sprint(w.waited)
	}
	if a, b := one(), one(); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}
