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
