package stepback_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback"
	"stepback/engine"
	"stepback/engine/journal"
)

// begin is when virtual time begins.
var begin = time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)

// open starts an engine in virtual time.
func open(t *testing.T, cfg stepback.Config) *stepback.Engine {
	t.Helper()
	cfg.Clock = stepback.VirtualTime(begin)
	app, err := stepback.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.Close(); err != nil {
			t.Error(err)
		}
		cfg.Clock.Close()
	})
	return app
}

func define(t *testing.T, app *stepback.Engine, d stepback.Definition) *stepback.Machine {
	t.Helper()
	m, err := app.Define(d)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func start(t *testing.T, m *stepback.Machine, name string, input any) *stepback.Run {
	t.Helper()
	run, err := m.Start(t.Context(), name, input)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func wait(t *testing.T, run *stepback.Run) *stepback.Execution {
	t.Helper()
	x, err := run.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// pause waits for a day.
const pause = `{"StartAt": "Pause", "States": {"Pause": {"Type": "Wait", "Seconds": 86400, "End": true}}}`

func TestConfigsThatAreRefused(t *testing.T) {
	t.Parallel()
	function := stepback.Functions{"f": stepback.Func(func(context.Context, any) (any, error) { return nil, nil })}
	memory := func(string) (journal.Journal, error) { return journal.NewMemory(), nil }
	handler := engine.Around(nil, nil)
	for want, cfg := range map[string]stepback.Config{
		`stepback: Config.Dir is "data" but Config.Journal is nil: import "stepback/engine/journal/pebble" and set Journal ` +
			"to pebble.OpenDir": {Dir: "data"},
		"stepback: Config.Journal is set but Config.Dir is empty: set Dir to the data directory": {Journal: memory},
		"the data directory data: file does not exist": {Dir: "data",
			Journal: func(string) (journal.Journal, error) { return nil, fs.ErrNotExist }},
		"stepback: Config.Functions and Config.Integrations both handle Lambda functions: set one of them": {
			Functions: function, Integrations: new(stepback.Integrations).Handle("lambda", "*", handler)},
	} {
		if app, err := stepback.New(t.Context(), cfg); err == nil || err.Error() != want {
			t.Errorf("%v, %v; want %s", app, err, want)
		}
	}
	app := open(t, stepback.Config{Dir: "anywhere", Journal: memory, Functions: function})
	define(t, app, stepback.Definition{Name: "Kept", Text: pause})
}

// calls is a definition that calls a function in a task, a branch, an inline and a distributed Map.
func calls(task, branch, inline, distributed string) string {
	const arn = "arn:aws:lambda:eu-west-1:123456789012:function:"
	return `{"StartAt": "Task", "States": {
		"Task": {"Type": "Task", "Resource": "` + arn + task + `", "Next": "Parallel"},
		"Parallel": {"Type": "Parallel", "Next": "Inline", "Branches": [{"StartAt": "Branch", "States": {
			"Branch": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
				"Parameters": {"FunctionName": "` + branch + `"}, "End": true}}}]},
		"Inline": {"Type": "Map", "Next": "Distributed", "ItemProcessor": {"StartAt": "Item", "States": {
			"Item": {"Type": "Task", "Resource": "` + arn + inline + `:live", "End": true}}}},
		"Distributed": {"Type": "Map", "Next": "Dynamic", "ItemProcessor": {
			"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "Row", "States": {
			"Row": {"Type": "Task", "QueryLanguage": "JSONata", "Resource": "arn:aws:states:::lambda:invoke",
				"Arguments": {"FunctionName": "` + arn + distributed + `"}, "End": true}}}},
		"Dynamic": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName.$": "$.f"},
			"Next": "Expression"},
		"Expression": {"Type": "Task", "QueryLanguage": "JSONata", "Resource": "arn:aws:states:::lambda:invoke",
			"Arguments": {"FunctionName": "{% $states.input.f %}"}, "End": true}}}`
}

func TestDefineRefusesFunctionsThatAreNotRegistered(t *testing.T) {
	t.Parallel()
	f := stepback.Func(func(context.Context, any) (any, error) { return nil, nil })
	app := open(t, stepback.Config{Functions: stepback.Functions{"charge": f, "ship": f}})
	define(t, app, stepback.Definition{Name: "m", Text: calls("charge", "ship", "ship", "charge")})
	_, err := app.Define(stepback.Definition{Name: "m", Text: calls("chrge", "ship:live", "shp", "refund")})
	const want = `state machine m calls functions that are not registered: state "Task" calls "chrge" (did you mean ` +
		`"charge"?), state "Item" calls "shp" (did you mean "ship"?), state "Row" calls "refund"; registered: charge, ship`
	var refused *stepback.UnregisteredError
	if !errors.As(err, &refused) || err.Error() != want || len(refused.Calls) != 3 {
		t.Errorf("%v; want %s", err, want)
	}
	var invalid *engine.DefinitionError
	if _, err := app.Define(stepback.Definition{Name: "m", Text: `{}`}); !errors.As(err, &invalid) {
		t.Errorf("an invalid definition: %v", err)
	}
	define(t, app, stepback.Definition{Name: "m", Text: calls("chrge", "shp", "x", "y"), AllowUnregistered: true})

	if _, err := open(t, stepback.Config{}).Define(stepback.Definition{Name: "m", Text: charge}); err == nil ||
		!strings.HasSuffix(err.Error(), `state "Charge" calls "charge"; registered: none`) {
		t.Errorf("without functions: %v", err)
	}
	// Handlers of the program's own may know functions that are not listed.
	own := new(stepback.Integrations).HandleFunctions(engine.Around(nil, func(context.Context, *stepback.Task,
		stepback.Integration) (stepback.Result, error) {
		return engine.TextResult(`"own"`), nil
	}))
	m := define(t, open(t, stepback.Config{Integrations: own}), stepback.Definition{Name: "m", Text: charge})
	if x := wait(t, start(t, m, "x", nil)); x.Output != `"own"` {
		t.Errorf("%+v", x)
	}
}

// notFound is an error with a name of its own.
type notFound struct{ what string }

func (n *notFound) Error() string     { return "no " + n.what }
func (n *notFound) ErrorName() string { return "NotFound" }

type plain struct{}

func (plain) Error() string { return "plain" }

// TestNames refuses the names that Step Functions refuses.
func TestNames(t *testing.T) {
	t.Parallel()
	const pass = `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`
	app := open(t, stepback.Config{})
	m := define(t, app, stepback.Definition{Name: "Orders-1_日本.é", Text: pass})
	start(t, m, strings.Repeat("é", 80), nil)
	for _, name := range []string{"bad name!", "a:b", "a/b", "\x00", strings.Repeat("x", 81)} {
		if _, err := m.Start(t.Context(), name, nil); !errors.Is(err, stepback.ErrName) {
			t.Errorf("the execution %q: %v", name, err)
		}
		if _, err := app.Define(stepback.Definition{Name: name, Text: pass}); !errors.Is(err, stepback.ErrName) {
			t.Errorf("the state machine %q: %v", name, err)
		}
	}
	if _, err := app.Define(stepback.Definition{Text: pass}); !errors.Is(err, stepback.ErrName) {
		t.Errorf("a state machine without a name: %v", err)
	}
}

func TestErrorNames(t *testing.T) {
	t.Parallel()
	busy := stepback.Errorf("CardServiceBusy", "charging %s: %w", "17", fs.ErrClosed)
	if !errors.Is(busy, fs.ErrClosed) || busy.Error() != "charging 17: file already closed" {
		t.Errorf("%v does not wrap", busy)
	}
	var found *notFound
	if !errors.As(stepback.Errorf("Outer", "%w", &notFound{"card"}), &found) || found.what != "card" {
		t.Errorf("errors.As does not find what is wrapped")
	}
	hook := func(err error) string {
		if errors.Is(err, fs.ErrPermission) {
			return "Forbidden"
		}
		return ""
	}
	for _, c := range []struct {
		err                 error
		name, hooked, cause string
	}{
		{busy, "CardServiceBusy", "CardServiceBusy", "charging 17: file already closed"},
		{fmt.Errorf("order: %w", busy), "CardServiceBusy", "CardServiceBusy", "order: charging 17: file already closed"},
		{stepback.Errorf("Outer", "outer: %w", busy), "Outer", "Outer", "outer: charging 17: file already closed"},
		{&stepback.Failure{Name: "Refused", Cause: "no money"}, "Refused", "Refused", "no money"},
		{stepback.Errorf("Outer", "outer: %w", &stepback.Failure{Name: "Refused", Cause: "no money"}), "Outer", "Outer",
			"outer: Refused: no money"},
		{errors.Join(errors.New("a"), &notFound{"card"}), "NotFound", "NotFound", "a\nno card"},
		{fs.ErrPermission, "errorString", "Forbidden", "permission denied"},
		{fmt.Errorf("it is %w", fs.ErrPermission), "wrapError", "Forbidden", "it is permission denied"},
		{plain{}, "plain", "plain", "plain"},
	} {
		for _, named := range []struct {
			hook func(error) string
			want string
		}{{nil, c.name}, {hook, c.hooked}} {
			app := open(t, stepback.Config{ErrorName: named.hook, Functions: stepback.Functions{
				"charge": stepback.Func(func(context.Context, any) (any, error) { return nil, c.err }),
			}})
			x := wait(t, start(t, define(t, app, stepback.Definition{Name: "m", Text: charge}), "x", nil))
			cause, err := json.Marshal(map[string]string{"errorMessage": c.cause, "errorType": named.want})
			if err != nil {
				t.Fatal(err)
			}
			if x.Failure.Name != named.want || x.Failure.Cause != string(cause) {
				t.Errorf("%v fails by %s: %s; want %s: %s", c.err, x.Failure.Name, x.Failure.Cause, named.want, cause)
			}
		}
		if got := stepback.ErrorName(c.err); got != c.name {
			t.Errorf("the name of %v is %s, not %s", c.err, got, c.name)
		}
	}
	if got := stepback.ErrorName(nil); got != "" {
		t.Errorf("the name of no error is %q", got)
	}
}

// TestNamedErrorsOfIntegrations fails the task of an integration by the name of its error.
func TestNamedErrorsOfIntegrations(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want stepback.Failure
	}{
		{stepback.Errorf("Full", "the mailbox of %s", "ann"), stepback.Failure{Name: "Full", Cause: "the mailbox of ann"}},
		{&notFound{"ann"}, stepback.Failure{Name: "NotFound", Cause: "no ann"}},
		{&stepback.Failure{Name: "Gone"}, stepback.Failure{Name: "Gone"}},
		{errors.New("down"), stepback.Failure{Name: "States.TaskFailed", Cause: "down"}},
	} {
		app := open(t, stepback.Config{Integrations: new(stepback.Integrations).Handle("mail", "send",
			engine.Around(nil, func(context.Context, *stepback.Task, stepback.Integration) (stepback.Result, error) {
				return nil, c.err
			}))})
		m := define(t, app, stepback.Definition{Name: "m", Text: `{"StartAt": "Send", "States": {"Send": {
			"Type": "Task", "Resource": "arn:aws:states:::mail:send", "End": true}}}`})
		if x := wait(t, start(t, m, "x", nil)); x.Failure != c.want {
			t.Errorf("%v fails by %+v; want %+v", c.err, x.Failure, c.want)
		}
	}
}

func TestInputsAreValuesOrJSONText(t *testing.T) {
	t.Parallel()
	app := open(t, stepback.Config{})
	m := define(t, app, stepback.Definition{
		Name: "m", Text: `{"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}`,
	})
	for _, c := range []struct {
		input any
		want  string
	}{
		{order{ID: "17"}, `{"id":"17","cents":0}`},
		{json.RawMessage(`{"id": "17"}`), `{"id": "17"}`},
		{[]byte(`[1.0]`), `[1.0]`},
		{`{"id": "17"}`, `"{\"id\": \"17\"}"`},
		{nil, `null`},
	} {
		if x := wait(t, start(t, m, "", c.input)); x.Input != c.want || x.Output != c.want {
			t.Errorf("%v is the input %s and the output %s; want %s", c.input, x.Input, x.Output, c.want)
		}
	}
	if _, err := m.Start(t.Context(), "bad", json.RawMessage(`{`)); !errors.Is(err, stepback.ErrInput) {
		t.Errorf("an input that is not JSON: %v", err)
	}
	if _, err := m.Start(t.Context(), "bad", make(chan int)); err == nil {
		t.Error("a channel is an input")
	}
}

// desk is an engine whose function hands out task tokens.
func desk(t *testing.T) (*stepback.Engine, *stepback.Machine, <-chan string) {
	t.Helper()
	tokens := make(chan string, 10)
	app := open(t, stepback.Config{Functions: stepback.Functions{
		"ask": stepback.Func(func(_ context.Context, in struct{ Token string }) (any, error) {
			tokens <- in.Token
			return nil, nil
		}),
	}})
	return app, define(t, app, stepback.Definition{Name: "Desk", Text: approval}), tokens
}

// approval waits for the answer of a person.
const approval = `{"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "End": true,
	"Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
	"Parameters": {"FunctionName": "ask", "Payload": {"token.$": "$$.Task.Token"}}}}}`

func TestReportsByTaskToken(t *testing.T) {
	t.Parallel()
	app, m, tokens := desk(t)
	ctx := t.Context()
	yes, no, hook, silent := start(t, m, "yes", nil), start(t, m, "no", nil), start(t, m, "hook", nil),
		start(t, m, "silent", nil)
	tokenOf := map[string]string{}
	for range 4 {
		token := <-tokens
		arn, ok := engine.ExecutionOfToken(token)
		if !ok {
			t.Fatalf("%q is no token", token)
		}
		tokenOf[arn] = token
	}
	if err := app.SendTaskHeartbeat(ctx, tokenOf[yes.ARN()]); err != nil {
		t.Error(err)
	}
	if err := app.SendTaskSuccess(ctx, tokenOf[yes.ARN()], order{ID: "17"}); err != nil {
		t.Error(err)
	}
	for arn, err := range map[string]error{
		no.ARN():     fmt.Errorf("asking: %w", stepback.Errorf("Refused", "too expensive")),
		hook.ARN():   &stepback.Failure{Name: "Away", Cause: "on leave"},
		silent.ARN(): nil,
	} {
		if err := app.SendTaskFailure(ctx, tokenOf[arn], err); err != nil {
			t.Error(err)
		}
	}
	if x := wait(t, yes); x.Output != `{"id":"17","cents":0}` {
		t.Errorf("%+v", x)
	}
	for run, want := range map[*stepback.Run]stepback.Failure{
		no: {Name: "Refused", Cause: "asking: too expensive"}, hook: {Name: "Away", Cause: "on leave"}, silent: {},
	} {
		if x := wait(t, run); x.Status != stepback.Failed || x.Failure != want {
			t.Errorf("%s by %+v; want %+v", x.Status, x.Failure, want)
		}
	}
	if err := app.SendTaskSuccess(ctx, tokenOf[yes.ARN()], nil); !errors.Is(err, stepback.ErrTaskTimedOut) {
		t.Errorf("a second report: %v", err)
	}
	if err := app.SendTaskHeartbeat(ctx, "made up"); !errors.Is(err, stepback.ErrInvalidToken) {
		t.Errorf("a token that was made up: %v", err)
	}
	if err := app.SendTaskSuccess(ctx, tokenOf[yes.ARN()], make(chan int)); err == nil {
		t.Error("a channel is an output")
	}
}

func TestStopDescribeAndRedrive(t *testing.T) {
	t.Parallel()
	app, m, tokens := desk(t)
	ctx := t.Context()
	run := start(t, m, "order-17", order{ID: "17"})
	<-tokens
	x, err := run.Describe(ctx)
	if err != nil || x.Status != stepback.Running || x.Name != "order-17" || x.Machine != "Desk" || x.Express ||
		!x.Start.Equal(begin) || !x.Stop.IsZero() || x.Input != `{"id":"17","cents":0}` {
		t.Errorf("%+v, %v", x, err)
	}
	var not *engine.NotRedrivableError
	if err := run.Redrive(ctx); !errors.As(err, &not) {
		t.Errorf("redriving what is running: %v", err)
	}
	if err := run.Stop(ctx, stepback.Failure{Name: "Cancelled", Cause: "by the customer"}); err != nil {
		t.Fatal(err)
	}
	want := stepback.Failure{Name: "Cancelled", Cause: "by the customer"}
	if x := wait(t, run); x.Status != stepback.Aborted || x.Failure != want {
		t.Errorf("%+v", x)
	}
	if err := run.Stop(ctx, stepback.Failure{}); err != nil {
		t.Errorf("stopping it again: %v", err)
	}

	if err := app.Find(run.ARN()).Redrive(ctx); err != nil {
		t.Fatal(err)
	}
	if err := app.SendTaskSuccess(ctx, <-tokens, "paid"); err != nil {
		t.Fatal(err)
	}
	if x := wait(t, run); x.Status != stepback.Succeeded || x.Output != `"paid"` || x.Redrives != 1 ||
		!x.Redriven.Equal(begin) || x.Failure.HasName() {
		t.Errorf("%+v", x)
	}
	none := app.Find("arn:aws:states:us-east-1:000000000000:execution:Desk:none")
	_, described := none.Describe(ctx)
	_, read := none.History(ctx)
	for what, err := range map[string]error{
		"stop": none.Stop(ctx, stepback.Failure{}), "redrive": none.Redrive(ctx), "describe": described, "history": read,
	} {
		if !errors.Is(err, stepback.ErrNoExecution) {
			t.Errorf("%s of an execution that there is not: %v", what, err)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	app := open(t, stepback.Config{Functions: stepback.Functions{
		"charge": stepback.Func(func(_ context.Context, o order) (receipt, error) {
			if o.Cents > 1000 {
				return receipt{}, stepback.Errorf("Refused", "too much")
			}
			return receipt{}, nil
		}),
	}})
	orders := define(t, app, stepback.Definition{Name: "Orders", Text: charge})
	express := define(t, app, stepback.Definition{Name: "Quick", Text: charge, Express: true})
	other := define(t, app, stepback.Definition{Name: "Other", Text: pause})
	wait(t, start(t, orders, "cheap", order{Cents: 5}))
	wait(t, start(t, other, "later", nil)) // a day passes
	wait(t, start(t, orders, "dear", order{Cents: 5000}))
	if x := wait(t, start(t, express, "quick", order{})); !x.Express || x.Status != stepback.Succeeded {
		t.Errorf("%+v", x)
	}
	listed := func(q stepback.Query) string {
		var names []string
		for x, err := range app.List(t.Context(), q) {
			if err != nil {
				t.Fatal(err)
			}
			if x.Input != "" || x.Output != "" || x.Failure.Cause != "" {
				t.Errorf("a payload is listed: %+v", x)
			}
			names = append(names, x.Name)
		}
		return strings.Join(names, " ")
	}
	for want, q := range map[string]stepback.Query{
		"cheap":      {Machine: orders, Statuses: []stepback.Status{stepback.Succeeded}},
		"dear":       {Error: "Refused"},
		"dear cheap": {Machine: orders},
		"later":      {Machine: other},
		"":           {Retrying: true},
	} {
		if got := listed(q); got != want {
			t.Errorf("%+v lists %q; want %q", q, got, want)
		}
	}
	all := strings.Fields(listed(stepback.Query{}))
	slices.Sort(all)
	since := strings.Fields(listed(stepback.Query{Since: begin.Add(time.Hour)}))
	slices.Sort(since)
	if fmt.Sprint(all, since) != "[cheap dear later quick] [dear quick]" {
		t.Errorf("all are %s, since then %s", all, since)
	}
	for x, err := range app.List(t.Context(), stepback.Query{}) {
		if err != nil || x.Name == "" {
			t.Errorf("%+v, %v", x, err)
		}
		break // reads no further
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for x, err := range app.List(ended, stepback.Query{Retrying: true}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v, %v", x, err)
		}
	}
}

// TestRetriesAreDescribed looks at an execution that waits for a retry, in real time.
func TestRetriesAreDescribed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	app, err := stepback.New(ctx, stepback.Config{Functions: stepback.Functions{
		"charge": stepback.Func(func(context.Context, order) (receipt, error) {
			return receipt{}, stepback.Errorf("CardServiceBusy", "try again")
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close()
	m := define(t, app, stepback.Definition{
		Name: "Orders", Text: strings.Replace(charge, `"IntervalSeconds": 2`, `"IntervalSeconds": 600`, 1),
	})
	run := start(t, m, "order-17", order{ID: "17"})
	var x *stepback.Execution
	for x == nil || len(x.Retries) == 0 {
		if x, err = run.Describe(ctx); err != nil {
			t.Fatal(err)
		}
	}
	r := x.Retries[0]
	if r.State != "Charge" || r.Error != "CardServiceBusy" || r.Attempt != 2 || r.LastAttempt != 5 ||
		r.Next.Sub(r.Failed) < 599*time.Second || !r.Last().After(r.Next) {
		t.Errorf("%+v", r)
	}
	for x, err := range app.List(ctx, stepback.Query{Retrying: true, Error: "CardServiceBusy"}) {
		if err != nil || x.ARN != run.ARN() || len(x.Retries) != 1 {
			t.Errorf("%+v, %v", x, err)
		}
		return
	}
	t.Error("it is not listed")
}

// leftJournal is a journal that outlives the engines that close it. Once closed, gate lets a recovery read more than
// its first execution, or fails it with err.
type leftJournal struct {
	journal.Journal

	gate chan struct{}
	err  error
}

func (j *leftJournal) Close() error { return nil }

func (j *leftJournal) Unfinished(ctx context.Context, prefix string) iter.Seq2[*journal.Unfinished, error] {
	return func(yield func(*journal.Unfinished, error) bool) {
		n := 0
		for u, err := range j.Journal.Unfinished(ctx, prefix) {
			if n++; n == 2 && strings.HasSuffix(prefix, ":") { // otherwise it is a request for one execution
				select {
				case <-j.gate:
					err = errors.Join(err, j.err)
				case <-ctx.Done():
					err = ctx.Err()
				}
			}
			if !yield(u, err) || err != nil {
				return
			}
		}
	}
}

// With Recovered, New returns at once. Executions of the previous program are found at any time, and new ones run.
func TestRecoveryInTheBackground(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	damage := errors.New("the disk is gone")
	for _, failure := range []error{nil, damage} {
		kept := &leftJournal{Journal: journal.NewMemory(), gate: make(chan struct{}), err: failure}
		cfg := stepback.Config{Dir: "left", Journal: func(string) (journal.Journal, error) { return kept, nil },
			Functions: stepback.Functions{"charge": stepback.Func(func(_ context.Context, o order) (receipt, error) {
				if o.ID == "new" {
					return receipt{ID: "r-new"}, nil
				}
				return receipt{}, stepback.Errorf("CardServiceBusy", "try again")
			})}}
		first, err := stepback.New(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		orders := stepback.Definition{Name: "Orders", Text: strings.Replace(charge, `"IntervalSeconds": 2`, `"IntervalSeconds": 600`, 1)}
		m := define(t, first, orders)
		for _, name := range []string{"order-1", "order-2", "order-3"} {
			retried(t, start(t, m, name, order{ID: name}))
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}

		type end struct {
			executions int
			err        error
		}
		ended := make(chan end, 1)
		cfg.Recovered = func(executions int, err error) { ended <- end{executions, err} }
		second, err := stepback.New(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		m = define(t, second, orders)
		if x := wait(t, start(t, m, "order-4", order{ID: "new"})); x.Status != stepback.Succeeded {
			t.Errorf("%+v", x)
		}
		retried(t, m.Find("order-3"))
		close(kept.gate)
		got := <-ended
		if failure == nil {
			if got.executions != 3 || got.err != nil {
				t.Errorf("%d executions continue: %v", got.executions, got.err)
			}
			retried(t, m.Find("order-2"))
		} else if !errors.Is(got.err, failure) {
			t.Errorf("the recovery ended with %v, want %v", got.err, failure)
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// retried waits until an execution waits for a retry.
func retried(t *testing.T, run *stepback.Run) {
	t.Helper()
	for {
		x, err := run.Describe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Retries) == 1 {
			return
		}
		runtime.Gosched()
	}
}
