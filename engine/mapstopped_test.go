package engine_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// neverRead is a bucket whose objects do not arrive before the reader gives up: not at all, or nothing after the
// first item.
type neverRead struct {
	*bucket
	inBody  bool
	reading chan struct{} // receives one value for each read
}

func (s *neverRead) Get(ctx context.Context, _, _, _, _ string) (io.ReadCloser, int64, error) {
	if s.inBody {
		return &neverReadBody{ctx: ctx, reading: s.reading}, 1 << 20, nil
	}
	s.reading <- struct{}{}
	<-ctx.Done()
	return nil, 0, ctx.Err()
}

type neverReadBody struct {
	ctx     context.Context //nolint:containedctx // of the request whose body it is
	reading chan struct{}
	begun   bool
}

func (b *neverReadBody) Read(p []byte) (int, error) {
	if !b.begun {
		b.begun = true
		return copy(p, "1\n"), nil
	}
	b.reading <- struct{}{}
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (b *neverReadBody) Close() error { return nil }

// keptMapRuns is a journal that passes on each Map Run that has ended.
type keptMapRuns struct {
	*journal.Memory
	over chan *journal.MapRun
}

func (k *keptMapRuns) PutMapRun(m *journal.MapRun, done func(error)) {
	copied := *m
	k.Memory.PutMapRun(m, done)
	if !copied.Stopped.IsZero() {
		k.over <- &copied
	}
}

// TestAMapRunStoppedWhileItReadsIsAborted stops an execution whose Map Run is waiting for its items.
func TestAMapRunStoppedWhileItReadsIsAborted(t *testing.T) {
	t.Parallel()
	for _, inBody := range []bool{false, true} {
		store := &neverRead{bucket: &bucket{results: map[string]string{}}, inBody: inBody, reading: make(chan struct{},
			1)}
		kept := &keptMapRuns{journal.NewMemory(), make(chan *journal.MapRun, 1)}
		e, err := engine.New(engine.Config{Clock: virtual(t, epoch), Journal: kept, Objects: store,
			TempDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		arn := begin(t, e, readAndWrite, `{}`)
		<-store.reading
		if err := e.StopExecution(t.Context(), arn, history.NewFailure("Why", "Because")); err != nil {
			t.Fatal(err)
		}
		if over := <-kept.over; over.Status != history.Aborted {
			t.Errorf("in the body %t: the Map Run is %s, want ABORTED", inBody, over.Status)
		}
	}
}

// refusingOne is a journal that refuses the steps of the second of three child executions.
type refusingOne struct{ *journal.Memory }

func (f refusingOne) Commit(r *journal.Record, done func(error)) {
	if r.Execution.FirstItem == 1 && r.End {
		done(journal.ErrBroken)
		return
	}
	f.Memory.Commit(r, done)
}

// TestTimeGoesOnBehindAnAbandonedMapRun makes the journal refuse a child execution while others end. The clock must
// not be held for child results that the abandoned Map Run no longer receives.
func TestTimeGoesOnBehindAnAbandonedMapRun(t *testing.T) {
	t.Parallel()
	c := virtual(t, epoch)
	e, err := engine.New(engine.Config{Clock: c, Journal: refusingOne{journal.NewMemory()},
		Integrations: map[string]engine.Integration{
			"test:call": invoke(func(ctx context.Context, task *engine.Task) (string, error) {
				if task.Parameters == "2" { // ends when the Map Run is abandoned
					return "2", c.Sleep(ctx, 1)
				}
				return task.Parameters, nil
			}),
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	m, err := e.CreateStateMachine("m", `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,
		"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"T","States":{"T":{`+call+`,"End":true}}}}}}`, "", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.StartExecution(t.Context(), m.ARN, "e", `[0,1,2,3]`); err != nil &&
		!errors.Is(err, journal.ErrBroken) {
		t.Fatal(err)
	}
	<-e.Ended(m.ExecutionARN("e"))
	rang := make(chan struct{})
	c.Schedule(epoch.Add(1<<40), clock.AlarmFunc(func() { close(rang) }))
	<-rang
}
