package engine_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
)

// unpack writes the files of an archive into a directory.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOldDataDirectoriesOpen resumes a directory written by commit 0e9ae47, before signals and failures had their
// names. It contains executions with every outcome, one that waits for a task, and a distributed Map in the middle of
// its items.
func TestOldDataDirectoriesOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unpack(t, "testdata/data-directory-0e9ae47.tar.gz", dir)
	j, err := pebble.Open(dir, pebble.Config{Retention: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	answer := invoke(func(_ context.Context, task *engine.Task) (string, error) {
		if task.Parameters == "2" {
			return "", engine.NewFailure("Odd", "two")
		}
		return task.Parameters, nil
	})
	e, err := engine.New(engine.Config{
		Clock: virtual(t, time.Date(2026, 11, 22, 9, 10, 0, 0, time.UTC)), Journal: j, TempDir: t.TempDir(),
		Integrations: new(engine.Integrations).
			Handle("test", "hang", answer).
			Handle("test", "item", answer).
			Handle("test", "fail", answer),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	found, err := e.Recover(t.Context())
	if err != nil || len(found.Executions) != 2 || len(found.Left) != 0 || found.Aborted != 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	endings(t, e)
	if _, err := e.RedriveExecution(t.Context(), executions+"failed:x", "token-1"); err != nil {
		t.Fatal(err) // the token of an earlier redrive: it changes nothing
	}
	if x, err := e.Wait(t.Context(), executions+"failed:x"); err != nil || x.RedriveCount != 1 {
		t.Errorf("%+v, %v", x, err)
	}
	if _, err := e.RedriveExecution(t.Context(), executions+"failed:x", "token-2"); err != nil {
		t.Fatal(err)
	}
	x, err := e.Wait(t.Context(), executions+"failed:x")
	if err != nil || x.Status != engine.Failed || x.Failure.Name != "States.Runtime" || x.RedriveCount != 2 {
		t.Errorf("%+v, %v", x, err)
	}
}

const executions = "arn:aws:states:us-east-1:000000000000:execution:"

// endings waits for the executions of the directory and checks their outcomes.
func endings(t *testing.T, e *engine.Engine) {
	t.Helper()
	for arn, want := range map[string]journal.Execution{
		executions + "succeeded:x": {Status: engine.Succeeded, Output: `{"answer":42}`, HistorySize: 7},
		executions + "retried:x":   {Status: engine.Succeeded, Output: `{"answer":42}`, HistorySize: 13},
		executions + "failed:x": {
			Status: engine.Failed, Failure: engine.Failure{Name: "Broken", Cause: "the disk"}, HistorySize: 11,
			RedriveCount: 1,
		},
		"arn:aws:states:us-east-1:000000000000:express:express:x:eb0354df-4a45-434e-9f0f-9924a3016430": {
			Status: engine.Succeeded, Output: `{"answer":42}`, HistorySize: 7,
		},
		executions + "stopped:x": {
			Status: engine.Aborted, Failure: engine.Failure{Name: "Gone", Cause: "by hand"}, HistorySize: 5,
		},
		executions + "waiting:x": {Status: engine.Succeeded, Output: `{"k":"v"}`, HistorySize: 9},
		executions + "mapped:x":  {Status: engine.Succeeded, Output: `[0,1,3,4,5]`, HistorySize: 8},
	} {
		x, err := e.Wait(t.Context(), arn)
		if err != nil {
			t.Fatal(err)
		}
		got := journal.Execution{
			Status: x.Status, Output: x.Output, Failure: x.Failure, HistorySize: x.HistorySize,
			RedriveCount: x.RedriveCount,
		}
		if got.Status != want.Status || got.Output != want.Output || got.Failure != want.Failure ||
			got.HistorySize != want.HistorySize || got.RedriveCount != want.RedriveCount {
			t.Errorf("%s: %+v, want %+v", arn, got, want)
		}
		if x.Revision != "rev-1" || x.TraceHeader != "Root=1" || x.VersionARN != x.MachineARN+":1" {
			t.Errorf("%s: %+v", arn, x.Info)
		}
		events, err := e.History(t.Context(), arn)
		if err != nil || int64(len(events)) != want.HistorySize {
			t.Errorf("%s: %d events, %v", arn, len(events), err)
		}
	}
}
