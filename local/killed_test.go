package local_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/local"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
)

// totals adds up the retry metrics of a data directory, and the counts that the platform passes on.
func totals(points []retrymetrics.Point) map[string]float64 {
	sums := map[string]float64{}
	for _, p := range points {
		for i, v := range p.Values {
			sums[p.Metric.Name()] += v * float64(p.Counts[i])
		}
	}
	return sums
}

// A task fails and waits a long time for its retry: its attempt and its failure are counted at once. The process is
// killed, and the next one on the same data counts neither again; after the retry and a redrive, each attempt has been
// counted once.
func TestAttemptsAreCountedOnceOverAKill(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 25, 4, 30, 6, 0, time.UTC)
	c := clock.Virtual(began)
	c.Hold() // the retry does not come
	dir := t.TempDir()
	var counter retrymetrics.Counter
	p := open(t, local.Config{Dir: dir, Clock: c, Counts: []retrymetrics.Target{&counter}})
	m, err := statesOf(p).CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: aws.String("orders"),
		RoleArn: aws.String("arn:aws:iam::000000000000:role/r"), Definition: aws.String(`{"StartAt":"Charge","States":{
		"Charge":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage","Parameters":{"QueueUrl":"http://localhost/000000000000/none","MessageBody":"x"},
			"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":120,"MaxAttempts":2}],"End":true}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	x, err := statesOf(p).StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn})
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.Engine()
	if err != nil {
		t.Fatal(err)
	}
	for {
		pending, err := e.Pending(t.Context(), *x.ExecutionArn)
		if err != nil {
			t.Fatal(err)
		}
		if len(pending) == 1 && pending[0].Kind == history.PendingRetry {
			break
		}
		runtime.Gosched()
	}
	is := func(when string, got map[string]float64, want map[string]float64) {
		t.Helper()
		for name, n := range want {
			if got[name] != n {
				t.Errorf("%s, %s is %v, want %v", when, name, got[name], n)
			}
		}
	}
	is("while the retry is waited for", totals(p.Metrics().Points()), map[string]float64{"TaskAttempts": 1, "TaskFailures": 1,
		"RetryAttempts": 0, "ExecutionsFailed": 0})
	if a := counter.Attempts(); a.Started != 1 || a.Failed != 1 {
		t.Errorf("Config.Counts has %+v", a)
	}
	if err := p.KeepMetrics(); err != nil {
		t.Fatal(err)
	}
	left := t.TempDir() // what a kill leaves: everything written so far
	if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}

	next := clock.Virtual(began.Add(time.Minute))
	var after retrymetrics.Counter
	p = open(t, local.Config{Dir: left, Clock: next, Counts: []retrymetrics.Target{&after}})
	if e, err = p.Engine(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Wait(t.Context(), *x.ExecutionArn); err != nil {
		t.Fatal(err)
	}
	if _, err := e.RedriveExecution(t.Context(), *x.ExecutionArn, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Wait(t.Context(), *x.ExecutionArn); err != nil {
		t.Fatal(err)
	}
	// Three attempts, and three after the redrive. One of them was made by the process that was killed.
	if a := after.Attempts(); a.Started != 5 || a.Failed != 5 {
		t.Errorf("Config.Counts has %+v", a)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	points, err := metricsfile.Read(left)
	if err != nil {
		t.Fatal(err)
	}
	is("in the end", totals(points), map[string]float64{"TaskAttempts": 6, "TaskFailures": 6, "RetryAttempts": 4, "RetryFailure": 2,
		"ExecutionsFailed": 2})
	c.Release()
}

// gatedJournal is a journal whose snapshots yield the executions that have ended only after gate is closed.
type gatedJournal struct {
	*pebble.Journal

	gate chan struct{}
}

func (g gatedJournal) Snapshot() journal.Snapshot { return gatedSnapshot{g.Journal.Snapshot(), g.gate} }

type gatedSnapshot struct {
	journal.Snapshot

	gate chan struct{}
}

func (s gatedSnapshot) EndedSince(ctx context.Context, since time.Time) iter.Seq2[*journal.Execution, error] {
	return func(yield func(*journal.Execution, error) bool) {
		select {
		case <-s.gate:
			s.Snapshot.EndedSince(ctx, since)(yield)
		case <-ctx.Done():
			yield(nil, ctx.Err())
		}
	}
}

// A process counts again what a killed one may not have stored, while it works: new executions, and redrives of
// executions that have not been counted again, are counted once. So they are if it is killed during that time, if it is
// closed, and if the recount ends.
func TestARecountBesideNewWorkCountsOnce(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 25, 4, 30, 6, 0, time.UTC)
	first := t.TempDir()
	p := open(t, local.Config{Dir: first, Clock: clock.Virtual(began)})
	m, err := statesOf(p).CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: aws.String("orders"),
		RoleArn: aws.String("arn:aws:iam::000000000000:role/r"), Definition: aws.String(`{"StartAt":"Charge","States":{
		"Charge":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage","Parameters":{"QueueUrl":"http://localhost/000000000000/none","MessageBody":"x"},
			"Retry":[{"ErrorEquals":["States.ALL"],"MaxAttempts":1}],"End":true}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	run := func(p *local.Platform, redriven string) (arn string) {
		t.Helper()
		e, err := p.Engine()
		if err != nil {
			t.Fatal(err)
		}
		if redriven != "" {
			if _, err := e.RedriveExecution(t.Context(), redriven, ""); err != nil {
				t.Fatal(err)
			}
			arn = redriven
		} else {
			x, err := statesOf(p).StartExecution(t.Context(),
				&sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn})
			if err != nil {
				t.Fatal(err)
			}
			arn = *x.ExecutionArn
		}
		if x, err := e.Wait(t.Context(), arn); err != nil || x.Status != history.Failed {
			t.Fatalf("%v %v", x, err)
		}
		return arn
	}
	kill := func(dir string) (left string) { // what a kill leaves: everything written so far
		t.Helper()
		left = t.TempDir()
		if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		return left
	}
	counted := func(when, dir string) {
		t.Helper()
		points, err := metricsfile.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := totals(points)
		for name, n := range map[string]float64{"TaskAttempts": 6, "TaskFailures": 6, "RetryAttempts": 3, "RetryFailure": 3,
			"ExecutionsFailed": 3} {
			if got[name] != n {
				t.Errorf("%s, %s is %v, want %v", when, name, got[name], n)
			}
		}
	}
	closed := func(p *local.Platform) {
		t.Helper()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	again := run(p, "")
	for _, recounted := range []bool{true, false} {
		dir := kill(first)
		j, err := pebble.Open(filepath.Join(dir, "journal"), pebble.Config{Retention: -1})
		if err != nil {
			t.Fatal(err)
		}
		gate := make(chan struct{})
		p := open(t, local.Config{Dir: dir, Clock: clock.Virtual(began.Add(3 * time.Minute)),
			Journal: gatedJournal{j, gate}, RecoverInBackground: true})
		run(p, again)
		run(p, "")
		if err := p.KeepMetrics(); err != nil {
			t.Fatal(err)
		}
		killed := kill(dir)
		if recounted {
			close(gate)
			if err := local.AwaitRecount(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		closed(p)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if recounted {
			counted("after the recount", dir)
		} else { // the next process counts again
			closed(open(t, local.Config{Dir: dir, Clock: clock.Virtual(began.Add(6 * time.Minute))}))
			counted("after an orderly end during the recount", dir)
		}
		closed(open(t, local.Config{Dir: killed, Clock: clock.Virtual(began.Add(6 * time.Minute))}))
		counted("after a kill during the recount", killed)
	}
}
