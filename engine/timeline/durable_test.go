package timeline_test

import (
	"encoding/json"
	"testing"
	"time"

	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/timeline"
)

// durably applies commands to an execution of a durable function, each a number of seconds after the first, and returns
// its history.
func durably(t *testing.T, began time.Time, commands ...string) []history.Event {
	t.Helper()
	var events []history.Event
	x := new(durable.Execution)
	for _, text := range commands {
		var c struct {
			After   int64
			Updates []durable.Update
			durable.Command
		}
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			t.Fatal(err)
		}
		if c.Updates != nil {
			c.Checkpoint = &durable.Checkpoint{Token: x.Token(), Updates: c.Updates}
		}
		got, err := x.Apply(&c.Command, began.Add(time.Duration(c.After)*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, got...)
	}
	return events
}

var durableCommands = []string{
	`{"Start":{"ARN":"arn","ID":"x","Input":"{}","TimeoutSeconds":3600}}`, `{"Invoke":{"RequestID":"r"}}`,
	`{"Updates":[{"Id":"c","Type":"CONTEXT","Name":"all","SubType":"Parallel","Action":"START"},
		{"Id":"s","ParentId":"c","Type":"STEP","Name":"charge","Action":"START"}]}`,
	`{"After":1,"Updates":[{"Id":"s","Type":"STEP","Action":"RETRY","Error":{"ErrorType":"Declined"},
		"StepOptions":{"NextAttemptDelaySeconds":17}}]}`,
	`{"After":1,"Updates":[{"Id":"w","Type":"WAIT","Action":"START","WaitOptions":{"WaitSeconds":30}},
		{"Id":"b","Type":"CALLBACK","Name":"approval","Action":"START","CallbackOptions":{"TimeoutSeconds":60}}]}`,
}

// Invocations that failed outside steps are counted, with the error of the last one.
func TestFailedInvocations(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	commands := []string{`{"Start":{"ARN":"arn","ID":"x","Input":"{}","TimeoutSeconds":60}}`, `{"Invoke":{"RequestID":"a"}}`}
	for _, c := range []struct{ command, want string }{
		{`{"Updates":[{"Id":"w","Type":"WAIT","Action":"START","WaitOptions":{"WaitSeconds":5}}]}`, ""},
		{`{"Return":{"RequestID":"a","Output":"{\"Status\":\"PENDING\"}"}}`, ""},
		{`{"After":5,"Invoke":{"RequestID":"b"}}`, ""},
		{`{"After":6,"Return":{"RequestID":"b","Error":{"ErrorType":"Runtime.UserCodeSyntaxError","ErrorMessage":"Unexpected token"}}}`,
			"1 of 2 invocations failed; the last failure was Runtime.UserCodeSyntaxError at 12:00:06"},
		{`{"After":7,"Invoke":{"RequestID":"c"}}`,
			"1 of 2 invocations failed; the last failure was Runtime.UserCodeSyntaxError at 12:00:06"},
		{`{"After":8,"Return":{"RequestID":"c","Error":{"ErrorMessage":"Unexpected token"}}}`,
			"2 of 3 invocations failed, the latest 2 in a row; the last failure was an error without a type at 12:00:08"},
		{`{"After":60,"Tick":{}}`,
			"2 of 3 invocations failed, the latest 2 in a row; the last failure was an error without a type at 12:00:08"},
	} {
		commands = append(commands, c.command)
		l := timeline.Read(durably(t, began, commands...))
		if got := l.Invocations.Text(began); got != c.want {
			t.Errorf("after %s: %s\nwant %s", c.command, got, c.want)
		}
	}
	l := timeline.Read(durably(t, began, commands...))
	if i := l.Invocations; l.Status != history.TimedOut || i.Ended != 3 || i.InARow != 2 || i.Event != 6 ||
		i.Failure.Cause != "Unexpected token" {
		t.Errorf("%+v", l)
	}
}

func TestADurableExecution(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	l := timeline.Read(durably(t, began, durableCommands...))
	if got, want := story(l), "all running\n  charge waiting | 1 failed Declined | waits\nw waiting\napproval waiting\n"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	at := began.Add(2 * time.Second)
	for i, want := range []string{
		"charge: attempt 1 failed with Declined at 12:00:01; the next attempt is at 12:00:18 (in 16s), and the execution times out at 13:00:00",
		"w: waits until 12:00:31 (in 29s)", "approval: waits for its callback since 12:00:01 and times out at 12:01:01 (in 59s)",
	} {
		if now := l.Now(nil, nil); len(now) != 3 || now[i].Text(at) != want {
			t.Errorf("%+v, want %s", now, want)
		}
	}
	l = timeline.Read(durably(t, began, append(durableCommands, `{"After":31,"Tick":{}}`,
		`{"After":31,"Updates":[{"Id":"s","Type":"STEP","Action":"START"}]}`,
		`{"After":32,"Updates":[{"Id":"s","Type":"STEP","Action":"SUCCEED","Payload":"1"},{"Id":"c","Type":"CONTEXT","Action":"SUCCEED"}]}`,
		`{"After":40,"Stop":{"Error":{"ErrorType":"Mine"}}}`)...))
	if got, want := story(l), "all succeeded\n  charge succeeded | 1 failed Declined | 2 succeeded | waited 30s\nw succeeded\napproval aborted\n"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if l.Status != history.Aborted || l.Failure.Name != "Mine" || l.Visits[1].Retries() != 1 || l.Visits[1].Operation != "s" ||
		len(l.Now(nil, nil)) != 0 || l.Of(3) != l.Visits[1] {
		t.Errorf("%+v", l)
	}
}
