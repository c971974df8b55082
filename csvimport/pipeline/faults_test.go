package pipeline_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"stepback/csvimport/pipeline"
	"stepback/engine/journal"
	"stepback/retry"
	"stepback/retrypatterns"
	"stepback/statemachine"
)

// everyFault returns every error in the source's error map, and the faults that are not error names.
func everyFault() []string {
	kinds := []string{"hang", "crash", "throttle"}
	for _, e := range retrypatterns.ErrorPatterns() {
		if e.Error != retry.StatesHeartbeatTimeout { // no task of the import sends heartbeats
			kinds = append(kinds, e.Error)
		}
	}
	return kinds
}

// TestEveryFaultOnRecords makes 10 % of the invocations for records fail in each way.
func TestEveryFaultOnRecords(t *testing.T) {
	t.Parallel()
	rows := activities(600, 150)
	for _, kind := range everyFault() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, "activity.csv", plain(rows))
			tr.tolerate(100)
			tr.fault(t, "ProcessSingleUserRecord:"+kind+":10%")
			r := tr.run(t, false)
			if r.Status != "SUCCEEDED" {
				t.Fatalf("%s: %s", r.Error, r.Cause)
			}
			tr.accounts(t, r, rows)
			tr.balanced(t, r)
			if r.Injected["ProcessSingleUserRecord:"+kind] < 30 {
				t.Errorf("only %v were injected", r.Injected)
			}
		})
	}
}

// balanced checks that the report's figures add up as docs/metrics.md defines, and that the lost rows are among the
// attempts that were given up in ProcessSingleUserRecord.
func (tr *trial) balanced(t *testing.T, r *pipeline.Report) {
	t.Helper()
	var givenUp, failures, unfinished int64
	for _, x := range r.Retries {
		if x.Failures != x.Retries+x.NotRetried+x.Exhausted+x.Interrupted ||
			x.Retries != x.Recovered+x.FailedAgain+x.Unfinished || x.Unfinished < 0 {
			t.Errorf("%+v do not add up", x)
		}
		if x.Retries > 0 && (x.Pattern == "" || x.Waited <= 0) || x.Exhausted > 0 && x.Pattern == "" {
			t.Errorf("%+v: retried without a pattern or a wait", x)
		}
		failures += x.Failures
		unfinished += x.Unfinished + x.Interrupted
		if x.State == statemachine.ProcessSingleUserRecord {
			givenUp += x.Exhausted + x.NotRetried
		}
	}
	if lost := r.Rows.Rejected + r.Rows.DeadLettered; givenUp < lost {
		t.Errorf("%d rows are lost and only %d attempts were the last", lost, givenUp)
	}
	if failures != r.Failed || r.Attempts != r.Succeeded+r.Failed+r.Unfinished || r.Attempts < r.Rows.Total+3 {
		t.Errorf("%d attempts for %d rows, %d succeeded, %d failed (%d by error), %d unfinished", r.Attempts,
			r.Rows.Total, r.Succeeded, r.Failed, failures, r.Unfinished)
	}
	if r.Status == "SUCCEEDED" && unfinished+r.Unfinished != 0 {
		t.Errorf("%d attempts are cut off in a run that succeeded", unfinished+r.Unfinished)
	}
}

// TestEveryFaultEverywhere makes 10 % of the invocations of every state fail, in all ways at once.
func TestEveryFaultEverywhere(t *testing.T) {
	t.Parallel()
	rows := activities(400, 100)
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, "activity.csv", plain(rows))
			tr.cfg.Seed = seed
			tr.tolerate(100)
			for _, state := range []string{"ValidateCSVFile", "ProcessSingleUserRecord", "AggregateResults"} {
				for _, kind := range everyFault() {
					tr.fault(t, state+":"+kind+":10%")
				}
			}
			r := tr.run(t, false)
			if r.Rows == nil {
				// Validation or aggregation gave up, with a cause; the same file is resumed without the faults.
				if r.Verdict() != pipeline.Unsuccessful || r.Error == "" || r.Cause == "" {
					t.Errorf("%+v", r)
				}
				tr.cfg.Faults = nil
				r = tr.run(t, true)
			}
			tr.accounts(t, r, rows)
			tr.balanced(t, r)
		})
	}
}

// Faults of the other states are survived as far as their retries permit, and counted once.
func TestFaultsOfTheOtherStates(t *testing.T) {
	t.Parallel()
	rows := activities(150, 50)
	for _, state := range []string{"ValidateCSVFile", "AggregateResults"} {
		for _, kind := range []string{"hang", "crash", "throttle", "States.TaskFailed", "Lambda.SdkClientException",
			"S3.SlowDown", "TimeoutError"} {
			t.Run(state+"/"+kind, func(t *testing.T) {
				t.Parallel()
				tr := newTrial(t, "activity.csv", plain(rows))
				tr.fault(t, state+":"+kind+":100%")
				r := tr.run(t, false)
				if r.Verdict() != pipeline.Unsuccessful || r.Status != "FAILED" || r.Error == "" ||
					!strings.Contains(r.Cause, " ") || r.Rows != nil && kind != "crash" {
					t.Errorf("a run whose %s always fails ended %s %s: %s, rows %v", state, r.Status, r.Error, r.Cause,
						r.Rows)
				}
				tr.cfg.Faults = nil
				r = tr.run(t, true)
				ended(t, r, "SUCCEEDED", "", pipeline.NeedsPerson)
				tr.accounts(t, r, rows)
			})
		}
	}
}

// TestTheSeedDecides runs the same file twice with the same seed, and once with another.
func TestTheSeedDecides(t *testing.T) {
	t.Parallel()
	rows := activities(300, 0)
	run := func(seed uint64) map[string]int {
		tr := newTrial(t, "activity.csv", plain(rows))
		tr.cfg.Seed = seed
		tr.fault(t, "ProcessSingleUserRecord:throttle:20%", "ProcessSingleUserRecord:crash:20%")
		r := tr.run(t, false)
		tr.accounts(t, r, rows)
		return r.Injected
	}
	first, second, other := fmt.Sprint(run(1)), fmt.Sprint(run(1)), fmt.Sprint(run(2))
	if first != second || first == other {
		t.Errorf("seed 1 gave %s and %s, seed 2 %s", first, second, other)
	}
}

// TestASeedDecidesTheFaultsOfEveryRun imports one file in two data directories: both meet the same faults in every
// state. Whether a crash came before or after the work makes no difference.
func TestASeedDecidesTheFaultsOfEveryRun(t *testing.T) {
	t.Parallel()
	rows := activities(400, 100)
	var reports []*pipeline.Report
	for range 2 {
		tr := newTrial(t, "activity.csv", plain(rows))
		tr.cfg.Seed = 7
		tr.fault(t, "ProcessSingleUserRecord:crash:20%", "AggregateResults:throttle:60%")
		r := tr.run(t, false)
		tr.accounts(t, r, rows)
		if r.Rows.AlreadyApplied != 0 || r.Injected["ProcessSingleUserRecord:crash"] == 0 {
			t.Errorf("%+v after %v", r.Rows, r.Injected)
		}
		reports = append(reports, r)
	}
	if a, b := reports[0], reports[1]; fmt.Sprint(a.Injected, *a.Rows) != fmt.Sprint(b.Injected, *b.Rows) {
		t.Errorf("the same seed gives %v and %v, %+v and %+v", a.Injected, b.Injected, *a.Rows, *b.Rows)
	}
}

// TestFailedAttemptsAreToldMeanwhile checks the number of failures in the progress of an import.
func TestFailedAttemptsAreToldMeanwhile(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{
		"ProcessSingleUserRecord:DatabaseConnectionError:1": "DatabaseConnectionError",
		"ProcessSingleUserRecord:throttle:1":                "Lambda.TooManyRequestsException",
		"ProcessSingleUserRecord:crash:1":                   "Runtime.ExitError",
	} {
		tr := newTrial(t, "activity.csv", plain(activities(3, 0)))
		tr.fault(t, fault)
		p := tr.open(t)
		r := imported(t, p, tr.file, false)
		n, name := p.Failed()
		closed(t, p)
		var failures int64
		for _, x := range r.Retries {
			failures += x.Failures
		}
		if n != failures || n == 0 || name != want {
			t.Errorf("%s: %d failures, the latest %q, want %d and %q", fault, n, name, failures, want)
		}
	}
}

// TestTheSummaryEndsOnTheRunsOwnClock makes rows wait for retries in virtual time: the time at which the summary ends
// lies within the execution, after the children, and is not the real time.
func TestTheSummaryEndsOnTheRunsOwnClock(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, "activity.csv", plain(activities(200, 0)))
	tr.fault(t, "ProcessSingleUserRecord:DatabaseConnectionError:30%")
	p := tr.open(t)
	defer closed(t, p)
	r := imported(t, p, tr.file, false)
	x, err := p.Journal().Execution(t.Context(), r.Execution)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(r.Outputs.Summary)
	if err != nil {
		t.Fatal(err)
	}
	var summary struct {
		EndTime time.Time `json:"endTime"`
	}
	if err := json.Unmarshal(text, &summary); err != nil {
		t.Fatal(err)
	}
	if lasted := x.Stop.Sub(x.Start); lasted < 2*time.Second {
		t.Fatalf("the run lasted %s: nothing waited", lasted)
	}
	last := x.Start
	err = pipeline.Children(t.Context(), p.Journal(), x, func(child *journal.Execution) error {
		if child.Stop.After(last) {
			last = child.Stop
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if end := summary.EndTime; end.Before(last.Truncate(time.Millisecond)) || end.After(x.Stop) {
		t.Errorf("the summary ends at %s, the children at %s and the execution at %s", end, last, x.Stop)
	}
}
