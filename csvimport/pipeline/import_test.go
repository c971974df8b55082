package pipeline_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"stepback/csvimport/pipeline"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/statemachine"
)

func TestEveryRowIsApplied(t *testing.T) {
	t.Parallel()
	for _, batch := range []int{1, 7, 100, 500} {
		t.Run(strconv.Itoa(batch), func(t *testing.T) {
			t.Parallel()
			rows := activities(750, 0)
			tr := newTrial(t, "activity.csv", plain(rows))
			tr.cfg.Batch = batch
			r := tr.run(t, false)
			ended(t, r, "SUCCEEDED", "", pipeline.Complete)
			tr.accounts(t, r, rows)
			if r.Rows.Applied != 750 || r.Attempts != 750+3 || len(r.Retries) != 0 || r.Earlier {
				t.Errorf("%+v, %d attempts, retries %v, earlier %v", *r.Rows, r.Attempts, r.Retries, r.Earlier)
			}
			children := 0
			tr.children(t, r, func(x *journal.Execution, _ []history.Event) {
				children++
				if x.Status != "SUCCEEDED" || x.Items > int64(batch) {
					t.Errorf("child %s: %s with %d rows", x.Name, x.Status, x.Items)
				}
			})
			if want := (750 + batch - 1) / batch; children != want {
				t.Errorf("%d child executions, want %d", children, want)
			}
		})
	}
}

func TestTheSameFileAgainChangesNothing(t *testing.T) {
	t.Parallel()
	rows := activities(300, 60)
	tr := newTrial(t, "activity.csv", plain(rows))
	tr.fault(t, "ProcessSingleUserRecord:DeadlockException:20%")
	first := tr.run(t, false)
	ended(t, first, "SUCCEEDED", "", pipeline.NeedsPerson)
	tr.accounts(t, first, rows)
	second := tr.run(t, false)
	if !second.Earlier {
		t.Error("the second report does not say that it is the earlier one")
	}
	second.Earlier = false
	second.Elapsed = first.Elapsed // written with three decimals
	if !reflect.DeepEqual(first.Rows, second.Rows) || len(first.Retries) != len(second.Retries) ||
		first.Execution != second.Execution || !reflect.DeepEqual(first.Injected, second.Injected) ||
		first.Outputs != second.Outputs {
		t.Errorf("the reports differ:\n%+v\n%+v", first, second)
	}
	tr.accounts(t, second, rows)
}

// TestTheReportIsRebuilt removes the stored report or half of it, as if the process had died while writing it.
func TestTheReportIsRebuilt(t *testing.T) {
	t.Parallel()
	rows := activities(120, 60)
	tr := newTrial(t, "activity.csv", plain(rows))
	name := filepath.Join(tr.cfg.Dir, "reports", tr.run(t, false).Name+".json")
	for _, damage := range []func() error{
		func() error { return os.Remove(name) },
		func() error { return os.WriteFile(name, nil, 0o600) },
		func() error { return os.WriteFile(name, []byte(`{"execution":"arn:`), 0o600) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		r := tr.run(t, false)
		ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
		if !r.Earlier || r.Attempts != 123 {
			t.Errorf("earlier %v, %d attempts", r.Earlier, r.Attempts)
		}
		tr.accounts(t, r, rows)
	}
}

func TestAgainAppliesNothingTwice(t *testing.T) {
	t.Parallel()
	rows := activities(300, 60)
	tr := newTrial(t, "activity.csv", plain(rows))
	first := tr.run(t, false)
	for _, suffix := range []string{"-2", "-3"} {
		r := tr.run(t, true)
		if r.Earlier || r.Name != first.Name+suffix || r.Rows.AlreadyApplied != 295 || r.Rows.Rejected != 5 ||
			r.Rows.Applied != 0 {
			t.Errorf("%s: %+v", r.Name, *r.Rows)
		}
		tr.accounts(t, r, rows)
	}
}

func TestAnotherContentUnderTheSameNameIsAnotherFile(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, "activity.csv", header+"\nanna,1,2\n")
	tr.run(t, false)
	tr.write(t, header+"\nanna,10,20\n")
	r := tr.run(t, false)
	ended(t, r, "SUCCEEDED", "", pipeline.Complete)
	tr.sameUsers(t, counts{"anna": {11, 22}})
}

func TestCorrectionsCanBeFixedAndImported(t *testing.T) {
	t.Parallel()
	rows := activities(200, 20)
	tr := newTrial(t, "activity.csv", plain(rows))
	tr.tolerate(10)
	tr.fault(t, "ProcessSingleUserRecord:RetryNotWorthwhile:3%")
	r := tr.run(t, false)
	tr.accounts(t, r, rows)
	if r.Rows.Rejected == 0 || r.Rows.DeadLettered == 0 {
		t.Fatalf("%+v", *r.Rows)
	}
	fixed, err := os.ReadFile(r.Outputs.Corrections)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(fixed), "\n")
	for i := range lines { // in the column only; the reasons may still contain it
		lines[i] = strings.Replace(lines[i], ",many,", ",5,", 1)
	}
	tr.file = filepath.Join(filepath.Dir(tr.file), "corrections.csv")
	tr.write(t, strings.Join(lines, "\n"))
	tr.cfg.Faults = nil
	r = tr.run(t, false)
	ended(t, r, "SUCCEEDED", "", pipeline.Complete)
	for i := range rows {
		if rows[i].bad {
			rows[i].bad, rows[i].logins = false, 5
		}
	}
	tr.sameUsers(t, sum(rows, nil))
}

func TestToleranceExceeded(t *testing.T) {
	t.Parallel()
	rows := activities(400, 4)
	tr := newTrial(t, "activity.csv", plain(rows))
	r := tr.run(t, false)
	ended(t, r, "FAILED", statemachine.ToleranceExceeded, pipeline.NeedsPerson)
	tr.accounts(t, r, rows)
	if !strings.Contains(r.Cause, "5") {
		t.Errorf("the cause does not name the tolerance: %s", r.Cause)
	}
	// A second import with a higher tolerance applies the rows that were not applied.
	tr.tolerate(30)
	r = tr.run(t, true)
	ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
	if r.Rows.Rejected != 100 {
		t.Errorf("%+v", *r.Rows)
	}
}

// TestAnInterruptedRunIsPickedUp stops runs in the middle, again and again, until one finishes.
func TestAnInterruptedRunIsPickedUp(t *testing.T) {
	t.Parallel()
	rows := activities(2000, 100)
	tr := newTrial(t, "activity.csv", plain(rows))
	tr.cfg.Batch, tr.cfg.Concurrency = 10, 2
	for stops := 0; ; stops++ {
		ctx, cancel := context.WithCancel(t.Context())
		tr.before(func(n int64) {
			if n == 500 && stops < 2 {
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
		if r.Rows.AlreadyApplied == 0 {
			t.Error("nothing had been applied before")
		}
		ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
		tr.accounts(t, r, rows)
		// From now on that execution is the file's import.
		if again := tr.run(t, false); !again.Earlier || again.Name != r.Name {
			t.Errorf("imported once more: earlier %v, %s after %s", again.Earlier, again.Name, r.Name)
		}
		break
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	percent := func(f float64) *float64 { return &f }
	for want, cfg := range map[string]pipeline.Config{
		"a data directory is required":                                           {},
		"concurrency -1 is not between 1 and 10,000":                             {Dir: "x", Concurrency: -1},
		"batch 501 is not between 1 and 500 (see docs/decisions/005-batches.md)": {Dir: "x", Batch: 501},
		"tolerated failure percentage 101 is not between 0 and 100": {Dir: "x",
			ToleratedFailurePercentage: percent(101)},
		`database "mysql://u:xxxxx@h/d" is neither sqlite nor a postgres:// address`: {Dir: "x",
			Database: "mysql://u:p@h/d"},
	} {
		if _, err := pipeline.Open(t.Context(), cfg); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", cfg, err, want)
		}
	}
}

func TestADirectoryInUseIsRefused(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, "activity.csv", plain(nil))
	p := tr.open(t)
	defer closed(t, p)
	if _, err := pipeline.Open(t.Context(), tr.cfg); err == nil || !strings.Contains(err.Error(),
		"which serves it at http://127.0.0.1:") {
		t.Errorf("a second pipeline on the same directory: %v", err)
	}
}
