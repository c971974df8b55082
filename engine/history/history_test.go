package history_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"stepback/engine/history"
)

func ExampleEvent_AppendJSON() {
	e := history.Event{
		ID: 5, Previous: 4, Time: 1_700_000_000_123_000_000, Type: history.TaskFailed,
		More: &history.Details{Failure: history.NewFailure("Boom", "why"), Resource: "invoke", ResourceType: "lambda"},
	}
	fmt.Println(string(e.AppendJSON(nil, true)))
	// Output: {"timestamp":1700000000.123,"type":"TaskFailed","id":5,"previousEventId":4,"taskFailedEventDetails":{"resourceType":"lambda","resource":"invoke","error":"Boom","cause":"why"}}
}

func TestJSONOfEachShape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event history.Event
		want  string
	}{
		{history.Event{ID: 1, Type: history.ExecutionStarted, Data: `{}`,
			More: &history.Details{RoleARN: "arn:aws:iam::1:role/r"}},
			`"executionStartedEventDetails":{"input":"{}","inputDetails":{"truncated":false},"roleArn":"arn:aws:iam::1:role/r"}`},
		{history.Event{Type: history.ExecutionAborted}, `"executionAbortedEventDetails":{}`},
		{history.Event{Type: history.ExecutionFailed, More: &history.Details{Failure: history.Named("States.Timeout")}},
			`"executionFailedEventDetails":{"error":"States.Timeout"}`},
		{history.Event{Type: history.MapStateStarted, More: &history.Details{}},
			`"mapStateStartedEventDetails":{"length":0}`},
		{history.Event{Type: history.MapIterationStarted, Name: "M", More: &history.Details{Index: 2}},
			`"mapIterationStartedEventDetails":{"name":"M","index":2}`},
		{history.Event{Type: history.PassStateExited, Name: "P", Data: `1`,
			More: &history.Details{Assigned: []history.Assignment{{Name: "x", Value: `"v"`}}}},
			`"stateExitedEventDetails":{"name":"P","output":"1","outputDetails":{"truncated":false},"assignedVariables":{"x":"\"v\""},"assignedVariablesDetails":{"truncated":false}}`},
		{history.Event{Type: history.TaskScheduled, Data: `{"a":1}`, More: &history.Details{Resource: "invoke",
			ResourceType: "lambda", Region: "r", TimeoutInSeconds: 5}},
			`"taskScheduledEventDetails":{"resourceType":"lambda","resource":"invoke","region":"r","parameters":"{\"a\":1}","timeoutInSeconds":5}`},
		{history.Event{Type: history.LambdaFunctionScheduled, Data: `1`, More: &history.Details{Resource: "arn"}},
			`"lambdaFunctionScheduledEventDetails":{"resource":"arn","input":"1","inputDetails":{"truncated":false}}`},
	} {
		got := string(c.event.AppendJSON(nil, true))
		want := fmt.Sprintf(`{"timestamp":0.000,"type":"%s","id":%d,"previousEventId":0,%s}`, c.event.Type, c.event.ID,
			c.want)
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("not JSON: %s", got)
		}
	}
}

func TestJSONWithoutData(t *testing.T) {
	t.Parallel()
	e := history.Event{ID: 2, Type: history.PassStateEntered, Name: "P", Data: `{"secret":1}`}
	if got := string(e.AppendJSON(nil, false)); got != `{"timestamp":0.000,"type":"PassStateEntered","id":2,"previousEventId":0,"stateEnteredEventDetails":{"name":"P"}}` {
		t.Error(got)
	}
}

func TestEveryTypeHasAName(t *testing.T) {
	t.Parallel()
	for i := history.ExecutionStarted; i <= history.EvaluationFailed; i++ {
		if i.String() == "" || i.String() == "Unknown" {
			t.Errorf("type %d has no name", i)
		}
	}
}

func TestBinaryReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOf(rapid.Custom(drawEvent)).Draw(t, "events")
		stored := history.AppendBinary(nil, events, nil)
		got, rest, err := history.Decode(append(stored, "rest"...), nil)
		if err != nil || string(rest) != "rest" {
			t.Fatalf("Decode: %v, rest %q", err, rest)
		}
		if len(events) > 0 && !reflect.DeepEqual(got, events) {
			t.Fatalf("got  %+v\nwant %+v", got, events)
		}
	})
}

// Events refer to texts that are stored apart, which are then read by their number, and only these.
func TestTextsApartAreNotRepeated(t *testing.T) {
	t.Parallel()
	texts := []string{strings.Repeat("a", 1000), strings.Repeat("b", 1000), strings.Repeat("c", 1000)}
	events := []history.Event{
		{ID: 1, Type: history.ExecutionStarted, Data: texts[0], More: &history.Details{RoleARN: "role"}},
		{ID: 2, Previous: 1, Type: history.PassStateEntered, Name: "P", Data: texts[2]},
		{ID: 3, Previous: 2, Type: history.PassStateExited, Name: "P", Data: "other"},
		{ID: 4, Previous: 3, Type: history.ExecutionSucceeded, Data: texts[2]},
	}
	stored := history.AppendBinary(nil, events, texts)
	if len(stored) > 100 {
		t.Errorf("%d bytes are stored", len(stored))
	}
	var numbers []int
	got, _, err := history.Decode(stored, func(number int) (string, error) {
		numbers = append(numbers, number)
		return texts[number], nil
	})
	if err != nil || !reflect.DeepEqual(got, events) || !slices.Equal(numbers, []int{0, 2, 2}) {
		t.Errorf("%+v, %v; read the texts %v", got, err, numbers)
	}
	lost := errors.New("lost")
	if _, _, err := history.Decode(stored, func(int) (string, error) { return "", lost }); !errors.Is(err, lost) {
		t.Errorf("a lost text: %v", err)
	}
	if _, _, err := history.Decode(stored, nil); err == nil {
		t.Error("without texts, the events are read")
	}
}

func drawEvent(t *rapid.T) history.Event {
	e := history.Event{
		ID: rapid.Int64Range(1, 1<<40).Draw(t, "id"), Previous: rapid.Int64Range(0, 1<<40).Draw(t, "previous"),
		Time: rapid.Int64Range(0, 1<<62).Draw(t, "time"),
		Type: history.Type(rapid.IntRange(1, int(history.EvaluationFailed)).Draw(t, "type")),
		Name: rapid.String().Draw(t, "name"), Data: rapid.String().Draw(t, "data"),
	}
	if rapid.Bool().Draw(t, "details") {
		e.More = &history.Details{
			Resource: rapid.String().Draw(t, "resource"), RoleARN: rapid.String().Draw(t, "role"),
			Index: rapid.Int64().Draw(t, "index"), TimeoutInSeconds: rapid.Int64().Draw(t, "timeout"),
		}
		if rapid.Bool().Draw(t, "failed") {
			e.More.Failure = history.NewFailure(rapid.String().Draw(t, "error"), rapid.String().Draw(t, "cause"))
		}
		if rapid.Bool().Draw(t, "assigned") {
			e.More.Assigned = []history.Assignment{{Name: "x", Value: rapid.String().Draw(t, "value")}}
		}
	}
	return e
}

func FuzzDecode(f *testing.F) {
	f.Add(history.AppendBinary(nil, []history.Event{{ID: 1, Type: history.ExecutionStarted, Data: "{}"}}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		events, _, err := history.Decode(b, nil)
		if err == nil && len(events) > len(b) {
			t.Fatal("more events than bytes")
		}
	})
}

func TestFailuresAreCutToWhatTheAPIAllows(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 40_000)
	f := history.NewFailure(long, long)
	if utf8.RuneCountInString(f.Name) != 256 || utf8.RuneCountInString(f.Cause) != 32_768 ||
		!utf8.ValidString(f.Cause) {
		t.Errorf("%d and %d characters", utf8.RuneCountInString(f.Name), utf8.RuneCountInString(f.Cause))
	}
	if short := history.NewFailure("Boom", "because"); short.Name != "Boom" || short.Cause != "because" {
		t.Errorf("%+v", short)
	}
}
