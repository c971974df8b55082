package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/engine/history"
)

// parse reads a history from lines of ID<previous, type and a name: the state, the error or the resource. The time is
// the ID in seconds.
func parse(t rapid.TB, text string) []history.Event {
	t.Helper()
	types := map[string]history.Type{}
	for i := history.Unknown; i <= history.EvaluationFailed; i++ {
		types[i.String()] = i
	}
	var all []history.Event
	for line := range strings.Lines(strings.TrimSpace(text)) {
		var e history.Event
		var name, kind string
		if n, err := fmt.Sscanf(strings.TrimSpace(line)+" -", "%d<%d %s %s", &e.ID, &e.Previous, &kind, &name); n < 4 {
			t.Fatal(line, err)
		}
		e.Type, e.Time = types[kind], e.ID*1e9
		switch {
		case e.Type.Entered(), e.Type.Exited():
			e.Name = name
		case e.Type.Step() == history.StepScheduled:
			e.More = &history.Details{Resource: name}
		case e.Type.Step() == history.StepFailed:
			e.More = &history.Details{Failure: history.Named(name)}
		}
		all = append(all, e)
	}
	return all
}

// story writes what a reader finds: one line an event that changes something.
func story(r *history.AttemptReader, events []history.Event) string {
	var lines []string
	one := func(a *history.Attempt) string {
		text := fmt.Sprintf("%s#%d@%d", a.State, a.Number, a.Scheduled.ID)
		if a.Retry() {
			text += fmt.Sprintf(" retries %s@%d after %v", a.RetryOf.Error, a.RetryOf.ID, a.Wait())
		}
		if a.Over() {
			text += " " + map[bool]string{false: "succeeded", true: "failed " + a.Failure.Name}[a.Failed()]
		}
		if a.TimedOut {
			text += " timed out"
		}
		return text
	}
	for i := range events {
		c := r.Read(&events[i])
		var line []string
		if c.Left != nil {
			line = append(line, "left "+one(c.Left))
		}
		if c.Attempt != nil {
			verb := "moved "
			if c.Begins {
				verb = "began "
			}
			line = append(line, verb+one(c.Attempt))
		}
		if line != nil {
			lines = append(lines, fmt.Sprintf("%d %s", events[i].ID, strings.Join(line, ", ")))
		}
	}
	for a := range r.Open() {
		lines = append(lines, "open "+one(a))
	}
	return strings.Join(lines, "\n")
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ events, want string }{
		"a retry that succeeds": {`1<0 ExecutionStarted
			2<0 TaskStateEntered A
			3<2 TaskScheduled r
			4<3 TaskStarted
			5<4 TaskSubmitted
			6<5 TaskTimedOut States.Timeout
			8<6 TaskScheduled r
			9<8 TaskSucceeded
			10<9 TaskStateExited A`, `3 began A#1@3
			4 moved A#1@3
			5 moved A#1@3
			6 moved A#1@3 failed States.Timeout timed out
			8 began A#2@8 retries States.Timeout@6 after 2s
			9 moved A#2@8 retries States.Timeout@6 after 2s succeeded
			10 left A#2@8 retries States.Timeout@6 after 2s succeeded`},
		"attempts that cannot be scheduled": {`1<0 TaskStateEntered A
			2<1 ActivityScheduleFailed E
			3<2 LambdaFunctionScheduleFailed F
			4<3 ExecutionFailed`, `2 began A#1@2 failed E
			3 began A#2@3 retries E@2 after 1s failed F
			4 left A#2@3 retries E@2 after 1s failed F`},
		"side by side, one is cut off": {`1<0 ParallelStateStarted
			2<1 TaskStateEntered A
			3<1 TaskStateEntered B
			4<2 TaskScheduled r
			5<3 LambdaFunctionScheduled r
			6<4 TaskFailed E
			7<5 LambdaFunctionFailed F
			8<6 TaskScheduled r
			9<7 ExecutionFailed`, `4 began A#1@4
			5 began B#1@5
			6 moved A#1@4 failed E
			7 moved B#1@5 failed F
			8 began A#2@8 retries E@6 after 2s
			9 left B#1@5 failed F
			open A#2@8 retries E@6 after 2s`},
		"a redrive begins anew": {`1<0 TaskStateEntered A
			2<1 TaskScheduled r
			3<0 TaskStateEntered B
			4<3 TaskScheduled s
			5<2 TaskFailed E
			6<5 ExecutionFailed
			7<6 ExecutionRedriven
			8<7 TaskScheduled s
			9<7 TaskScheduled r
			10<9 TaskFailed E
			11<10 TaskScheduled r`, `2 began A#1@2
			4 began B#1@4
			5 moved A#1@2 failed E
			6 left A#1@2 failed E
			8 began B#1@8
			9 began A#1@9
			10 moved A#1@9 failed E
			11 began A#2@11 retries E@10 after 1s
			open B#1@4
			open B#1@8
			open A#2@11 retries E@10 after 1s`},
		"the output's evaluation fails": {`1<0 TaskStateEntered A
			2<1 TaskScheduled r
			3<2 TaskSucceeded
			4<3 EvaluationFailed
			5<4 TaskScheduled r`, `2 began A#1@2
			3 moved A#1@2 succeeded
			5 began A#1@5
			open A#1@5`},
		"without a beginning": {`7<6 TaskStarted
			8<7 TaskFailed E
			9<8 TaskFailed F
			10<9 TaskScheduled r`, `8 moved #0@0 failed E
			9 left #0@0 failed E, moved #0@0 failed F
			10 began #0@10 retries F@9 after 1s
			open #0@10 retries F@9 after 1s`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events := parse(t, c.events)
			want := strings.ReplaceAll(c.want, "\t", "")
			var r history.AttemptReader
			for range 2 { // again after Reset
				if got := story(&r, events); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
				r.Reset()
			}
		})
	}
}

// TestEveryFailedTypeIsAnAttempt has a task fail with each type and succeed when it is retried.
func TestEveryFailedTypeIsAnAttempt(t *testing.T) {
	t.Parallel()
	for _, typ := range history.FailedTypes() {
		var r history.AttemptReader
		var attempts, retries, succeeded int
		for _, e := range parse(t, "1<0 TaskStateEntered A\n2<1 TaskScheduled r\n3<2 "+typ.String()+
			" E\n4<3 TaskScheduled r\n5<4 TaskSucceeded\n6<5 TaskStateExited A") {
			c := r.Read(&e)
			if c.Begins {
				attempts++
				if c.Attempt.Retry() {
					retries++
				}
			}
			if c.Left != nil && !c.Left.Failed() {
				succeeded++
			}
		}
		if attempts != 2 || retries != 1 || succeeded != 1 {
			t.Errorf("%s: %d attempts, %d retries, %d successes", typ, attempts, retries, succeeded)
		}
	}
}

// TestDamagedHistories: whatever the events say, attempts that begin are left, open or forgotten, and none twice.
func TestDamagedHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var r history.AttemptReader
		begun, ended, left := 0, 0, 0
		for range rapid.IntRange(0, 100).Draw(t, "events") {
			e := history.Event{ID: rapid.Int64Range(0, 50).Draw(t, "id"),
				Previous: rapid.Int64Range(-1, 50).Draw(t, "previous"),
				Type:     history.Type(rapid.Uint8Range(0, uint8(history.EvaluationFailed)+1).Draw(t, "type")), Name: "S"}
			c := r.Read(&e)
			if c.Begins {
				begun++
			}
			if c.Attempt != nil && c.Attempt.Over() {
				ended++
			}
			if c.Left != nil {
				left++
			}
			if c.Attempt != nil && c.Attempt == c.Left {
				t.Fatal("an attempt is left and goes on")
			}
			var ids []int64
			for a := range r.Open() {
				ids = append(ids, max(a.Scheduled.ID, a.Started.ID, a.Ended.ID))
			}
			if rapid.IntRange(0, 9).Draw(t, "forget") == 0 {
				r.Forget(e.ID)
			}
			if len(ids) > begun+ended {
				t.Fatalf("%d attempts are open, %d began and %d ended", len(ids), begun, ended)
			}
		}
	})
}

// TestReadAllocatesNothing: a reader that is used again has all it needs.
func TestReadAllocatesNothing(t *testing.T) {
	events := parse(t, "1<0 TaskStateEntered A\n2<1 TaskScheduled r\n3<2 TaskStarted\n4<3 TaskFailed E\n"+
		"5<4 TaskScheduled r\n6<5 TaskSucceeded\n7<6 TaskStateExited A")
	var r history.AttemptReader
	if n := testing.AllocsPerRun(100, func() {
		for i := range events {
			r.Read(&events[i])
		}
		r.Reset()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestStateOf(t *testing.T) {
	t.Parallel()
	whole := parse(t, "1<0 ExecutionStarted\n2<0 TaskStateEntered A\n3<2 TaskScheduled r\n4<3 TaskStateExited A\n"+
		"5<4 MapStateEntered M\n6<5 MapStateStarted\n7<6 ExecutionFailed\n8<9 TaskFailed E\n9<8 TaskFailed E")
	for _, start := range []int{0, 1, 4} {
		events := whole[start:]
		var got []string
		for i := range events {
			got = append(got, history.StateOf(events, &events[i]))
		}
		want := []string{"", "A", "A", "A", "M", "M", "M", "", ""}[start:]
		if !slices.Equal(got, want) {
			t.Errorf("from event %d: %q, want %q", start+1, got, want)
		}
	}
	if got := history.StateOf(nil, &whole[2]); got != "" {
		t.Errorf("without events: %q", got)
	}
}

// The attempts of the steps of a durable execution are read like those of tasks: a step is a state.
func TestStepsOfADurableExecutionAreAttempts(t *testing.T) {
	t.Parallel()
	var r history.AttemptReader
	failed := &history.Details{Failure: history.NewFailure("E", "m")}
	var got []string
	for _, e := range []history.Event{
		{ID: 1, Type: history.ExecutionStarted},
		{ID: 2, Type: history.DurableStepStarted, Name: "charge", Time: 10},
		{ID: 3, Previous: 2, Type: history.DurableStepFailed, Name: "charge", More: failed, Time: 20,
			Data: `{"StepFailedDetails":{"RetryDetails":{"CurrentAttempt":1,"NextAttemptDelaySeconds":1}}}`},
		{ID: 4, Type: history.DurableInvocationCompleted},
		{ID: 5, Previous: 3, Type: history.DurableStepStarted, Name: "charge", Time: 50},
		{ID: 6, Previous: 5, Type: history.DurableStepFailed, Name: "charge", More: failed, Time: 60,
			Data: `{"StepFailedDetails":{"Error":{"Payload":{"ErrorMessage":"\"NextAttemptDelaySeconds\":"}},"RetryDetails":{"CurrentAttempt":2}}}`},
		{ID: 7, Type: history.DurableStepStarted, Name: "refund", Time: 70},
		{ID: 8, Previous: 7, Type: history.DurableStepSucceeded, Name: "refund", Time: 80, Data: `{}`},
		{ID: 9, Type: history.DurableInvocationCompleted},
	} {
		c := r.Read(&e)
		if a := c.Attempt; a != nil {
			got = append(got, fmt.Sprintf("%d %s %d begins %t retry %t failed %t wait %d", e.ID, a.State, a.Number, c.Begins, a.Retry(),
				a.Failed(), a.Wait()))
		}
		if c.Left != nil {
			got = append(got, fmt.Sprintf("%d left %s failed %t", e.ID, c.Left.State, c.Left.Failed()))
		}
	}
	want := []string{
		"2 charge 1 begins true retry false failed false wait 0",
		"3 charge 1 begins false retry false failed true wait 0",
		"5 charge 2 begins true retry true failed false wait 30",
		"6 charge 2 begins false retry true failed true wait 30",
		"7 refund 1 begins true retry false failed false wait 0",
		"7 left charge failed true",
		"8 refund 1 begins false retry false failed false wait 0",
		"9 left refund failed false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for a := range r.Open() {
		t.Errorf("%+v is still open", a)
	}
}
