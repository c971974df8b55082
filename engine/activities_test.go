package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

const activityTask = `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"` + activity +
	`","TimeoutSeconds":30,"End":true}}}`

func TestActivity(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	arn := b.start(t, activityTask)
	task, err := b.GetActivityTask(t.Context(), activity, "worker 7")
	if err != nil || task.Input != `{"n":1}` {
		t.Fatalf("%+v, %v", task, err)
	}
	if err := b.SendTaskSuccess(t.Context(), task.Token, `"done"`); err != nil {
		t.Fatal(err)
	}
	x, got := b.wait(t, arn)
	if want := "ExecutionStarted TaskStateEntered ActivityScheduled ActivityStarted ActivitySucceeded TaskStateExited ExecutionSucceeded"; got != want || x.Output != `"done"` {
		t.Errorf("%s %s", got, x.Output)
	}
	events, _ := b.History(t.Context(), arn)
	if events[3].Name != "worker 7" {
		t.Errorf("%+v", events[3])
	}
}

func TestActivityThatDoesNotExist(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	const missing = "arn:aws:states:us-east-1:000000000000:activity:missing"
	arn := b.start(t, `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"`+missing+`","End":true}}}`)
	x, got := b.wait(t, arn)
	cause := "An error occurred while executing the state 'A' (entered at the event id #2). The activity " + missing +
		" does not exist."
	if got != "ExecutionStarted TaskStateEntered ExecutionFailed" || x.Failure != history.NewFailure("States.Runtime",
		cause) {
		t.Errorf("%s %+v", got, x.Failure)
	}
	if _, err := b.GetActivityTask(t.Context(), missing, ""); !errors.Is(err, engine.ErrNoActivity) {
		t.Error(err)
	}
}

// TestPollersAreServedInOrder lets workers poll before there are tasks.
func TestPollersAreServedInOrder(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	m, err := b.CreateStateMachine("m", activityTask, "arn:aws:iam::000000000000:role/r", false)
	if err != nil {
		t.Fatal(err)
	}
	const workers = 5
	var got [workers]chan string
	for i := range got {
		got[i] = make(chan string, 1)
		go func() {
			task, err := b.GetActivityTask(t.Context(), activity, fmt.Sprint(i))
			if err != nil || task == nil {
				got[i] <- fmt.Sprint(task, err)
				return
			}
			got[i] <- task.Input
		}()
		b.polls(t, i+1)
	}
	for i := range got {
		if _, err := b.StartExecution(t.Context(), m.ARN, fmt.Sprint(i), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if input := <-got[i]; input != fmt.Sprint(i) {
			t.Errorf("worker %d has %s", i, input)
		}
	}
}

// polls waits until n workers poll.
func (b *tokenBed) polls(t *testing.T, n int) {
	t.Helper()
	for t.Context().Err() == nil && engine.Pollers(b.Engine, activity) != n {
		runtime.Gosched()
	}
}

func TestPollEndsWithoutATask(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	task, err := b.GetActivityTask(clock.Holding(t.Context()), activity, "w")
	if task != nil || err != nil || b.clock.Now().Sub(epoch) != engine.PollTime {
		t.Errorf("%v, %v after %v", task, err, b.clock.Now().Sub(epoch))
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		b.polls(t, 1)
		cancel()
	}()
	if _, err := b.GetActivityTask(ctx, activity, "w"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n := engine.Pollers(b.Engine, activity); n != 0 {
		t.Errorf("%d poll", n)
	}
}

// TestStopPolls ends the polls of workers: later tasks wait for the next engine.
func TestStopPolls(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	done := make(chan error)
	for range 2 {
		go func() {
			task, err := b.GetActivityTask(t.Context(), activity, "w")
			if task != nil {
				err = errors.New("a task came from nowhere")
			}
			done <- err
		}()
	}
	b.polls(t, 2)
	b.StopPolls()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	arn := b.start(t, activityTask)
	b.reaches(t, arn, history.ActivityScheduled)
	if task, err := b.GetActivityTask(t.Context(), activity, "w"); task != nil || err != nil {
		t.Errorf("%v, %v", task, err)
	}
}

// TestATaskThatIsGivenUpIsNotTaken stops an execution before any worker has taken its task.
func TestATaskThatIsGivenUpIsNotTaken(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	arn := b.start(t, activityTask)
	b.reaches(t, arn, history.ActivityScheduled)
	if err := b.StopExecution(t.Context(), arn, history.Failure{}); err != nil {
		t.Fatal(err)
	}
	if x, _ := b.wait(t, arn); x.Status != history.Aborted {
		t.Errorf("%+v", x)
	}
	if task, err := b.GetActivityTask(clock.Holding(t.Context()), activity, "w"); task != nil || err != nil {
		t.Errorf("%+v, %v", task, err)
	}
}

func TestActivityTimeoutBeginsWithItsStart(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	arn := b.start(t, activityTask)
	b.reaches(t, arn, history.ActivityScheduled)
	if err := b.clock.Sleep(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	task, err := b.GetActivityTask(t.Context(), activity, "w")
	if err != nil {
		t.Fatal(err)
	}
	x, got := b.wait(t, arn)
	if d := x.Stop.Sub(x.Start); d != time.Hour+30*time.Second ||
		got != "ExecutionStarted TaskStateEntered ActivityScheduled ActivityStarted ActivityTimedOut ExecutionFailed" {
		t.Errorf("%s after %v", got, d)
	}
	if err := b.SendTaskHeartbeat(t.Context(), task.Token); !errors.Is(err, engine.ErrTaskTimedOut) {
		t.Error(err)
	}
}

func TestTooManyPollers(t *testing.T) {
	t.Parallel()
	b := newTokenBed(t, journal.NewMemory(), 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for range engine.MaxPollers {
		go func() {
			_, err := b.GetActivityTask(ctx, activity, "w")
			ended <- err
		}()
	}
	b.polls(t, engine.MaxPollers)
	if _, err := b.GetActivityTask(ctx, activity, "w"); !errors.Is(err, engine.ErrTooManyPollers) {
		t.Error(err)
	}
	cancel()
	for range engine.MaxPollers {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
