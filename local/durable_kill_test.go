package local_test

import (
	"encoding/json"
	"os"
	"runtime"
	"testing"
	"time"

	"stepback/engine/clock"
	"stepback/local"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/local/services/lambda/durabletest"
	"stepback/local/services/lambda/functions"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
	"stepback/tasks/lambda/invocation"
)

// openDurable opens a platform with a durable function F that runs in this process.
func openDurable(t *testing.T, cfg local.Config, run durabletest.Program) *local.Platform {
	t.Helper()
	var p *local.Platform
	opened := make(chan struct{}) // an execution that is recovered runs before Open has returned
	service := func() *durablefunctions.Service { <-opened; return p.Durable }
	handler := durabletest.Handler(durabletest.Service(service), run)
	cfg.BuiltIn = map[string]functions.BuiltIn{"F": func(functions.Surroundings) (functions.Program, error) {
		return functions.Program{Handler: handler}, nil
	}}
	p = open(t, cfg)
	close(opened)
	err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "F", BuiltIn: "F",
		Role: "arn:aws:iam::000000000000:role/r", Durable: &functions.DurableSettings{}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// begin starts an execution of F and returns its ARN.
func begin(t *testing.T, p *local.Platform, name, input string) string {
	t.Helper()
	answer, err := p.Functions.Invoke(t.Context(), p.Scope, &invocation.Request{FunctionName: "F", Qualifier: "$LATEST",
		Type: invocation.Event, DurableExecutionName: name, Payload: []byte(input), Valid: true})
	if err != nil {
		t.Fatal(err)
	}
	return answer.DurableExecutionARN
}

// ended waits until an execution has ended, and returns its description.
func ended(t *testing.T, p *local.Platform, arn string) *durablefunctions.Description {
	t.Helper()
	for {
		d, err := p.Durable.Describe(t.Context(), arn, true)
		if err != nil {
			t.Fatal(err)
		}
		if d.Status != "RUNNING" {
			return d
		}
		runtime.Gosched()
	}
}

// charge is a function whose step fails twice and is retried after two minutes.
func charge(x *durabletest.Execution, _ json.RawMessage) (any, error) {
	return x.Step("charge", durabletest.StepOptions{Delay: func(int, *durabletest.Error) time.Duration { return 2 * time.Minute }},
		func(attempt int) (any, error) {
			if attempt < 3 {
				return nil, &durabletest.Error{Type: "Declined", Message: "no"}
			}
			return "paid", nil
		})
}

// The steps of a durable execution are counted once over two kills, although between them it only waits.
func TestStepsAreCountedOnceOverKills(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 25, 4, 30, 6, 0, time.UTC)
	c := clock.Virtual(began)
	c.Hold() // the retry does not come
	defer c.Release()
	dir := t.TempDir()
	var counter retrymetrics.Counter
	p := openDurable(t, local.Config{Dir: dir, Clock: c, Counts: []retrymetrics.Target{&counter}}, charge)
	arn := begin(t, p, "order", `{}`)
	for {
		retries, err := p.Durable.Retries(t.Context(), arn)
		if err != nil {
			t.Fatal(err)
		}
		if len(retries) > 0 {
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
	waits := map[string]float64{"TaskAttempts": 1, "TaskFailures": 1, "RetryAttempts": 0}
	is("while the retry is waited for", totals(p.Metrics().Points()), waits)
	for i := range 2 { // what a kill leaves: everything written so far
		if err := p.KeepMetrics(); err != nil {
			t.Fatal(err)
		}
		left := t.TempDir()
		if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		dir = left
		next := clock.Virtual(began.Add(time.Duration(i) * 70 * time.Second)) // the file is complete up to the minute
		if i == 0 {
			next.Hold()
			defer next.Release()
		}
		p = openDurable(t, local.Config{Dir: dir, Clock: next}, charge)
		if i == 0 {
			if err := p.KeepMetrics(); err != nil {
				t.Fatal(err)
			}
			points, err := metricsfile.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			is("after a kill", totals(points), waits)
		}
	}
	if d := ended(t, p, arn); d.Status != "SUCCEEDED" || *d.Result != `"paid"` {
		t.Errorf("%+v", d)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	points, err := metricsfile.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	is("in the end", totals(points), map[string]float64{"TaskAttempts": 3, "TaskFailures": 2, "RetryAttempts": 2, "RetrySuccess": 1})
}
