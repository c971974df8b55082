package engine_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// torn is a bucket whose object breaks off once four child executions are running.
type torn struct {
	*bucket
	underWay <-chan struct{}
}

func (s *torn) Get(context.Context, string, string, string, string) (io.ReadCloser, int64, error) {
	return io.NopCloser(io.MultiReader(strings.NewReader(s.lines), s)), 1 << 20, nil
}

func (s *torn) Read([]byte) (int, error) {
	for range 4 {
		<-s.underWay
	}
	return 0, errors.New("connection reset")
}

// stuck is a journal that has stored the first step of each execution and is still writing the others when the
// process dies.
type stuck struct {
	*journal.Memory
	stopped chan struct{} // receives one value for each child execution that is stopped
}

func (s *stuck) Commit(r *journal.Record, done func(error)) {
	if r.Execution.MapRunARN == "" && !r.Begin {
		return
	}
	s.Memory.Commit(r, done)
	if r.Execution.Status == history.Aborted {
		s.stopped <- struct{}{}
	}
}

// TestAMapRunThatWasFailingFails lets the process die while the children of a failing Map Run are being stopped,
// before the execution knows of the failure. Afterwards the cause of the failure is gone, but the items of the
// stopped children were not processed, so the Map Run must still fail.
func TestAMapRunThatWasFailingFails(t *testing.T) {
	t.Parallel()
	underWay := make(chan struct{})
	kept := &stuck{journal.NewMemory(), make(chan struct{}, 4)}
	store := &bucket{lines: lines(12), version: `"1"`, results: map[string]string{}}
	e, err := engine.New(engine.Config{
		Clock: virtual(t, epoch), Journal: kept, Objects: &torn{store, underWay}, TempDir: t.TempDir(),
		Integrations: map[string]engine.Integration{
			"test:call": invoke(func(ctx context.Context, _ *engine.Task) (string, error) {
				underWay <- struct{}{}
				<-ctx.Done()
				return "", ctx.Err()
			}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	definition := strings.Replace(readAndWrite, `"MaxConcurrency":4`, `"MaxConcurrency":5`, 1)
	arn := begin(t, e, definition, `{}`)
	for range 4 {
		<-kept.stopped
	}
	e.Close()
	e, _ = resumeMapRun(t, kept.Memory, store)
	x, err := e.Wait(t.Context(), arn)
	if err != nil || x.Status != history.Failed || x.Failure.Name != "States.ItemReaderFailed" ||
		!strings.Contains(x.Failure.Cause, "connection reset") {
		t.Errorf("%+v, %v", x, err)
	}
	runs, err := e.MapRunsOf(t.Context(), arn)
	if err != nil || len(runs) != 1 || runs[0].Status != history.Failed ||
		runs[0].Items != (engine.Tally{Aborted: 12}) {
		t.Errorf("%+v, %v", runs, err)
	}
	if _, err := e.RedriveExecution(t.Context(), arn, ""); err != nil { // the redrive clears the failure
		t.Fatal(err)
	}
	if x, err = e.Wait(t.Context(), arn); err != nil || x.Status != history.Succeeded ||
		x.Failure != (history.Failure{}) {
		t.Errorf("redriven: %+v, %v", x, err)
	}
}

// tardy is a bucket that returns its object's version only when the test permits.
type tardy struct {
	*bucket
	asked, let chan struct{}
}

func (s *tardy) Version(context.Context, string, string, string, string) (string, error) {
	close(s.asked)
	<-s.let
	return s.version, nil
}

// TestAMapRunThatIsChangedWhileItFindsOutHowFarItHadCome changes a limit of a Map Run while the Map Run reads its
// progress after a crash, before which another limit had been changed.
func TestAMapRunThatIsChangedWhileItFindsOutHowFarItHadCome(t *testing.T) {
	t.Parallel()
	store := &bucket{lines: lines(100), version: `"1"`, results: map[string]string{}}
	kept, arn := interruptedMapRun(t, store, readAndWrite)
	var before *journal.MapRun
	for m, err := range kept.MapRuns(t.Context(), arn) {
		if err != nil {
			t.Fatal(err)
		}
		changed := *m
		changed.ToleratedFailureCount, changed.CountGiven, changed.Started = 7, true, epoch.Add(-5)
		before = &changed
	}
	kept.PutMapRun(before, nil)
	behind := &tardy{store, make(chan struct{}), make(chan struct{})}
	e, err := engine.New(engine.Config{Clock: virtual(t, epoch), Journal: kept, Objects: behind, TempDir: t.TempDir(),
		Integrations: map[string]engine.Integration{
			"test:call": invoke(func(_ context.Context, task *engine.Task) (string, error) {
				return itemsOf(task.Parameters), nil
			}),
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	if _, err := e.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-behind.asked
	concurrency := int64(3)
	if err := e.UpdateMapRun(t.Context(), before.ARN, engine.MapRunUpdate{MaxConcurrency: &concurrency}); err != nil {
		t.Fatal(err)
	}
	close(behind.let)
	x, err := e.Wait(t.Context(), arn)
	if err != nil || x.Status != history.Succeeded {
		t.Fatalf("%+v, %v", x, err)
	}
	m, err := e.DescribeMapRun(t.Context(), before.ARN)
	if err != nil || m.MaxConcurrency != 3 || m.ToleratedFailureCount != 7 || !m.CountGiven ||
		!m.Started.Equal(before.Started) || m.Source != `"1"` {
		t.Errorf("%+v, %v", m, err)
	}
}
