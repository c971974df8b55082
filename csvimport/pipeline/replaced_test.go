package pipeline_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stepback/csvimport/aggregate"
	"stepback/csvimport/handlers"
	"stepback/csvimport/pipeline"
	"stepback/csvimport/process"
	"stepback/csvimport/validate"
	"stepback/local/services/lambda/functions"
	"stepback/statemachine"
)

// hooked calls hook before and after each invocation of a function, with "before" or "after" and the function's name.
func hooked[Output any](next handlers.Func[Output], name string, hook func(string)) handlers.Func[Output] {
	return func(ctx context.Context, event json.RawMessage) (Output, error) {
		hook("before " + name)
		defer hook("after " + name)
		return next(ctx, event)
	}
}

// TestReplacedFile replaces a file in the bucket at every point of its import. Each version is counted once, or its
// import is refused by name; no version is counted under another version's ETag.
func TestReplacedFile(t *testing.T) {
	t.Parallel()
	for at, counted := range map[string]bool{ // true if the first version is counted
		"before " + pipeline.ValidateFunction:  false,
		"after " + pipeline.ValidateFunction:   true,
		"before " + pipeline.ProcessFunction:   true,
		"after " + pipeline.ProcessFunction:    true,
		"before " + pipeline.AggregateFunction: true,
		"after " + pipeline.AggregateFunction:  true,
	} {
		for _, shape := range []statemachine.Shape{statemachine.Bulk, statemachine.Batch} {
			t.Run(at+" in "+string(shape), func(t *testing.T) {
				t.Parallel()
				replacedAt(t, shape, at, counted)
			})
		}
	}
}

// replacedAt replaces the file once, at a point of its import.
func replacedAt(t *testing.T, shape statemachine.Shape, at string, counted bool) {
	t.Helper()
	first, second := activities(300, 0), activities(300, 0)
	for i := range second {
		second[i].logins += 100
	}
	tr := newTrial(t, "activity.csv", plain(first))
	tr.cfg.Shape, tr.cfg.Batch, tr.cfg.Concurrency = shape, 10, 1
	replacement := filepath.Join(t.TempDir(), "activity.csv")
	if err := os.WriteFile(replacement, []byte(plain(second)), 0o600); err != nil {
		t.Fatal(err)
	}
	var p *pipeline.Pipeline
	var once sync.Once
	replaced := false
	hook := func(now string) {
		if now == at {
			once.Do(func() {
				replaced = true
				if err := p.Upload(context.WithoutCancel(t.Context()), "activity.csv", plain(second)); err != nil {
					t.Errorf("replacing the file: %v", err)
				}
			})
		}
	}
	tr.cfg.AdjustFunction(func(name string, l *functions.Program) {
		switch next := l.Handler.(type) {
		case handlers.Func[validate.Answer]:
			l.Handler = hooked(next, name, hook)
		case handlers.Func[process.Answer]:
			l.Handler = hooked(next, name, hook)
		case handlers.Func[aggregate.Output]:
			l.Handler = hooked(next, name, hook)
		}
	})
	p = tr.open(t)
	r := imported(t, p, tr.file, false)
	other := imported(t, p, replacement, false) // waits for the import that the replacement started
	closed(t, p)

	if !replaced {
		t.Fatalf("the import never came to %s", at)
	}
	ended(t, other, "SUCCEEDED", "", pipeline.Complete)
	if !counted {
		ended(t, r, "FAILED", "CSVFileChanged", pipeline.NeedsPerson)
		if !strings.Contains(r.Cause, "s3://csv-input/activity.csv was replaced") {
			t.Errorf("the cause is %s", r.Cause)
		}
		tr.sameUsers(t, sum(second, nil))
		return
	}
	ended(t, r, "SUCCEEDED", "", pipeline.Complete)
	tr.sameUsers(t, sum(append(first, second...), nil))
}
