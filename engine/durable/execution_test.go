package durable_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"stepback/engine/durable"
	"stepback/engine/history"
)

const arn = "arn:aws:lambda:us-east-1:000000000000:function:F:1/durable-execution/run/4f6c"

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// trial is an execution under test, with its own time and all events so far.
type trial struct {
	*testing.T
	x      *durable.Execution
	now    time.Time
	events []history.Event
	log    []journaled
	calls  int
}

// journaled is a command as a journal keeps it.
type journaled struct {
	text string
	at   time.Time
}

func begin(t *testing.T, timeout int64) *trial {
	t.Helper()
	tr := &trial{T: t, x: new(durable.Execution), now: start}
	tr.do(&durable.Command{Start: &durable.Start{ARN: arn, ID: "4f6c", Secret: "k", Input: `"in"`, TimeoutSeconds: timeout}})
	tr.invoke()
	return tr
}

func (t *trial) try(c *durable.Command) error {
	text, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	events, err := t.x.Apply(c, t.now)
	if err == nil {
		t.log = append(t.log, journaled{text, t.now})
		t.events = append(t.events, events...)
	}
	return err
}

func (t *trial) do(c *durable.Command) {
	t.Helper()
	if err := t.try(c); err != nil {
		t.Fatal(err)
	}
}

func (t *trial) invoke() {
	t.Helper()
	if !t.x.WantsInvocation(t.now) {
		t.Fatal("the execution wants no invocation")
	}
	t.calls++
	t.do(&durable.Command{Invoke: &durable.Invoke{RequestID: fmt.Sprint("r", t.calls)}})
}

func (t *trial) checkpoint(updates string) durable.State {
	t.Helper()
	if err := t.tryCheckpoint(updates); err != nil {
		t.Fatal(err)
	}
	return t.x.State()
}

func (t *trial) tryCheckpoint(updates string) error {
	t.Helper()
	c := &durable.Checkpoint{Token: t.x.Token()}
	if err := json.Unmarshal([]byte(updates), &c.Updates); err != nil {
		t.Fatal(err)
	}
	return t.try(&durable.Command{Checkpoint: c})
}

func (t *trial) returns(output string) {
	t.Helper()
	t.do(&durable.Command{Return: &durable.Return{RequestID: t.x.RequestID(), Output: output}})
}

// wait lets time pass until the execution changes by itself.
func (t *trial) wait() {
	t.Helper()
	wait, timeout := t.x.Next(nil)
	if t.now = timeout; !wait.IsZero() && wait.Before(timeout) {
		t.now = wait
	}
	t.do(&durable.Command{Tick: &durable.Tick{}})
}

// history returns the events as "ID TYPE SECONDS".
func (t *trial) history() string {
	var b strings.Builder
	for i := range t.events {
		e := &t.events[i]
		fmt.Fprintf(&b, "%d %s %g\n", e.ID, e.Type, e.At().Sub(start).Seconds())
	}
	return b.String()
}

func (t *trial) want(events string) {
	t.Helper()
	if got := t.history(); got != events {
		t.Errorf("history:\n%s\nwant:\n%s", got, events)
	}
	t.reparsed()
	again := new(durable.Execution)
	for _, j := range t.log { // what a journal keeps rebuilds the same execution
		c, err := durable.ParseCommand(j.text)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Replay(c, j.at); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(again.Operations(), t.x.Operations()) || again.Status() != t.x.Status() ||
		again.Token() != t.x.Token() {
		t.Errorf("replayed: %+v, want %+v", again, t.x)
	}
}

// reparsed checks that the events, in the form of the API, are parsed to the same events.
func (t *trial) reparsed() {
	t.Helper()
	texts := make([]json.RawMessage, len(t.events))
	for i := range t.events {
		var err error
		if texts[i], err = durable.EventJSON(&t.events[i], true); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := durable.ParseEvents(texts); err != nil || !reflect.DeepEqual(got, t.events) {
		t.Errorf("parsed: %+v, %v, want %+v", got, err, t.events)
	}
}

func code(err error) string {
	if r := (*durable.Refusal)(nil); errors.As(err, &r) {
		return r.Code
	}
	return fmt.Sprint(err)
}

func TestAStepIsRetriedAfterItsDelay(t *testing.T) {
	t.Parallel()
	tr := begin(t, 300)
	tr.checkpoint(`[{"Id":"s","Type":"STEP","SubType":"Step","Name":"charge","Action":"START"}]`)
	got := tr.checkpoint(`[{"Id":"s","Type":"STEP","Action":"RETRY","Error":{"ErrorType":"E","ErrorMessage":"m"},
		"StepOptions":{"NextAttemptDelaySeconds":7}}]`)
	o := got.Operations[0]
	if o.Status != durable.Pending || o.Attempt != 1 || !o.Next.Equal(start.Add(7*time.Second)) {
		t.Errorf("%+v", o)
	}
	tr.returns(`{"Status":"PENDING"}`)
	tr.wait()
	tr.invoke()
	if updated := tr.x.Updated(); !reflect.DeepEqual(updated, []string{"s"}) || tr.x.Operation("s").Status != durable.Ready {
		t.Errorf("%v %+v", updated, tr.x.Operation("s"))
	}
	tr.checkpoint(`[{"Id":"s","Type":"STEP","Action":"START"},{"Id":"s","Type":"STEP","Action":"SUCCEED","Payload":"1"}]`)
	tr.returns(`{"Status":"SUCCEEDED","Result":"2"}`)
	tr.want(`1 ExecutionStarted 0
2 StepStarted 0
3 StepFailed 0
4 InvocationCompleted 0
5 StepStarted 7
6 StepSucceeded 7
7 InvocationCompleted 7
8 ExecutionSucceeded 7
`)
	if result, _ := tr.x.Outcome(); *result != "2" || tr.x.Status() != durable.Succeeded {
		t.Errorf("%s %v", tr.x.Status(), *result)
	}
	failed, err := durable.EventJSON(&tr.events[2], true)
	const want = `{"EventType":"StepFailed","EventId":3,"EventTimestamp":1767225600.000,"SubType":"Step","Id":"s","Name":"charge",` +
		`"StepFailedDetails":{"Error":{"Payload":{"ErrorMessage":"m","ErrorType":"E"},"Truncated":false},` +
		`"RetryDetails":{"CurrentAttempt":1,"NextAttemptDelaySeconds":7}}}`
	if err != nil || string(failed) != want {
		t.Errorf("%s, %v", failed, err)
	}
	const bare = `{"EventType":"StepFailed","EventId":3,"EventTimestamp":1767225600.000,"SubType":"Step","Id":"s","Name":"charge",` +
		`"StepFailedDetails":{"Error":{},"RetryDetails":{"CurrentAttempt":1,"NextAttemptDelaySeconds":7}}}`
	if failed, err = durable.EventJSON(&tr.events[2], false); err != nil || string(failed) != bare {
		t.Errorf("%s, %v", failed, err)
	}
}

func TestAWaitThatEndsDuringAnInvocationIsReportedToIt(t *testing.T) {
	t.Parallel()
	tr := begin(t, 300)
	tr.checkpoint(`[{"Id":"w","Type":"WAIT","SubType":"Wait","Action":"START","WaitOptions":{"WaitSeconds":2}}]`)
	tr.wait()
	got, err := tr.x.Poll(tr.x.Token())
	if err != nil || len(got.Operations) != 1 || got.Operations[0].Status != durable.Succeeded {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err = tr.x.Poll(tr.x.Token()); err != nil || len(got.Operations) != 0 {
		t.Errorf("what the function knows was sent again: %+v, %v", got, err)
	}
	tr.returns(`{"Status":"SUCCEEDED"}`)
	tr.events = tr.events[:len(tr.events):len(tr.events)]
	if got, want := tr.history(), `1 ExecutionStarted 0
2 WaitStarted 0
3 WaitSucceeded 2
4 InvocationCompleted 2
5 ExecutionSucceeded 2
`; got != want {
		t.Errorf("%s", got)
	}
}

func TestTwoCompletionsWhileSuspendedNeedOneInvocationEach(t *testing.T) {
	t.Parallel()
	tr := begin(t, 300)
	got := tr.checkpoint(`[{"Id":"a","Type":"CALLBACK","Action":"START"},{"Id":"b","Type":"CALLBACK","Action":"START"}]`)
	a, b := got.Operations[0].CallbackID, got.Operations[1].CallbackID
	if of, ok := durable.ParseCallbackID(a); !ok || of != arn {
		t.Errorf("%s %v", of, ok)
	}
	tr.returns(`{"Status":"PENDING"}`)
	if tr.x.WantsInvocation(tr.now) {
		t.Error("invoked although nothing has changed")
	}
	result := "1"
	tr.do(&durable.Command{Callback: &durable.Callback{ID: a, Outcome: durable.Outcome{Status: durable.Succeeded,
		Result: &result}}})
	tr.invoke()
	tr.do(&durable.Command{Callback: &durable.Callback{ID: b, Outcome: durable.Outcome{Status: durable.Failed}}})
	tr.returns(`{"Status":"PENDING"}`) // b ended meanwhile
	tr.invoke()
	tr.returns(`{"Status":"FAILED","Error":{"ErrorType":"X"}}`)
	tr.want(`1 ExecutionStarted 0
2 CallbackStarted 0
3 CallbackStarted 0
4 InvocationCompleted 0
5 CallbackSucceeded 0
6 CallbackFailed 0
7 InvocationCompleted 0
8 InvocationCompleted 0
9 ExecutionFailed 0
`)
	err := tr.try(&durable.Command{Callback: &durable.Callback{ID: a}})
	if code(err) != durable.CallbackClosed {
		t.Error(err)
	}
}

func TestCallbacksTimeOut(t *testing.T) {
	t.Parallel()
	tr := begin(t, 300)
	got := tr.checkpoint(`[{"Id":"a","Type":"CALLBACK","Action":"START","CallbackOptions":{"TimeoutSeconds":20,"HeartbeatTimeoutSeconds":8}},
		{"Id":"b","Type":"CALLBACK","Action":"START","CallbackOptions":{"HeartbeatTimeoutSeconds":10}}]`)
	tr.returns(`{"Status":"PENDING"}`)
	beat := func(id string) error {
		return tr.try(&durable.Command{Callback: &durable.Callback{ID: id, Heartbeat: true}})
	}
	for range 2 {
		tr.now = tr.now.Add(7 * time.Second)
		if err := beat(got.Operations[0].CallbackID); err != nil {
			t.Fatal(err)
		}
	}
	tr.wait() // a is 20 seconds old
	if o := tr.x.Operation("b"); o.Status != durable.TimedOut || *o.Error.ErrorType != "Callback.Heartbeat" ||
		*o.Error.ErrorMessage != "Callback timed out on heartbeat" {
		t.Errorf("%+v", o)
	}
	if o := tr.x.Operation("a"); o.Status != durable.TimedOut || *o.Error.ErrorType != "Callback.Timeout" ||
		*o.Error.ErrorMessage != "Callback timed out" {
		t.Errorf("%+v", o)
	}
	if err := beat(got.Operations[1].CallbackID); code(err) != durable.CallbackClosed {
		t.Error(err)
	}
	if err := beat("eA=="); code(err) != durable.InvalidParameterValue {
		t.Error(err)
	}
	tr.want(`1 ExecutionStarted 0
2 CallbackStarted 0
3 CallbackStarted 0
4 InvocationCompleted 0
5 CallbackTimedOut 14
6 CallbackTimedOut 20
`)
}

func TestAFailedInvocationIsRepeatedWithBackOff(t *testing.T) {
	t.Parallel()
	tr := begin(t, 10)
	for range 3 {
		tr.do(&durable.Command{Return: &durable.Return{RequestID: tr.x.RequestID(), Error: durable.NewError("Runtime.ExitError", "gone")}})
		if tr.x.WantsInvocation(tr.now) {
			t.Error("invoked at once")
		}
		tr.wait()
		tr.invoke()
	}
	tr.returns(`{"Status":"PENDING"}`) // with nothing to wait for
	tr.want(`1 ExecutionStarted 0
2 InvocationCompleted 0
3 InvocationCompleted 1
4 InvocationCompleted 3
5 InvocationCompleted 7
6 ExecutionFailed 7
`)
	if _, err := tr.x.Outcome(); *err.ErrorMessage != "Cannot return PENDING status with no pending operations." {
		t.Errorf("%+v", err)
	}
}

func TestAnExecutionTimesOutAndIsStopped(t *testing.T) {
	t.Parallel()
	tr := begin(t, 10)
	tr.checkpoint(`[{"Id":"w","Type":"WAIT","Action":"START","WaitOptions":{"WaitSeconds":11}}]`)
	tr.returns(`{"Status":"PENDING"}`)
	tr.wait()
	tr.want(`1 ExecutionStarted 0
2 WaitStarted 0
3 InvocationCompleted 0
4 ExecutionTimedOut 10
`)
	tr = begin(t, 10)
	late := tr.x.Token()
	tr.do(&durable.Command{Stop: &durable.Stop{Error: durable.NewError("Mine", "enough")}})
	tr.returns(`{"Status":"SUCCEEDED"}`) // too late
	if err := tr.try(&durable.Command{Checkpoint: &durable.Checkpoint{Token: late}}); code(err) !=
		durable.InvalidParameterValue {
		t.Error(err)
	}
	if got := tr.history(); got != "1 ExecutionStarted 0\n2 ExecutionAborted 0\n" {
		t.Error(got)
	}
	stopped, err := durable.EventJSON(&tr.events[1], true)
	if err != nil || !strings.Contains(string(stopped), `"EventType":"ExecutionStopped"`) || tr.x.Status() != durable.Stopped {
		t.Errorf("%s, %v", stopped, err)
	}
}

func TestALargeResultIsCheckpointed(t *testing.T) {
	t.Parallel()
	tr := begin(t, 10)
	tr.checkpoint(`[{"Id":"e","Type":"EXECUTION","Action":"SUCCEED","Payload":"big"}]`)
	tr.returns(`{"Status":"SUCCEEDED","Result":""}`)
	if result, _ := tr.x.Outcome(); *result != "big" {
		t.Error(*result)
	}
}

// A function may return a result of 6 MB; a longer one fails the execution.
func TestALongResultOfAnInvocation(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]string{6 << 20: durable.Succeeded, 6<<20 + 1: durable.Failed} {
		tr := begin(t, 10)
		tr.returns(`{"Status":"SUCCEEDED","Result":"` + strings.Repeat("x", length) + `"}`)
		if tr.x.Status() != want {
			t.Errorf("%d bytes: %s", length, tr.x.Status())
		}
		if _, err := tr.x.Outcome(); want == durable.Failed &&
			*err.ErrorMessage != "EXECUTION output payload size must be less than or equal to 6291456 bytes." {
			t.Errorf("%+v", err)
		}
	}
}

func TestTheSameRequestGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	tr := begin(t, 10)
	c := &durable.Checkpoint{Token: tr.x.Token(), ClientToken: "c", Updates: []durable.Update{{Id: "s", Type: "STEP", Action: "START"}}}
	tr.do(&durable.Command{Checkpoint: c})
	first := tr.x.State()
	if !tr.x.Repeats(c) || !reflect.DeepEqual(tr.x.State(), first) {
		t.Error("the answer differs")
	}
	if tr.x.Repeats(&durable.Checkpoint{Token: c.Token, ClientToken: "d"}) {
		t.Error("another client token is no repetition")
	}
	if !tr.x.Knows(c.Token) || !tr.x.Knows(first.Token) || tr.x.Knows("eC8x") {
		t.Error("state is read with any token of the invocation, and no other")
	}
}

func TestBadCheckpointsChangeNothing(t *testing.T) {
	t.Parallel()
	tr := begin(t, 10)
	tr.checkpoint(`[{"Id":"s","Type":"STEP","SubType":"Step","Name":"a","Action":"START"},
		{"Id":"c","Type":"CONTEXT","Action":"START"}]`)
	before := tr.history()
	for updates, want := range map[string]string{
		`[{"Id":"s","Type":"STEP","Action":"START"}]`:                                                      "Invalid current STEP state to start: operation s (a) is STARTED.",
		`[{"Id":"s","Type":"WAIT","Action":"START","WaitOptions":{"WaitSeconds":1}}]`:                      `Inconsistent operation type: operation s (a) has the type "STEP" in the history, and "WAIT" in the update.`,
		`[{"Id":"s","Type":"STEP","Name":"b","Action":"SUCCEED"}]`:                                         `Inconsistent operation name: operation s (a) has the name "a" in the history, and "b" in the update.`,
		`[{"Id":"s","Type":"STEP","SubType":"WaitForCondition","Action":"SUCCEED"}]`:                       `Inconsistent operation subtype: operation s (a) has the subtype "Step" in the history, and "WaitForCondition" in the update.`,
		`[{"Id":"s","Type":"STEP","ParentId":"c","Action":"SUCCEED"}]`:                                     `Inconsistent operation parent: operation s (a) has the parent "" in the history, and "c" in the update.`,
		`[{"Id":"n","Type":"STEP","ParentId":"s","Action":"START"}]`:                                       "Invalid parent operation id: operation n names s, which is no CONTEXT of this execution.",
		`[{"Id":"s","Type":"STEP","Action":"RETRY"}]`:                                                      "Invalid StepOptions for the given action: NextAttemptDelaySeconds must be between 1 and 31622400.",
		`[{"Id":"s","Type":"STEP","Action":"CANCEL"}]`:                                                     "Invalid action for the given operation type.",
		`[{"Id":"n","Type":"NAP","Action":"START"}]`:                                                       "Unknown operation type.",
		`[{"Id":"s","Type":"STEP","Action":"SUCCEED"},{"Id":"s","Type":"STEP","Action":"FAIL"}]`:           "Cannot checkpoint multiple operations with the same ID: operation s (a).",
		`[{"Id":"n","Type":"CONTEXT","Action":"START"},{"Id":"c","Type":"CONTEXT","Action":"START"}]`:      "Cannot start a CONTEXT that already exist: operation c is STARTED.",
		`[{"Id":"e","Type":"EXECUTION","Action":"SUCCEED"},{"Id":"n","Type":"STEP","Action":"START"}]`:     "EXECUTION checkpoint must be the last update.",
		`[{"Id":"s","Type":"STEP","Action":"FAIL","Payload":""}]`:                                          "Cannot provide a Payload for FAIL action.",
		`[{"Id":"n","Type":"CHAINED_INVOKE","Action":"START"}]`:                                            "Invalid ChainedInvokeOptions: FunctionName is required.",
		`[{"Id":"s","Type":"STEP","Action":"SUCCEED","Payload":"` + strings.Repeat("x", 256<<10+1) + `"}]`: "STEP output payload size must be less than or equal to 262144 bytes.",
	} {
		err := tr.tryCheckpoint(updates)
		if r := (*durable.Refusal)(nil); !errors.As(err, &r) || r.Message != want {
			t.Errorf("%.80s: %v", updates, err)
		}
	}
	if tr.history() != before || len(tr.x.Operations()) != 3 {
		t.Error(tr.history())
	}
	err := tr.try(&durable.Command{Checkpoint: &durable.Checkpoint{Token: "bm9uZQ=="}})
	if err == nil || !strings.Contains(err.Error(), "Invalid Checkpoint Token") {
		t.Error(err)
	}
}

func TestAnExecutionHas3000Operations(t *testing.T) {
	t.Parallel()
	tr := begin(t, 10)
	for i := range durable.MaxOperations {
		tr.checkpoint(fmt.Sprintf(`[{"Id":"%d","Type":"STEP","Action":"START"}]`, i))
	}
	err := tr.tryCheckpoint(`[{"Id":"more","Type":"STEP","Action":"START"}]`)
	if err == nil || !strings.Contains(err.Error(), "has reached its limit of 3000 operations") {
		t.Error(err)
	}
}

func TestALostInvocationIsReplaced(t *testing.T) {
	t.Parallel()
	tr := begin(t, 10)
	old, request := tr.x.Token(), tr.x.RequestID()
	tr.do(&durable.Command{Invoke: &durable.Invoke{RequestID: "again"}})
	if err := tr.try(&durable.Command{Checkpoint: &durable.Checkpoint{Token: old}}); code(err) !=
		durable.InvalidParameterValue {
		t.Error(err)
	}
	tr.do(&durable.Command{Return: &durable.Return{RequestID: request, Output: `{"Status":"SUCCEEDED"}`}})
	if tr.x.Over() {
		t.Error("an invocation that was replaced ended the execution")
	}
}

// An execution says why its function is invoked again and when, and invokes it at once on request.
func TestReinvocation(t *testing.T) {
	t.Parallel()
	tr := begin(t, 3600)
	now := &durable.Command{Retry: &durable.Retry{OperationID: "4f6c"}}
	if err := tr.try(now); code(err) != durable.InvalidParameterValue {
		t.Errorf("while it is invoked: %v", err)
	}
	fail := func(r durable.Return) {
		t.Helper()
		r.RequestID = tr.x.RequestID()
		tr.do(&durable.Command{Return: &r})
	}
	if _, ok := tr.x.Reinvocation(); ok {
		t.Error("it waits before anything failed")
	}
	fail(durable.Return{Error: durable.NewError("Runtime.UserCodeSyntaxError", "Unexpected token")})
	r, ok := tr.x.Reinvocation()
	if !ok || r.Failures != 1 || *r.Error.ErrorType != "Runtime.UserCodeSyntaxError" || !r.Failed.Equal(start) ||
		!r.Next.Equal(start.Add(time.Second)) {
		t.Errorf("%+v, %t", r, ok)
	}
	tr.wait()
	tr.invoke()
	tr.now = start.Add(3 * time.Second)
	fail(durable.Return{Throttled: true, Error: durable.NewError("TooManyRequestsException", "Rate Exceeded.")})
	r, ok = tr.x.Reinvocation()
	if !ok || r.Failures != 2 || *r.Error.ErrorType != "TooManyRequestsException" || !r.Next.Equal(start.Add(5*time.Second)) {
		t.Errorf("%+v, %t", r, ok)
	}
	tr.do(now)
	tr.invoke()
	tr.checkpoint(`[{"Id":"w","Type":"WAIT","Action":"START","WaitOptions":{"WaitSeconds":70}}]`)
	tr.returns(`{"Status":"PENDING"}`)
	if err := tr.try(now); code(err) != durable.InvalidParameterValue {
		t.Errorf("while it is suspended: %v", err)
	}
	tr.want("1 ExecutionStarted 0\n2 InvocationCompleted 0\n3 WaitStarted 3\n4 InvocationCompleted 3\n")
	for i, want := range map[int]string{1: "Runtime.UserCodeSyntaxError", 3: ""} {
		if f := durable.FailureOf(&tr.events[i]); f.Name != want {
			t.Errorf("event %d: %+v", i+1, f)
		}
	}
	tr.wait()
	tr.invoke()
	fail(durable.Return{Error: durable.NewError("Runtime.ExitError", "gone")})
	if r, _ := tr.x.Reinvocation(); r.Failures != 1 {
		t.Errorf("after one that did not fail: %+v", r)
	}
}

// The next attempt of a STEP begins at once on request; no other operation can be retried.
func TestRetryNow(t *testing.T) {
	t.Parallel()
	tr := begin(t, 100)
	tr.checkpoint(`[{"Id":"s","Type":"STEP","Name":"charge","Action":"START"},
		{"Id":"s","Type":"STEP","Action":"RETRY","Error":{"ErrorType":"Declined"},"StepOptions":{"NextAttemptDelaySeconds":60}},
		{"Id":"w","Type":"WAIT","Action":"START","WaitOptions":{"WaitSeconds":70}}]`)
	d, err := durable.DetailsOf(&tr.events[2])
	if err != nil || d.ID != "s" || d.Name != "charge" || d.Attempt != 1 || d.Delay != time.Minute || *d.Error.ErrorType != "Declined" {
		t.Errorf("%+v, %v", d, err)
	}
	tr.returns(`{"Status":"PENDING"}`)
	for _, id := range []string{"w", "none"} {
		err := tr.try(&durable.Command{Retry: &durable.Retry{OperationID: id}})
		if code(err) != durable.InvalidParameterValue {
			t.Errorf("%s: %v", id, err)
		}
	}
	tr.do(&durable.Command{Retry: &durable.Retry{OperationID: "s"}})
	if o := tr.x.Operation("s"); o.Status != durable.Ready || !tr.x.WantsInvocation(tr.now) {
		t.Errorf("%+v", o)
	}
	if err := tr.try(&durable.Command{Retry: &durable.Retry{OperationID: "s"}}); code(err) != durable.InvalidParameterValue {
		t.Error(err)
	}
	tr.want("1 ExecutionStarted 0\n2 StepStarted 0\n3 StepFailed 0\n4 WaitStarted 0\n5 InvocationCompleted 0\n")
}

func TestAFunctionThatIsNotDurableFails(t *testing.T) {
	t.Parallel()
	const notSDK = "Invalid invocation output: it is not what AWS's durable execution SDK returns. " +
		"Wrap the handler with the SDK, as withDurableExecution does in JavaScript and durable_execution in Python."
	for output, want := range map[string]string{
		`"ok"`:                            notSDK,
		`null`:                            notSDK,
		`{"Status":"DONE"}`:               `Invalid Status in invocation output: "DONE"; it must be SUCCEEDED, FAILED or PENDING.`,
		`{"Status":"FAILED","Result":""}`: "Cannot provide a Result for FAILED status.",
	} {
		tr := begin(t, 10)
		tr.returns(output)
		if _, err := tr.x.Outcome(); tr.x.Status() != durable.Failed || *err.ErrorMessage != want {
			t.Errorf("%s: %s %+v", output, tr.x.Status(), err)
		}
	}
}

// A held STEP does not become READY, whatever happens to the execution, and shows no time. A replay of the commands
// gives the same.
func TestAHeldStep(t *testing.T) {
	t.Parallel()
	tr := begin(t, 1000)
	tr.checkpoint(`[{"Id":"s","Type":"STEP","Action":"START"},
		{"Id":"s","Type":"STEP","Action":"RETRY","StepOptions":{"NextAttemptDelaySeconds":10}},
		{"Id":"w","Type":"WAIT","Action":"START","WaitOptions":{"WaitSeconds":20}}]`)
	tr.returns(`{"Status":"PENDING"}`)
	step := tr.x.Operation("s")
	shown := func() bool { return !durable.Show[durable.Seconds](step).StepDetails.NextAttemptTimestamp.IsZero() }
	if change, _ := tr.x.Next(nil); !change.Equal(start.Add(10*time.Second)) || !shown() {
		t.Error(change, shown())
	}
	held := []string{"s"}
	tr.now = start.Add(10 * time.Second)
	tr.do(&durable.Command{Tick: &durable.Tick{}, Held: held})
	if change, _ := tr.x.Next(held); !change.Equal(start.Add(20*time.Second)) ||
		step.Status != durable.Pending || shown() ||
		tr.x.WantsInvocation(tr.now) {
		t.Errorf("%v %+v", change, step)
	}
	tr.now = start.Add(20 * time.Second)
	tr.do(&durable.Command{Tick: &durable.Tick{}, Held: held})
	tr.do(&durable.Command{Invoke: &durable.Invoke{RequestID: "r2"}, Held: held})
	if err := tr.try(&durable.Command{Held: held, Checkpoint: &durable.Checkpoint{Token: tr.x.Token(),
		Updates: []durable.Update{{Id: "s", Type: "STEP", Action: "START"}}}}); code(err) != durable.InvalidParameterValue {
		t.Error(err)
	}
	tr.do(&durable.Command{Tick: &durable.Tick{}})
	if step.Status != durable.Ready || step.Held {
		t.Errorf("%+v", step)
	}
	tr.want("1 ExecutionStarted 0\n2 StepStarted 0\n3 StepSucceeded 0\n4 WaitStarted 0\n5 InvocationCompleted 0\n6 WaitSucceeded 20\n")
}
