package engine_test

import (
	"context"
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
	m, err := e.Compile(engine.Definition{
		Name: "m", Text: `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`, Express: true,
	})
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

// counted counts how often an execution is looked for in the journal.
type counted struct {
	*journal.Memory
	lookups *int
}

func (c counted) Execution(ctx context.Context, arn string) (*journal.Execution, error) {
	*c.lookups++
	return c.Memory.Execution(ctx, arn)
}

// TestANewNameIsNotLookedFor starts executions whose names are new, and one whose name is not, although it should be.
func TestANewNameIsNotLookedFor(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(epoch)
	defer c.Close()
	lookups := 0
	e, err := engine.New(engine.Config{Clock: c, Journal: counted{journal.NewMemory(), &lookups}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c.Hold() // the first execution keeps running
	defer c.Release()
	m, err := e.Compile(engine.Definition{
		Name: "m", Text: `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":1,"End":true}}}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, input string
		newName     bool
		want        error
		lookups     int
	}{
		{"a", `{}`, true, nil, 0},
		{"b", `{}`, false, nil, 1},
		{"c", `{}`, true, nil, 1},
		{"a", `{}`, true, nil, 2}, // its run is found, and the journal is asked whether it has ended
		{"a", `{"other":1}`, true, engine.ErrAlreadyExists, 3},
	} {
		started, err := e.Start(t.Context(), &engine.Start{Machine: m, NewName: tt.newName,
			Origin: engine.Origin{Name: tt.name, Input: tt.input}})
		if !errors.Is(err, tt.want) || err == nil && started.ARN != m.ExecutionARN(tt.name) {
			t.Errorf("%s %s: %+v, %v", tt.name, tt.input, started, err)
		}
		if lookups != tt.lookups {
			t.Errorf("%s %s: %d lookups so far, want %d", tt.name, tt.input, lookups, tt.lookups)
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
	m, err := e.Define(engine.Definition{
		Name: "m", Text: `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":1,"End":true}}}`,
	})
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

// meanwhile is a journal in which another call intervenes before an execution is looked up for the first time.
type meanwhile struct {
	*journal.Memory
	call func()
}

func (m *meanwhile) Execution(ctx context.Context, arn string) (*journal.Execution, error) {
	if call := m.call; call != nil {
		m.call = nil
		call()
	}
	return m.Memory.Execution(ctx, arn)
}

// TestAStartDuringAnotherOfTheSameName starts an execution between the two lookups of another call that starts it with
// the same input, or with another one.
func TestAStartDuringAnotherOfTheSameName(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]error{`{}`: nil, `{"other":1}`: engine.ErrAlreadyExists} {
		c := clock.Virtual(epoch)
		j := &meanwhile{Memory: journal.NewMemory()}
		e, err := engine.New(engine.Config{Clock: c, Journal: j})
		if err != nil {
			t.Fatal(err)
		}
		c.Hold() // the execution keeps running
		m, err := e.Compile(engine.Definition{
			Name: "m", Text: `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":1,"End":true}}}`,
		})
		if err != nil {
			t.Fatal(err)
		}
		start := func(input string) error {
			_, err := e.Start(t.Context(), &engine.Start{Machine: m, Origin: engine.Origin{Name: "n", Input: input}})
			return err
		}
		j.call = func() {
			if err := start(`{}`); err != nil {
				t.Error(err)
			}
		}
		if err := start(input); !errors.Is(err, want) {
			t.Errorf("%s: %v", input, err)
		}
		c.Release()
		e.Close()
		c.Close()
	}
}
