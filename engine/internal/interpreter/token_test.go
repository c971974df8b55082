package interpreter_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/jsonvalue"
)

const (
	activity = `"Type":"Task","Resource":"arn:aws:states:us-east-1:1:activity:a"`
	callback = `"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage.waitForTaskToken","Parameters":{"Token.$":"$$.Task.Token"}`
)

// begin starts an execution whose first state has a task, and returns the task.
func (w *world) begin(t *testing.T) (id int64, call *interpreter.TaskCall) {
	t.Helper()
	var r interpreter.Result
	w.x.Step(&interpreter.Signal{Kind: interpreter.Start, At: w.now, Secret: "secret"}, &r)
	w.history = append(w.history, r.History...)
	for _, f := range r.Effects {
		if f.Kind == interpreter.InvokeTask {
			return f.ID, f.Task
		}
	}
	t.Fatal("no task is invoked")
	return 0, nil
}

func TestActivityWithHeartbeats(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{`+activity+
		`,"TimeoutSeconds":60,"HeartbeatSeconds":10,"End":true}}}`, `{}`)
	id, call := w.begin(t)
	if call.Scheduled() || w.x.Awaits(id) {
		t.Error("the activity is not known to exist yet")
	}
	w.step(interpreter.Signal{Kind: interpreter.TaskScheduled, ID: id})
	w.now = epoch.Add(time.Hour)
	if len(w.timers) > 0 || !w.x.Offers(id) || w.x.Awaits(id) {
		t.Errorf("timers %v: a task that no worker has taken has no time to keep to", w.timers)
	}
	w.step(interpreter.Signal{Kind: interpreter.TaskStarted, ID: id, Worker: "me"})
	if !w.x.Awaits(id) || w.x.Offers(id) {
		t.Error("a worker has taken the task")
	}
	w.now = w.now.Add(8 * time.Second)
	w.step(interpreter.Signal{Kind: interpreter.TaskHeartbeat, ID: id})
	if at := earliest(w.timers); at.Sub(w.now) != 10*time.Second {
		t.Errorf("the next deadline is %v after the heartbeat, want 10s", at.Sub(w.now))
	}
	w.queue = append(w.queue, interpreter.Signal{Kind: interpreter.TaskSucceeded, ID: id,
		Output: jsonvalue.TextDocument(`1`)})
	w.finish(t).expect(t, `
		1<0 ExecutionStarted
		2<0 TaskStateEntered T {}
		3<2 ActivityScheduled {}
		4<3 ActivityStarted me
		5<4 ActivitySucceeded 1
		6<5 TaskStateExited T 1
		7<6 ExecutionSucceeded 1`)
}

func TestAMissingActivityFailsTheExecution(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{`+activity+
		`,"Catch":[{"ErrorEquals":["States.ALL"],"Next":"E"}],"End":true},"E":{"Type":"Pass","End":true}}}`, `{}`)
	w.answer = func(*interpreter.TaskCall) interpreter.Signal {
		return interpreter.Signal{Kind: interpreter.TaskFailed, Failure: history.NewFailure("States.Runtime",
			"The activity A does not exist.")}
	}
	w.run(t).expect(t, `
		1<0 ExecutionStarted
		2<0 TaskStateEntered T {}
		3<2 ExecutionFailed error=States.Runtime`)
	if got := w.x.Failure().Cause; got != "An error occurred while executing the state 'T' (entered at the event id #2). The activity A does not exist." {
		t.Error(got)
	}
}

func TestActivityTimesOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits string
		after  time.Duration
	}{
		"timeout":   {`"TimeoutSeconds":60`, 60 * time.Second},
		"heartbeat": {`"TimeoutSeconds":60,"HeartbeatSeconds":10`, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `{"StartAt":"T","States":{"T":{`+activity+`,`+c.limits+`,"End":true}}}`, `{}`)
			id, _ := w.begin(t)
			w.step(interpreter.Signal{Kind: interpreter.TaskScheduled, ID: id})
			w.now = epoch.Add(time.Hour)
			w.step(interpreter.Signal{Kind: interpreter.TaskStarted, ID: id})
			w.finish(t).expect(t, `
				1<0 ExecutionStarted
				2<0 TaskStateEntered T {}
				3<2 ActivityScheduled {}
				4<3 ActivityStarted
				5<4 ActivityTimedOut error=States.Timeout
				6<5 ExecutionFailed error=States.Timeout`)
			if got := w.now.Sub(epoch) - time.Hour; got != c.after {
				t.Errorf("after %v, want %v after the start", got, c.after)
			}
		})
	}
}

func TestMissedHeartbeatIsATimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{`+callback+`,"HeartbeatSeconds":5,"TimeoutSeconds":600,
		"Catch":[{"ErrorEquals":["States.HeartbeatTimeout"],"Next":"E"}],"End":true},"E":{"Type":"Succeed"}}}`, `{}`)
	id, _ := w.begin(t)
	w.now = w.now.Add(20 * time.Second) // until the request is accepted there is no worker to send heartbeats
	w.step(interpreter.Signal{Kind: interpreter.TaskSubmitted, ID: id, Output: jsonvalue.TextDocument(`{}`)})
	w.finish(t)
	if w.x.Output() != `{"Error":"States.Timeout","Cause":""}` || w.now != epoch.Add(25*time.Second) {
		t.Errorf("%s after %v\n%s", w.x.Output(), w.now.Sub(epoch), w.trace())
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	definition := `{"StartAt":"T","States":{"T":{` + callback +
		`,"Retry":[{"ErrorEquals":["States.ALL"]}],"End":true}}}`
	w := newWorld(t, definition, `{}`)
	id, call := w.begin(t)
	if call.Parameters != `{"Token":"`+call.Token+`"}` || len(call.Token) > 1024 {
		t.Errorf("the parameters are %s, the token is %s", call.Parameters, call.Token)
	}
	token, ok := interpreter.ParseToken(call.Token)
	if !ok || token.Execution != "arn:aws:states:us-east-1:1:execution:m:e" || token.ID != id || !w.x.Made(token) ||
		!w.x.Awaits(token.ID) {
		t.Errorf("%+v, %t", token, ok)
	}
	w.step(interpreter.Signal{Kind: interpreter.TaskFailed, ID: id, Failure: history.Named("Boom")})
	if !w.x.Made(token) || w.x.Awaits(token.ID) {
		t.Error("the token of an attempt outlives it, but ends nothing any more")
	}
	other := newWorld(t, definition, `{}`)
	other.step(interpreter.Signal{Kind: interpreter.Start, Secret: "another"})
	if other.x.Made(token) {
		t.Error("an execution with another secret takes the token for its own")
	}
	again := newWorld(t, definition, `{}`)
	if _, same := again.begin(t); same.Token != call.Token {
		t.Errorf("replayed, the token is %s, not %s", same.Token, call.Token)
	}
}

// TestTokensBeginWithALetter checks that no token starts with a hyphen.
func TestTokensBeginWithALetter(t *testing.T) {
	t.Parallel()
	for secret := range 200 { // the AWS CLI would take a token that starts with a hyphen for an option
		w := newWorld(t, `{"StartAt":"T","States":{"T":{`+callback+`,"End":true}}}`, `{}`)
		var r interpreter.Result
		w.x.Step(&interpreter.Signal{Kind: interpreter.Start, Secret: strconv.Itoa(secret)}, &r)
		for _, f := range r.Effects {
			if f.Kind == interpreter.InvokeTask && f.Task.Token[0] != 'A' {
				t.Error(f.Task.Token)
			}
		}
	}
}

func TestAnEarlyReportWaitsForTheRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer interpreter.Signal
		want   []history.Type
	}{
		"accepted": {
			interpreter.Signal{Kind: interpreter.TaskSubmitted, Output: jsonvalue.TextDocument(`{}`)},
			[]history.Type{history.TaskSubmitted, history.TaskSucceeded, history.TaskStateExited,
				history.ExecutionSucceeded},
		},
		"failed": {
			interpreter.Signal{Kind: interpreter.TaskSubmitFailed, Failure: history.Named("Crashed")},
			[]history.Type{history.TaskSucceeded, history.TaskStateExited, history.ExecutionSucceeded},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `{"StartAt":"T","States":{"T":{`+callback+
				`,"TimeoutSeconds":60,"HeartbeatSeconds":10,"End":true}}}`, `{}`)
			id, _ := w.begin(t)
			w.step(interpreter.Signal{Kind: interpreter.TaskSucceeded, ID: id, Output: jsonvalue.TextDocument(`1`),
				ByToken: true})
			if len(w.timers) > 0 || w.x.Awaits(id) || w.x.Status() != history.Running {
				t.Errorf("timers %v, status %s", w.timers, w.x.Status())
			}
			n := len(w.history)
			c.answer.ID = id
			w.step(c.answer)
			var got []history.Type
			for _, e := range w.history[n:] {
				got = append(got, e.Type)
			}
			if !slices.Equal(got, c.want) || w.x.Output() != `1` {
				t.Errorf("%v, %s; want %v", got, w.x.Output(), c.want)
			}
		})
	}
}

func TestAWaitForAJobHasATokenToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::states:startExecution.sync",
		"Parameters":{"Input.$":"$$.Task.Token"},"End":true}}}`, `{}`)
	if _, call := w.begin(t); call.Parameters != `{"Input":"`+call.Token+`"}` || call.Token == "" {
		t.Error(call.Parameters)
	}
}

func TestARequestHasNoToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage",
		"Parameters":{"Token.$":"$$.Task.Token"},"End":true}}}`, `{}`)
	w.run(t)
	if f := w.x.Failure(); f.Name != "States.Runtime" || !strings.Contains(f.Cause,
		"The JSONPath '$$.Task.Token' specified for the field 'Token.$' could not be found") {
		t.Errorf("%+v", f)
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add("")
	f.Add("AQCEAAAAKgAAAAMAAAAAAAAAAS9Zr")
	f.Add("wXWhsKM0X3Wb1gpnLfwbiP9E53ga_PyHoPZi-C7Uis0AAAAAAAAAAWFybjphd3M6c3RhdGVzOnVzLWVhc3QtMToxOmV4ZWN1dGlvbjptOmU")
	x := newWorld(f, `{"StartAt":"T","States":{"T":{`+callback+`,"End":true}}}`, `{}`).x
	var r interpreter.Result
	x.Step(&interpreter.Signal{Kind: interpreter.Start, Secret: "unknown"}, &r)
	f.Fuzz(func(t *testing.T, text string) {
		token, ok := interpreter.ParseToken(text)
		if ok && (token.Execution == "" || x.Made(token)) {
			t.Errorf("%q is taken for a token: %+v", text, token)
		}
	})
}
