package engine_test

import (
	"testing"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// slow is a journal that stores the end of an execution but reports it only once it is released.
type slow struct {
	*journal.Memory

	kept, let chan struct{}
}

func (s slow) Commit(r *journal.Record, done func(error)) {
	end := r.End
	s.Memory.Commit(r, func(err error) {
		if !end {
			done(err)
			return
		}
		go func() {
			close(s.kept)
			<-s.let
			done(err)
		}()
	})
}

// TestHistoryOfAnEndThatIsDescribedIsWhole reads the history after the end was stored and before its run receives the
// result.
func TestHistoryOfAnEndThatIsDescribedIsWhole(t *testing.T) {
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
	m, err := e.CreateStateMachine("m", `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":1,"Next":"F"},"F":{"Type":"Fail"}}}`, "", false)
	if err != nil {
		t.Fatal(err)
	}
	arn, err := e.StartExecution(t.Context(), m.ARN, "e", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	<-j.kept
	x, err := e.DescribeExecution(t.Context(), arn)
	if err != nil || x.Status != history.Failed {
		t.Fatalf("%+v, %v", x, err)
	}
	events, err := e.History(t.Context(), arn)
	if err != nil || len(events) != 5 || events[4].Type != history.ExecutionFailed {
		t.Errorf("%d events, %v", len(events), err)
	}
}
