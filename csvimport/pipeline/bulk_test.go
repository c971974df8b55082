package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"stepback/csvimport/handlers"
	"stepback/csvimport/pipeline"
	"stepback/csvimport/process"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/lambda/functions"
	"stepback/retry"
	"stepback/statemachine"
)

// newBulk returns a trial like newTrial, in the shape bulk.
func newBulk(t *testing.T, rows []activity) *trial {
	t.Helper()
	tr := newTrial(t, "activity.csv", plain(rows))
	tr.cfg.Shape, tr.cfg.Batch = statemachine.Bulk, 100
	return tr
}

func TestBulkAppliesEveryRow(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 7, 100, 500} {
		t.Run(strconv.Itoa(batch), func(t *testing.T) {
			t.Parallel()
			rows := activities(750, 0)
			tr := newBulk(t, rows)
			tr.cfg.Batch = batch
			r := tr.run(t, false)
			ended(t, r, "SUCCEEDED", "", pipeline.Complete)
			tr.accounts(t, r, rows)
			children := int64((750 + batch - 1) / batch)
			if r.Rows.Applied != 750 || r.Attempts != children+3 || len(r.Retries) != 0 {
				t.Errorf("%+v, %d attempts, retries %v", *r.Rows, r.Attempts, r.Retries)
			}
			tr.children(t, r, func(x *journal.Execution, events []history.Event) {
				children--
				if x.Status != "SUCCEEDED" || x.Items > int64(batch) || len(events) > 12 {
					t.Errorf("child %s: %s with %d rows, %d events", x.Name, x.Status, x.Items, len(events))
				}
			})
			if children != 0 {
				t.Errorf("%d child executions too few", children)
			}
			again := tr.run(t, true)
			if again.Rows.AlreadyApplied != 750 {
				t.Errorf("the second time: %+v", *again.Rows)
			}
			tr.accounts(t, again, rows)
		})
	}
}

// TestBulkWithEveryFault makes 10 % of rows or invocations fail in each way, with bad rows among them.
func TestBulkWithEveryFault(t *testing.T) {
	t.Parallel()
	rows := activities(600, 150)
	for _, kind := range everyFault() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			tr := newBulk(t, rows)
			tr.cfg.Batch = 20
			tr.tolerate(100)
			tr.fault(t, "ProcessSingleUserRecord:"+kind+":10%", "ApplyBatch:"+kind+":20%")
			r := tr.run(t, false)
			if r.Status != "SUCCEEDED" {
				t.Fatalf("%s: %s", r.Error, r.Cause)
			}
			tr.accounts(t, r, rows)
			tr.bulkBalanced(t, r)
			if len(r.Injected) == 0 {
				t.Error("nothing was injected")
			}
		})
	}
}

// bulkBalanced makes the checks of balanced that apply if a batch is an attempt.
func (tr *trial) bulkBalanced(t *testing.T, r *pipeline.Report) {
	t.Helper()
	var failures int64
	for _, x := range r.Retries {
		if x.Failures != x.Retries+x.NotRetried+x.Exhausted+x.Interrupted ||
			x.Retries != x.Recovered+x.FailedAgain+x.Unfinished || x.Unfinished < 0 {
			t.Errorf("%+v do not add up", x)
		}
		failures += x.Failures
	}
	if failures != r.Failed || r.Attempts != r.Succeeded+r.Failed+r.Unfinished {
		t.Errorf("%d attempts, %d succeeded, %d failed (%d by error), %d unfinished", r.Attempts, r.Succeeded, r.Failed,
			failures, r.Unfinished)
	}
}

// TestBulkWithAllFaultsAtOnce makes rows, batches, validation and aggregation fail in all ways at once.
func TestBulkWithAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	rows := activities(400, 100)
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			tr := newBulk(t, rows)
			tr.cfg.Seed, tr.cfg.Batch = seed, 30
			tr.tolerate(100)
			for _, kind := range everyFault() {
				tr.fault(t, "ApplyBatch:"+kind+":4%", "ProcessSingleUserRecord:"+kind+":3%")
			}
			r := tr.run(t, false)
			if r.Rows == nil {
				t.Fatalf("%s: %s", r.Error, r.Cause)
			}
			tr.accounts(t, r, rows)
			tr.bulkBalanced(t, r)
		})
	}
}

// With one seed, importing a file in bulk and in batches makes the same rows fail in the same way, retries them
// alike, and gives them the same outcomes.
func TestShapesMeetTheSameRowErrors(t *testing.T) {
	t.Parallel()
	rows := activities(800, 90)
	var reports []*pipeline.Report
	for _, shape := range []statemachine.Shape{statemachine.Bulk, statemachine.Batch} {
		tr := newBulk(t, rows)
		tr.cfg.Shape = shape
		tr.tolerate(100)
		tr.fault(t, "ProcessSingleUserRecord:DeadlockException:10%", "ProcessSingleUserRecord:RetryNotWorthwhile:2%",
			"ProcessSingleUserRecord:ValidationError:2%")
		r := tr.run(t, false)
		tr.accounts(t, r, rows)
		reports = append(reports, r)
	}
	bulk, batch := reports[0], reports[1]
	// In bulk, rows that break a rule are rejected within the batch, which does not count as a failed attempt.
	keep := func(r *pipeline.Report) (out []pipeline.Retry) {
		for _, x := range r.Retries {
			if x.Error != retry.ValidationError {
				x.Waited = 0
				out = append(out, x)
			}
		}
		return out
	}
	if !reflect.DeepEqual(bulk.Rows, batch.Rows) || !reflect.DeepEqual(keep(bulk), keep(batch)) {
		t.Errorf("bulk: %+v %+v\nbatch: %+v %+v", *bulk.Rows, keep(bulk), *batch.Rows, keep(batch))
	}
	if len(bulk.Retries) == 0 || bulk.Rows.DeadLettered == 0 {
		t.Error("nothing failed")
	}
}

// adjustProcess wraps the function that applies rows.
func (tr *trial) adjustProcess(wrap func(next handlers.Func[process.Answer]) handlers.Func[process.Answer]) {
	tr.cfg.AdjustFunction(func(_ string, l *functions.Program) {
		if next, ok := l.Handler.(handlers.Func[process.Answer]); ok {
			l.Handler = wrap(next)
		}
	})
}

var errCrash = messages.InvokeResponse_Error{Type: "Runtime.ExitError", Message: "signal: killed"}

// TestOnePoisonedRowInEveryBatch makes the function fail each time on one row in each batch: only that row becomes a
// dead letter, and its neighbours are applied.
func TestOnePoisonedRowInEveryBatch(t *testing.T) {
	t.Parallel()
	rows := activities(500, 0)
	for i := 37; i < len(rows); i += 100 {
		rows[i].user = "poison"
	}
	for name, failure := range map[string]messages.InvokeResponse_Error{
		"it crashes":          errCrash,
		"it hangs":            {Type: "Sandbox.Timedout", Message: "Task timed out"},
		"it is deadlocked":    {Type: retry.DeadlockException, Message: "deadlock detected"},
		"it cannot be mended": {Type: retry.RetryNotWorthwhile, Message: "no retry mends it"},
		"it panics":           {Type: "boundsError", Message: "index out of range"},
	} {
		for _, shape := range []statemachine.Shape{statemachine.Bulk, statemachine.Batch} {
			t.Run(name+" in "+string(shape), func(t *testing.T) {
				t.Parallel()
				tr := newBulk(t, rows)
				tr.cfg.Shape = shape
				tr.adjustProcess(func(next handlers.Func[process.Answer]) handlers.Func[process.Answer] {
					return func(ctx context.Context, event json.RawMessage) (process.Answer, error) {
						if strings.Contains(string(event), "poison") {
							return process.Answer{}, failure
						}
						return next(ctx, event)
					}
				})
				r := tr.run(t, false)
				ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
				tr.accounts(t, r, rows)
				if r.Rows.DeadLettered != 5 || r.Rows.Applied != 495 || r.Errors[failure.Type] != 5 {
					t.Errorf("%+v %v", *r.Rows, r.Errors)
				}
				for _, c := range corrections(t, r) {
					if c[0] != "poison" {
						t.Errorf("among the corrections is %v", c)
					}
				}
			})
		}
	}
}

// TestBatchesThatWereStoppedAreRedriven stops an import in the middle, with its child executions, and redrives it:
// the children continue, those that had succeeded are not run again, and every row is counted once.
func TestBatchesThatWereStoppedAreRedriven(t *testing.T) {
	t.Parallel()
	rows := activities(2000, 100)
	tr := newBulk(t, rows)
	tr.cfg.Batch, tr.cfg.Concurrency = 50, 4
	tr.tolerate(100)
	tr.fault(t, "ProcessSingleUserRecord:DeadlockException:3%")
	ctx, stop := context.WithCancel(t.Context())
	tr.before(func(n int64) {
		if n == 15 {
			stop()
		}
	})
	p := tr.open(t)
	if _, err := p.Import(ctx, tr.file, false, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("the import was not stopped: %v", err)
	}
	e, err := p.Platform().Engine()
	if err != nil {
		t.Fatal(err)
	}
	var parent string
	before := map[history.Status]int{}
	for x, err := range p.Journal().Executions(t.Context(), "arn:") {
		if err == nil && x.Status == history.Running { // its end is on the way
			x, err = e.Wait(t.Context(), x.ARN)
		}
		if err != nil {
			t.Fatal(err)
		}
		if before[x.Status]++; x.MapRunARN == "" {
			parent = x.ARN
		}
	}
	if before[history.Succeeded] == 0 || before[history.Aborted] < 2 {
		t.Fatalf("when it was stopped, executions were %v", before)
	}
	if _, err := e.RedriveExecution(t.Context(), parent, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Wait(t.Context(), parent); err != nil {
		t.Fatal(err)
	}
	r := imported(t, p, tr.file, false) // returns the report of the execution that has ended
	closed(t, p)
	ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
	tr.accounts(t, r, rows)
	redriven := 0
	tr.children(t, r, func(x *journal.Execution, _ []history.Event) {
		if x.RedriveCount > 0 {
			redriven++
		}
		if x.Status != history.Succeeded {
			t.Errorf("child %s is %s", x.Name, x.Status)
		}
	})
	if redriven == 0 || redriven >= before[history.Aborted] || r.Rows.Applied != 1980 {
		t.Errorf("%d of %v executions were redriven; %+v", redriven, before, *r.Rows)
	}
}

// TestABatchWhoseAnswerIsLost loses responses after the commit: the first of each batch, and all of some batches.
func TestABatchWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	rows := activities(600, 0)
	tr := newBulk(t, rows)
	var mu sync.Mutex
	seen := map[string]int{}
	tr.adjustProcess(func(next handlers.Func[process.Answer]) handlers.Func[process.Answer] {
		return func(ctx context.Context, event json.RawMessage) (process.Answer, error) {
			out, err := next(ctx, event)
			mu.Lock()
			defer mu.Unlock()
			if seen[string(event)]++; seen[string(event)] == 1 || strings.Contains(string(event), `"row":250,`) {
				return process.Answer{}, errCrash
			}
			return out, err
		}
	})
	r := tr.run(t, false)
	// No attempt for row 250 gets a response; the database shows that it is applied.
	ended(t, r, "SUCCEEDED", "", pipeline.Complete)
	tr.accounts(t, r, rows)
	if r.Rows.Applied != 600 {
		t.Errorf("%+v", *r.Rows)
	}
}

// TestLateBatches makes every tenth batch be given up and commit afterwards, when its rows are already being retried.
func TestLateBatches(t *testing.T) {
	t.Parallel()
	rows := activities(600, 0)
	tr := newBulk(t, rows)
	tr.cfg.Batch = 20
	var n atomic.Int64
	var late sync.WaitGroup
	tr.adjustProcess(func(next handlers.Func[process.Answer]) handlers.Func[process.Answer] {
		return func(ctx context.Context, event json.RawMessage) (process.Answer, error) {
			if n.Add(1)%3 != 0 {
				return next(ctx, event)
			}
			event = append(json.RawMessage{}, event...)
			late.Go(func() { _, _ = next(context.WithoutCancel(ctx), event) })
			return process.Answer{}, messages.InvokeResponse_Error{Type: retry.TimeoutError, Message: "late"}
		}
	})
	p := tr.open(t)
	r := imported(t, p, tr.file, false)
	late.Wait()
	closed(t, p)
	ended(t, r, "SUCCEEDED", "", pipeline.Complete)
	tr.accounts(t, r, rows)
}

// TestTheDatabaseIsGoneForAWhile makes all writes fail for a time.
func TestTheDatabaseIsGoneForAWhile(t *testing.T) {
	t.Parallel()
	rows := activities(1000, 0)
	tr := newBulk(t, rows)
	tr.cfg.Batch, tr.cfg.Concurrency = 50, 4
	tr.tolerate(100)
	var n atomic.Int64
	tr.adjustProcess(func(next handlers.Func[process.Answer]) handlers.Func[process.Answer] {
		return func(ctx context.Context, event json.RawMessage) (process.Answer, error) {
			if i := n.Add(1); i > 6 && i <= 300 {
				return process.Answer{}, messages.InvokeResponse_Error{Type: retry.DatabaseConnectionError,
					Message: "connection refused"}
			}
			return next(ctx, event)
		}
	})
	r := tr.run(t, false)
	if r.Status != "SUCCEEDED" {
		t.Fatalf("%s: %s", r.Error, r.Cause)
	}
	tr.accounts(t, r, rows)
	tr.bulkBalanced(t, r)
}

// TestTwoFilesAtOnce imports two files with the same users, one of them twice, at the same time.
func TestTwoFilesAtOnce(t *testing.T) {
	t.Parallel()
	rows := activities(400, 0)
	tr := newBulk(t, rows)
	other := filepath.Join(filepath.Dir(tr.file), "other.csv")
	if err := os.WriteFile(other, []byte(plain(rows[:200])), 0o600); err != nil {
		t.Fatal(err)
	}
	p := tr.open(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	applied := map[string]int64{} // by execution: the second import may have joined the first
	for _, file := range []string{tr.file, other, tr.file} {
		all.Go(func() {
			r, err := p.Import(t.Context(), file, true, nil)
			if err != nil || r.Status != "SUCCEEDED" || r.Rows.Rejected+r.Rows.DeadLettered > 0 {
				t.Errorf("%s: %+v, %v", file, r, err)
				return
			}
			mu.Lock()
			applied[r.Name] = r.Rows.Applied
			mu.Unlock()
		})
	}
	all.Wait()
	closed(t, p)
	var total int64
	for _, n := range applied {
		total += n
	}
	if total != 600 {
		t.Errorf("%v rows are reported as applied, want 600", applied)
	}
	tr.sameUsers(t, sum(append(append([]activity{}, rows...), rows[:200]...), nil))
}

// TestABulkImportThatIsStoppedIsFinished stops runs in the middle until one finishes.
func TestABulkImportThatIsStoppedIsFinished(t *testing.T) {
	t.Parallel()
	rows := activities(2000, 100)
	tr := newBulk(t, rows)
	tr.cfg.Batch, tr.cfg.Concurrency = 50, 2
	for stops := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		tr.before(func(n int64) {
			if n == 10 && stops < 2 {
				cancel()
			}
		})
		p := tr.open(t)
		r, err := p.Import(ctx, tr.file, false, nil)
		cancel()
		closed(t, p)
		if stops < 2 {
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("the run was not interrupted: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
		tr.accounts(t, r, rows)
		if r.Rows.AlreadyApplied == 0 {
			t.Error("nothing had been applied before")
		}
	}
}
