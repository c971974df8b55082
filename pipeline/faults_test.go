package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"stepback/pipeline"
	"stepback/retrypatterns"
)

// everyFault is every error of the source's error map, and the faults that are no error names.
func everyFault() []string {
	kinds := []string{"hang", "crash", "throttle"}
	for _, e := range retrypatterns.ErrorPatterns() {
		if e.Error != retrypatterns.StatesHeartbeatTimeout { // no task of the import sends heartbeats
			kinds = append(kinds, e.Error)
		}
	}
	return kinds
}

// TestEveryFaultOnRecords lets 10 % of the invocations for records fail in each way.
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

// balanced checks the report's counts of retries: a failure is retried or exhausted, and those that are exhausted in
// ProcessSingleUserRecord are the rows that failed and were not found applied afterwards.
func (tr *trial) balanced(t *testing.T, r *pipeline.Report) {
	t.Helper()
	var exhausted, failures int64
	for _, x := range r.Retries {
		if x.Failures != x.Retries+x.Exhausted || x.Recovered > x.Retries {
			t.Errorf("%+v do not add up", x)
		}
		if x.Retries > 0 && (x.Pattern == "" || x.Waited <= 0) {
			t.Errorf("%+v: retried without a pattern or a wait", x)
		}
		failures += x.Failures
		if x.State == retrypatterns.ProcessSingleUserRecord {
			exhausted += x.Exhausted
		}
	}
	if lost := r.Rows.Rejected + r.Rows.DeadLettered; exhausted < lost {
		t.Errorf("%d rows are lost and only %d attempts were the last", lost, exhausted)
	}
	if r.Attempts < r.Rows.Total+3 || r.Attempts < failures {
		t.Errorf("%d attempts for %d rows and %d failures", r.Attempts, r.Rows.Total, failures)
	}
}

// TestEveryFaultEverywhere lets 10 % of the invocations of every state fail, in all ways at once.
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
				// Validation or aggregation gave up, and says so; the same file is picked up without the faults.
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

// TestFaultsOfTheOtherStates are survived as far as their retries go, and counted once.
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

// TestTheSeedDecides runs the same file with the same seed twice and with another one.
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

// TestASeedDecidesTheFaultsOfEveryRun imports one file in two data directories: both meet the same faults, at every
// state, and what a crash left undone is not told from what it did.
func TestASeedDecidesTheFaultsOfEveryRun(t *testing.T) {
	t.Parallel()
	rows := activities(400, 100)
	var reports []*pipeline.Report
	for range 2 {
		tr := newTrial(t, "activity.csv", plain(rows))
		tr.cfg.Seed = 3
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

// TestFailedAttemptsAreToldMeanwhile counts the failures that the progress of an import shows.
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
