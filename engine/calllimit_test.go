package engine_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/history"
)

// TestCallLimit limits calls to one every ten seconds. An execution with three tasks and one with a single task take
// turns; a raised limit reaches the tasks that wait.
func TestCallLimit(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var began []string
	b := newBed(t, nil)
	b.Close()
	e, err := engine.New(engine.Config{Clock: b.clock, Journal: b.journal, Seed: 1,
		Integrations: new(engine.Integrations).Handle("test", "call", invoke(func(_ context.Context, task *engine.Task) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			began = append(began, task.Parameters+" at "+b.clock.Now().Sub(epoch).String())
			return "{}", nil
		}))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	b.Engine = e
	const resource = "arn:aws:states:::test:call"
	for _, bad := range []engine.CallLimit{{PerSecond: 1}, {Callee: "f", PerSecond: -1}, {Callee: "f", PerSecond: math.NaN()}} {
		if _, ok := errors.AsType[*engine.CallLimitError](b.LimitCalls(bad)); !ok {
			t.Errorf("%+v is accepted", bad)
		}
	}
	if err := b.LimitCalls(engine.CallLimit{Callee: resource, PerSecond: 0.1}); err != nil {
		t.Fatal(err)
	}
	b.clock.Hold()
	branch := `{"StartAt":"C","States":{"C":{"Type":"Task","Resource":"` + resource + `","Parameters":{"of":"many"},"End":true}}}`
	waiting := func(n int) {
		for e.CallLimits()[0].Waiting != n {
			runtime.Gosched()
		}
	}
	many := b.start(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[`+branch+","+strings.ReplaceAll(branch, `"C"`, `"D"`)+","+strings.ReplaceAll(branch, `"C"`, `"E"`)+`]}}}`, `{}`)
	waiting(2)
	m, err := b.Define(engine.Definition{Name: "one", Text: strings.ReplaceAll(branch, "many", "one"), RoleARN: "arn:aws:iam::000000000000:role/r"})
	if err != nil {
		t.Fatal(err)
	}
	one, err := b.StartExecution(t.Context(), m.ARN, "one", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	waiting(3)
	b.clock.Release()
	for _, arn := range []string{one, many} {
		if x, err := b.Wait(t.Context(), arn); err != nil || x.Status != history.Succeeded {
			t.Fatal(x, err)
		}
	}
	want := `{"of":"many"} at 0s, {"of":"many"} at 10s, {"of":"one"} at 20s, {"of":"many"} at 30s`
	if got := strings.Join(began, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	began = nil
	b.clock.Hold()
	late, err := b.StartExecution(t.Context(), m.ARN, "late", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	waiting(1)
	now := b.clock.Now().Sub(epoch)
	if err := b.LimitCalls(engine.CallLimit{Callee: resource, PerSecond: 2}); err != nil {
		t.Fatal(err)
	}
	b.clock.Release()
	if x, err := b.Wait(t.Context(), late); err != nil || x.Status != history.Succeeded {
		t.Fatal(x, err)
	}
	if want := `{"of":"one"} at ` + (now + 500*time.Millisecond).String(); began[0] != want {
		t.Errorf("%s, want %s", began, want)
	}
	if err := b.LimitCalls(engine.CallLimit{Callee: resource}); err != nil || len(b.CallLimits()) != 0 {
		t.Error(err, b.CallLimits())
	}
}
