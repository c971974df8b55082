package engine_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

const (
	callback = `"Type":"Task","Resource":"arn:aws:states:::test:call.waitForTaskToken","Parameters":{"token.$":"$$.Task.Token"}`
	activity = "arn:aws:states:us-east-1:000000000000:activity:a"
)

// tokenBed is an engine with an activity, whose token tasks pass their tokens to the test. Virtual time stands still
// until wait.
type tokenBed struct {
	*engine.Engine
	clock  *clock.Clock
	tokens chan string
}

func newTokenBed(t *testing.T, j journal.Journal, seed uint64) *tokenBed {
	t.Helper()
	b := &tokenBed{clock: clock.Virtual(epoch), tokens: make(chan string, 10)}
	e, err := engine.New(engine.Config{
		Clock: b.clock, Journal: j, Seed: seed,
		Activity: func(arn string) (bool, error) { return arn == activity, nil },
		Integrations: map[string]engine.Integration{"test:call": invoke(func(_ context.Context,
			task *engine.Task) (string, error) {
			v, err := task.Value()
			token, _ := v.Get("token")
			b.tokens <- token.Text()
			return `{"accepted":true}`, err
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Engine = e
	b.clock.Hold()
	t.Cleanup(func() {
		e.Close()
		b.clock.Close()
	})
	return b
}

func (b *tokenBed) start(t *testing.T, definition string) string {
	t.Helper()
	m, err := b.CreateStateMachine("m", definition, "arn:aws:iam::000000000000:role/r", false)
	if err != nil {
		t.Fatal(err)
	}
	arn, err := b.StartExecution(t.Context(), m.ARN, "e", `{"n":1}`)
	if err != nil {
		t.Fatal(err)
	}
	return arn
}

// wait lets time pass until the execution ends, and returns the types of its events.
func (b *tokenBed) wait(t *testing.T, arn string) (*journal.Execution, string) {
	t.Helper()
	b.clock.Release()
	defer b.clock.Hold()
	x, err := b.Wait(t.Context(), arn)
	if err != nil {
		t.Fatal(err)
	}
	return x, types(t, b.Engine, arn)
}

// reaches waits until the history of an execution ends with an event of the given type.
func (b *tokenBed) reaches(t *testing.T, arn string, last history.Type) {
	t.Helper()
	for t.Context().Err() == nil {
		events, err := b.History(t.Context(), arn)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(events); n > 0 && events[n-1].Type == last {
			return
		}
		runtime.Gosched()
	}
}

func TestSendTaskSuccess(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	arn := b.start(t, `{"StartAt":"T","States":{"T":{`+callback+`,"End":true}}}`)
	token := <-b.tokens
	b.reaches(t, arn, history.TaskSubmitted)
	if err := b.SendTaskSuccess(t.Context(), token, `{"a":`); !errors.Is(err, engine.ErrOutput) {
		t.Error(err)
	}
	if err := b.SendTaskSuccess(t.Context(), token, `{"a":1}`); err != nil {
		t.Fatal(err)
	}
	if err := b.SendTaskSuccess(t.Context(), token, `2`); !errors.Is(err, engine.ErrTaskTimedOut) {
		t.Errorf("a second answer: %v", err)
	}
	x, got := b.wait(t, arn)
	if want := "ExecutionStarted TaskStateEntered TaskScheduled TaskStarted TaskSubmitted TaskSucceeded TaskStateExited ExecutionSucceeded"; got != want || x.Output != `{"a":1}` {
		t.Errorf("%s %s", got, x.Output)
	}
	if err := b.SendTaskHeartbeat(t.Context(), token); !errors.Is(err, engine.ErrTaskTimedOut) {
		t.Errorf("after the end of the execution: %v", err)
	}
}

func TestSendTaskFailure(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	arn := b.start(t, `{"StartAt":"T","States":{"T":{`+callback+`,"Retry":[{"ErrorEquals":["Again"]}],"End":true}}}`)
	first := <-b.tokens
	if err := b.SendTaskFailure(t.Context(), first, history.Named("Again")); err != nil {
		t.Fatal(err)
	}
	b.clock.Release()
	second := <-b.tokens
	b.clock.Hold()
	if first == second {
		t.Error("a retry has the same token")
	}
	if err := b.SendTaskFailure(t.Context(), first, history.Named("Again")); !errors.Is(err, engine.ErrTaskTimedOut) {
		t.Errorf("by the token of the first attempt: %v", err)
	}
	b.reaches(t, arn, history.TaskSubmitted)
	if err := b.SendTaskFailure(t.Context(), second, history.NewFailure("Boom", "no")); err != nil {
		t.Fatal(err)
	}
	if x, _ := b.wait(t, arn); x.Status != history.Failed || x.Failure != history.NewFailure("Boom", "no") {
		t.Errorf("%+v", x)
	}
}

// TestHeartbeats sends a heartbeat every 8 seconds for a while.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	arn := b.start(t, `{"StartAt":"T","States":{"T":{`+callback+`,"HeartbeatSeconds":10,"End":true}}}`)
	token := <-b.tokens
	b.reaches(t, arn, history.TaskSubmitted)
	for range 5 {
		if err := b.clock.Sleep(t.Context(), 8*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := b.SendTaskHeartbeat(t.Context(), token); err != nil {
			t.Fatal(err)
		}
	}
	x, got := b.wait(t, arn)
	if d := x.Stop.Sub(x.Start); d != 50*time.Second || !strings.HasSuffix(got, "TaskTimedOut ExecutionFailed") {
		t.Errorf("%s after %v", got, d)
	}
	if err := b.SendTaskSuccess(t.Context(), token, `1`); !errors.Is(err, engine.ErrTaskTimedOut) {
		t.Error(err)
	}
}

func TestTokensOfNobody(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 0)
	arn := b.start(t, `{"StartAt":"T","States":{"T":{`+callback+`,"End":true}}}`)
	token := <-b.tokens
	elsewhere := newTokenBed(t, journal.NewMemory(), 0)
	if err := elsewhere.SendTaskSuccess(t.Context(), token, `1`); !errors.Is(err, engine.ErrNoTask) {
		t.Errorf("where the execution is not known: %v", err)
	}
	if again := elsewhere.start(t, `{"StartAt":"T","States":{"T":{`+callback+`,"End":true}}}`); again != arn {
		t.Fatal(again)
	}
	for name, text := range map[string]string{"an execution of the same ARN": token, "nothing": "", "not base64": "?",
		"too short": "AAAA"} {
		if err := elsewhere.SendTaskSuccess(t.Context(), text, `1`); !errors.Is(err, engine.ErrInvalidToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOneOfManyAnswersCounts reports with the same token from many goroutines at once.
func TestOneOfManyAnswersCounts(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	arn := b.start(t, `{"StartAt":"T","States":{"T":{`+callback+`,"End":true}}}`)
	token := <-b.tokens
	const callers = 20
	answers := make([]error, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() { answers[i] = b.SendTaskSuccess(t.Context(), token, `1`) })
	}
	all.Wait()
	late := slices.DeleteFunc(slices.Clone(answers), func(err error) bool { return err == nil })
	for _, err := range late {
		if !errors.Is(err, engine.ErrTaskTimedOut) {
			t.Error(err)
		}
	}
	if len(late) != callers-1 {
		t.Errorf("%d answers counted", callers-len(late))
	}
	if x, _ := b.wait(t, arn); x.Status != history.Succeeded {
		t.Errorf("%+v", x)
	}
}

// TestTokensOutliveTheProcess reports, after a restart, with tokens that were issued before.
func TestTokensOutliveTheProcess(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	before := newTokenBed(t, kept, 0)
	arn := before.start(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[
		{"StartAt":"T","States":{"T":{`+callback+`,"End":true}}},
		{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"`+activity+`","End":true}}},
		{"StartAt":"B","States":{"B":{"Type":"Task","Resource":"`+activity+`","End":true}}}]}}}`)
	callback := <-before.tokens
	taken, err := before.GetActivityTask(t.Context(), activity, "w")
	if err != nil || taken.Input != `{"n":1}` {
		t.Fatal(taken, err)
	}
	for submitted := false; !submitted; {
		events, err := before.History(t.Context(), arn)
		if err != nil {
			t.Fatal(err)
		}
		submitted = slices.ContainsFunc(events, func(e history.Event) bool { return e.Type == history.TaskSubmitted })
	}
	before.Close()
	after := newTokenBed(t, kept, 0)
	if found, err := after.Recover(t.Context()); err != nil || len(found.Executions) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	offered, err := after.GetActivityTask(t.Context(), activity, "w")
	if err != nil || offered.Token == taken.Token {
		t.Fatalf("%+v, %v: want the task that nobody had taken", offered, err)
	}
	for i, token := range []string{callback, taken.Token, offered.Token} {
		if err := after.SendTaskSuccess(t.Context(), token, string(rune('1'+i))); err != nil {
			t.Errorf("token %d: %v", i, err)
		}
	}
	x, _ := after.wait(t, arn)
	if x.Output != `[1,2,3]` && x.Output != `[1,3,2]` {
		t.Errorf("%+v", x)
	}
	if len(after.tokens) > 0 {
		t.Error("a request that was accepted is made again")
	}
}
