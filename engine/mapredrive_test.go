package engine_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// sometimes is a bucket whose object is missing at times.
type sometimes struct {
	*bucket
	absent atomic.Bool
}

func (s *sometimes) Get(ctx context.Context, bucket, key, version, owner string) (io.ReadCloser, int64, error) {
	if s.absent.Load() {
		return nil, 0, errors.New("no such key")
	}
	return s.bucket.Get(ctx, bucket, key, version, owner)
}

// TestRedriveAMapRunThatCouldNotRead redrives a Map Run whose object appears late, whose ninth item fails, and whose
// object is then missing for a while.
func TestRedriveAMapRunThatCouldNotRead(t *testing.T) {
	t.Parallel()
	store := &sometimes{bucket: &bucket{lines: lines(12), results: map[string]string{}}}
	kept := journal.NewMemory()
	var broken atomic.Bool
	broken.Store(true)
	e, err := engine.New(engine.Config{Clock: virtual(t, epoch), Journal: kept, Objects: store, TempDir: t.TempDir(),
		Integrations: map[string]engine.Integration{
			"test:call": invoke(func(_ context.Context, task *engine.Task) (string, error) {
				if items := itemsOf(task.Parameters); items != "[6,7,8]" || !broken.Load() {
					return items, nil
				}
				return "", engine.NewFailure("Broken", "c")
			}),
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	store.absent.Store(true)
	arn := begin(t, e, readAndWrite, `{}`)
	ends := func(failure string) *engine.MapRun {
		t.Helper()
		x, err := e.Wait(t.Context(), arn)
		if err != nil || x.Failure.Name != failure {
			t.Fatalf("%+v, %v; want %s", x, err, failure)
		}
		runs, err := e.MapRunsOf(t.Context(), arn)
		if err != nil || len(runs) != 1 {
			t.Fatalf("%+v, %v", runs, err)
		}
		return runs[0]
	}
	redrive := func() {
		t.Helper()
		if _, err := e.RedriveExecution(t.Context(), arn, ""); err != nil {
			t.Fatal(err)
		}
	}
	ends("States.ItemReaderFailed")

	store.absent.Store(false)
	store.version = `"1"`
	redrive()
	first := ends("States.ExceedToleratedFailureThreshold")
	if first.Executions.Failed != 1 || first.Status != history.Failed {
		t.Errorf("%+v", first)
	}

	store.absent.Store(true)
	redrive()
	first.Executions.Pending = 0 // unknown without the items
	if away := ends("States.ItemReaderFailed"); away.RedriveCount != 2 || away.Executions != first.Executions {
		t.Errorf("%+v, want %+v", away, first)
	}

	store.absent.Store(false)
	broken.Store(false)
	redrive()
	if last := ends(""); last.RedriveCount != 3 || last.Executions != (engine.Tally{Succeeded: 4}) ||
		last.Items != (engine.Tally{Succeeded: 12}) {
		t.Errorf("%+v", last)
	}
	if got := store.results["SUCCEEDED_0.json"]; len(got) != len(lines(12)) {
		t.Errorf("the results are %q", got)
	}
}
