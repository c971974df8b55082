package pipeline_test

import (
	"math"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/statemachine"
)

// retrier is the source document's specification for one error of ProcessSingleUserRecord, typed in once more so that
// the test relies on neither the table nor its compilation.
type retrier struct {
	interval, rate, most float64 // seconds
	retries              int
	jitter               bool
}

var (
	dbConnection = &retrier{2, 1.8, 30, 4, true}
	concurrent   = &retrier{1, 2, 15, 5, true}
	throttling   = &retrier{3, 2.5, 60, 4, true}
	network      = &retrier{5, 2.5, 300, 3, true}
	aggressive   = &retrier{1, 2, 60, 5, true}
	hang         = &retrier{2, 1.5, 10, 2, false}
	crash        = &retrier{2, 1.5, 10, 2, false}
)

var schedules = map[string]*retrier{
	"DatabaseConnectionError": dbConnection, "AuroraTemporaryError": dbConnection, "DeadlockException": dbConnection,
	"ConcurrentModificationException": concurrent, "OptimisticLockException": concurrent,
	"Lambda.TooManyRequestsException": throttling, "Lambda.ThrottledException": throttling,
	"TimeoutError": network, "ConnectionTimeoutError": network, "SocketTimeoutError": network,
	"Lambda.ServiceException": aggressive, "Lambda.AWSLambdaException": aggressive,
	"Lambda.SdkClientException": aggressive,
	"States.Timeout":            hang, "Runtime.ExitError": crash,
}

// delay returns the bounds of the wait before the n-th retry, n from 1.
func (r *retrier) delay(n int) (least, most time.Duration) {
	d := time.Duration(math.Min(r.interval*math.Pow(r.rate, float64(n-1)), r.most) * float64(time.Second))
	if r.jitter {
		return 0, d
	}
	return d, d
}

// TestRetriesFollowTheTable checks every retry of a run in the histories of its children.
func TestRetriesFollowTheTable(t *testing.T) {
	t.Parallel()
	rows := activities(400, 0)
	tr := newTrial(t, "activity.csv", plain(rows))
	tr.cfg.Batch = 1
	tr.tolerate(100)
	faults := []string{"hang", "crash"}
	for name := range schedules {
		if name != "States.Timeout" && name != "Runtime.ExitError" {
			faults = append(faults, name)
		}
	}
	for _, name := range faults {
		tr.fault(t, "ProcessSingleUserRecord:"+name+":6%")
	}
	r := tr.run(t, false)
	tr.accounts(t, r, rows)
	tr.balanced(t, r)
	seen := map[string]int{}
	spread := map[bool]int{}
	tr.children(t, r, func(x *journal.Execution, events []history.Event) {
		count := map[*retrier]int{}
		for i := range events {
			e := &events[i]
			if e.Type != history.TaskFailed && e.Type != history.TaskTimedOut {
				continue
			}
			s, ok := schedules[e.More.Failure.Name]
			if !ok {
				t.Fatalf("%s failed with %s", x.Name, e.More.Failure.Name)
			}
			count[s]++
			next := &events[i+1]
			if next.Type != history.TaskScheduled {
				if count[s] != s.retries+1 {
					t.Errorf("%s gave up on %s after %d attempts, want %d", x.Name, e.More.Failure.Name, count[s],
						s.retries+1)
				}
				continue
			}
			if count[s] > s.retries {
				t.Errorf("%s retried %s %d times, want %d at most", x.Name, e.More.Failure.Name, count[s], s.retries)
			}
			waited := time.Duration(next.Time - e.Time)
			least, most := s.delay(count[s])
			if waited < least || waited > most {
				t.Errorf("%s waited %s before retry %d of %s, want %s to %s", x.Name, waited, count[s],
					e.More.Failure.Name,
					least, most)
			}
			seen[e.More.Failure.Name]++
			if s.jitter {
				spread[waited < most/2]++
			}
		}
	})
	for name := range schedules {
		if seen[name] == 0 {
			t.Errorf("%s was never retried", name)
		}
	}
	if spread[true] == 0 || spread[false] == 0 || spread[true] > 3*spread[false] || spread[false] > 3*spread[true] {
		t.Errorf("full jitter: %d waits below the middle, %d above", spread[true], spread[false])
	}
	var retried int64
	for _, x := range r.Retries {
		if x.State == statemachine.ProcessSingleUserRecord {
			retried += x.Retries
		}
	}
	total := 0
	for _, n := range seen {
		total += n
	}
	if retried != int64(total) {
		t.Errorf("the report counts %d retries, the histories show %d", retried, total)
	}
}
