package engine_test

import (
	"errors"
	"testing"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// behind is a journal that has not yet written EXPRESS executions when they are read.
type behind struct{ *journal.Memory }

func (b behind) Commit(r *journal.Record, done func(error)) {
	if r.Execution.Express {
		done(nil)
		return
	}
	b.Memory.Commit(r, done)
}

func TestAnExpressExecutionIsWaitedForBeforeTheJournalHasIt(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	e, err := engine.New(engine.Config{Clock: c, Journal: behind{journal.NewMemory()}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	m, err := e.Compile("m", `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`, "", true)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		started, err := e.Start(t.Context(), &engine.Start{Machine: m, Origin: engine.Origin{Name: "e",
			Input: `{"a":1}`}})
		if err != nil {
			t.Fatal(err)
		}
		x, err := started.Wait(t.Context())
		if err != nil || x.Status != history.Succeeded || x.Output != `{"a":1}` || !started.At.Equal(epoch) {
			t.Fatalf("%+v, %+v, %v", started, x, err)
		}
	}
}

// TestTheNameOfAnExecutionThatIsDescribedAsEndedIsTaken starts an execution again after its end is stored but before
// its run hears of it.
func TestTheNameOfAnExecutionThatIsDescribedAsEndedIsTaken(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	j := slow{journal.NewMemory(), make(chan struct{}), make(chan struct{})}
	e, err := engine.New(engine.Config{Clock: c, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	defer close(j.let)
	m, err := e.CreateStateMachine("m", `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":1,"End":true}}}`, "",
		false)
	if err != nil {
		t.Fatal(err)
	}
	arn, err := e.StartExecution(t.Context(), m.ARN, "e", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	<-j.kept
	if x, err := e.DescribeExecution(t.Context(), arn); err != nil || x.Status != history.Succeeded {
		t.Fatalf("%+v, %v", x, err)
	}
	if _, err := e.StartExecution(t.Context(), m.ARN, "e", `{}`); !errors.Is(err, engine.ErrAlreadyExists) {
		t.Errorf("got %v, want ErrAlreadyExists", err)
	}
}
