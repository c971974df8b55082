package engine_test

import (
	"context"
	"errors"
	"testing"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// unanswering is a journal that never reports anything as durable.
type unanswering struct {
	*journal.Memory
	asked chan struct{}
}

func (u unanswering) Commit(*journal.Record, func(error)) { u.asked <- struct{}{} }

// TestWhoWaitsIsToldThatTheEngineCloses closes an engine while one caller waits for the end of an execution, and
// another for its start.
func TestWhoWaitsIsToldThatTheEngineCloses(t *testing.T) {
	t.Parallel()
	invoked := make(chan struct{})
	b := newBed(t, func(ctx context.Context, _ *engine.Task) (string, error) {
		close(invoked)
		<-ctx.Done()
		return "", ctx.Err()
	})
	arn := b.start(t, `{"StartAt":"T","States":{"T":{`+call+`,"End":true}}}`, `{}`)
	waited := make(chan error)
	go func() {
		_, err := b.Wait(context.Background(), arn)
		waited <- err
	}()
	<-invoked
	b.Close()
	if err := <-waited; !errors.Is(err, engine.ErrClosed) {
		t.Errorf("waiting for the end: %v", err)
	}

	kept := unanswering{journal.NewMemory(), make(chan struct{}, 1)}
	e, err := engine.New(engine.Config{Clock: virtual(t, epoch), Journal: kept})
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.CreateStateMachine("m", `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`, "", false)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := e.StartExecution(context.Background(), m.ARN, "e", `{}`)
		waited <- err
	}()
	<-kept.asked
	e.Close()
	e.Close() // does not release the clock a second time
	if err := <-waited; !errors.Is(err, engine.ErrClosed) {
		t.Errorf("waiting for the start: %v", err)
	}
}

// TestATaskKnowsWhyItsContextEnded stops an execution during a task, and closes the engine during another.
func TestATaskKnowsWhyItsContextEnded(t *testing.T) {
	t.Parallel()
	for _, closed := range []bool{false, true} {
		invoked, givenUp := make(chan struct{}), make(chan bool, 1)
		b := newBed(t, func(ctx context.Context, _ *engine.Task) (string, error) {
			close(invoked)
			<-ctx.Done()
			givenUp <- engine.GivenUp(ctx)
			return "", ctx.Err()
		})
		arn := b.start(t, `{"StartAt":"T","States":{"T":{`+call+`,"End":true}}}`, `{}`)
		<-invoked
		if closed {
			b.Close()
		} else if err := b.StopExecution(t.Context(), arn, history.Failure{}); err != nil {
			t.Fatal(err)
		}
		if got := <-givenUp; got == closed {
			t.Errorf("closing %t: given up %t", closed, got)
		}
	}
}

// TestATaskThatFailsWhileTheEngineIsClosing: shortly before the engine closes, its tasks lose what they depend on. A
// task that fails then does not count as failed, and its state does not time out: the next engine runs it again. A
// task that succeeds has succeeded.
func TestATaskThatFailsWhileTheEngineIsClosing(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	invoked, goOn := make(chan string), make(chan struct{})
	first := live(t, kept, 1000, func(_ context.Context, task *engine.Task) (string, error) {
		invoked <- task.State
		<-goOn
		if task.State == "Fails" {
			return "", engine.NewFailure("ConnectionRefused", "the server is gone")
		}
		return `"first"`, nil
	})
	m, err := first.CreateStateMachine("m", `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[
		{"StartAt":"Fails","States":{"Fails":{`+call+`,"TimeoutSeconds":30,"End":true}}},
		{"StartAt":"Succeeds","States":{"Succeeds":{`+call+`,"Next":"Then"},"Then":{`+call+`,"End":true}}}]}}}`,
		"arn:aws:iam::000000000000:role/r", false)
	if err != nil {
		t.Fatal(err)
	}
	arn, err := first.StartExecution(t.Context(), m.ARN, "e", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	<-invoked
	<-invoked
	first.Closing()
	close(goOn)
	if state := <-invoked; state != "Then" {
		t.Errorf("%s is carried out after what succeeded", state)
	}
	first.end()

	second := live(t, kept, 1000, func(_ context.Context, task *engine.Task) (string, error) {
		return `"second ` + task.State + `"`, nil
	})
	defer second.end()
	x, err := second.Wait(t.Context(), arn)
	if err != nil || x.Status != history.Succeeded || x.Output != `["second Fails","second Then"]` &&
		x.Output != `["second Fails","first"]` {
		t.Fatalf("%+v, %v", x, err)
	}
	events, err := kept.History(t.Context(), arn)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Type == history.TaskFailed || e.Type == history.TaskTimedOut {
			t.Errorf("%+v", e)
		}
	}
}
