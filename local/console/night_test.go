package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"stepback/csvimport/pipeline"
	"stepback/csvimport/sample"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/local"
	"stepback/local/services/lambda/functions"
	"stepback/tasks/faults"
)

// checkout is a saga: if it cannot ship, it refunds what it has charged.
const checkout = `{"StartAt":"Reserve","States":{
"Reserve":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"step","Payload.$":"$.reserve"},
 "ResultPath":null,"Retry":[{"ErrorEquals":["Lambda.TooManyRequestsException"],"IntervalSeconds":1,"MaxAttempts":2}],"Next":"Charge"},
"Charge":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"step","Payload.$":"$.charge"},
 "ResultPath":null,"Retry":[{"ErrorEquals":["BankUnavailable"],"IntervalSeconds":2,"BackoffRate":2,"MaxAttempts":4}],
 "Catch":[{"ErrorEquals":["States.ALL"],"ResultPath":"$.error","Next":"Release"}],"Next":"Ship"},
"Ship":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"step","Payload.$":"$.ship"},
 "ResultPath":null,"Retry":[{"ErrorEquals":["CarrierTimeout"],"IntervalSeconds":1,"MaxAttempts":3}],
 "Catch":[{"ErrorEquals":["States.ALL"],"ResultPath":"$.error","Next":"Refund"}],"Next":"Notify"},
"Notify":{"Type":"Parallel","End":true,"Branches":[{"StartAt":"Mail","States":{"Mail":{"Type":"Pass","End":true}}},
 {"StartAt":"Invoice","States":{"Invoice":{"Type":"Pass","End":true}}}]},
"Refund":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"step","Payload":{"id":"refund"}},
 "ResultPath":null,"Next":"Release"},
"Release":{"Type":"Pass","Next":"OrderFailed"},
"OrderFailed":{"Type":"Fail","ErrorPath":"$.error.Error","CausePath":"$.error.Cause"}}}`

// payout waits a long time between its attempts.
const payout = `{"QueryLanguage":"JSONata","StartAt":"Transfer","States":{"Transfer":{"Type":"Task",
"Resource":"arn:aws:states:::lambda:invoke","Arguments":{"FunctionName":"step","Payload":"{% $states.input %}"},"TimeoutSeconds":30,
"Retry":[{"ErrorEquals":["BankUnavailable"],"IntervalSeconds":600,"BackoffRate":2,"MaxAttempts":5,"MaxDelaySeconds":3600}],"Next":"Booked"},"Booked":{"Type":"Succeed"}}}`

// prices is a Map Run that tolerates one failed item in ten.
const prices = `{"StartAt":"EachProduct","States":{"EachProduct":{"Type":"Map","Label":"EachProduct","ItemsPath":"$.products",
"MaxConcurrency":8,"ToleratedFailurePercentage":10,"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},
"StartAt":"Price","States":{"Price":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
"Parameters":{"FunctionName":"step","Payload.$":"$"},"Retry":[{"ErrorEquals":["RateUnavailable"],"IntervalSeconds":1,"MaxAttempts":2}],
"End":true}}},"End":true}}}`

// reindex is a Map Run whose items wait for an hour after a failure.
const reindex = `{"StartAt":"EachShard","States":{"EachShard":{"Type":"Map","Label":"EachShard","ItemsPath":"$.shards",
"MaxConcurrency":6,"ToleratedFailurePercentage":20,"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},
"StartAt":"Index","States":{"Index":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
"Parameters":{"FunctionName":"step","Payload.$":"$"},"Retry":[{"ErrorEquals":["SearchOverloaded"],"IntervalSeconds":3600,"MaxAttempts":3}],
"End":true}}},"End":true}}}`

// approval waits for a callback with the task token.
const approval = `{"StartAt":"AskApprover","States":{"AskApprover":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken",
"Parameters":{"FunctionName":"step","Payload":{"token.$":"$$.Task.Token","id":"ask"}},"HeartbeatSeconds":86400,"End":true}}}`

// stepCall is the input of the function step: an error name, and how often the function fails with it for an ID.
type stepCall struct {
	ID    string `json:"id"`
	Error string `json:"error"`
	Cause string `json:"cause"`
	Times int    `json:"times"`
}

// teller implements the function step.
type teller struct {
	mu    sync.Mutex
	times map[string]int
}

func (s *teller) answer(c stepCall) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.times[c.ID]++; c.Error != "" && s.times[c.ID] <= c.Times {
		return nil, messages.InvokeResponse_Error{Type: c.Error, Message: c.Cause}
	}
	return map[string]string{"id": c.ID, "state": "done"}, nil
}

// night is a platform in the middle of a night with many failures.
type night struct {
	*bed
	lost    string // ARN of the import that lost rows
	order   string // ARN of an order that failed
	waiting string // ARN of a payout that waits for its next attempt
	prices  string // ARN of the Map Run that failed
}

// screens are the paths of the console's fullest pages.
func (n *night) screens() []string {
	return []string{"", "machines", "machines/checkout", "machines/checkout/edit", "executions/" + n.order,
		"executions/" + n.order + "?tab=events&e=15", "executions/" + n.order + "?tab=data", "executions/" + n.waiting,
		"executions/" + n.lost, "executions?retrying=true", "mapruns/" + n.prices, "retries", "retries/checkout", "deadletters",
		"deadletters/import-rows", "deadletters/map-items", "lab?machine=checkout", "services", "services/sqs", "logs", "find?q=order"}
}

const everyAttempt = 1000 // more than any Retry array allows

// newNight creates a platform on which, in the last hour and a half, orders failed, an import lost rows, a Map Run
// failed and alarms fired, and on which payouts are waiting for their next attempts.
func newNight(t *testing.T, c local.Console) *night {
	t.Helper()
	dir := t.TempDir()
	n := &night{}
	n.hours(t, dir)
	letters := &pipeline.PlatformLetters{}
	c.LetterStores, c.Who = letters.LetterStores, "ann"
	p := openNight(t, local.Config{Dir: dir, Console: c})
	n.bed = &bed{Platform: p, t: t, end: sync.OnceFunc(func() { closed(t, p) })}
	t.Cleanup(n.end)
	n.begin()
	n.now()
	return n
}

func closed(t *testing.T, p *local.Platform) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func openNight(t *testing.T, cfg local.Config) *local.Platform {
	t.Helper()
	cfg.BuiltIn, cfg.Batches = pipeline.Functions(cfg.Dir, nil, nil), pipeline.Batches()
	s := &teller{times: map[string]int{}}
	cfg.BuiltIn["step"] = func(functions.Surroundings) (functions.Program, error) {
		return functions.Program{Handler: func(_ context.Context, c stepCall) (map[string]string, error) {
			return s.answer(c)
		}}, nil
	}
	p, err := local.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (n *night) begin() {
	n.t.Helper()
	var err error
	if n.engine, err = n.Engine(); err != nil {
		n.t.Fatal(err)
	}
}

// hours simulates the past hour and a half in virtual time, on a directory that is reopened afterwards.
func (n *night) hours(t *testing.T, dir string) {
	t.Helper()
	const began, pause = 79 * time.Minute, 4 * time.Minute
	p := openNight(t, local.Config{Dir: dir, Clock: clock.Virtual(time.Now().Add(-began)), Seed: 7,
		Faults: []faults.Spec{{State: "ProcessSingleUserRecord", Error: "DatabaseConnectionError", Rate: 0.55},
			{State: "ProcessSingleUserRecord", Error: "ValidationError", Rate: 0.01}}})
	defer closed(t, p)
	n.bed = &bed{Platform: p, t: t}
	n.begin()
	if err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "step", BuiltIn: "step",
		Role: "arn:aws:iam::000000000000:role/r", Timeout: time.Minute}); err != nil {
		t.Fatal(err)
	}
	for name, definition := range map[string]string{"checkout": checkout, "payouts": payout, "nightly-price-list": prices,
		"search-reindex": reindex, "discount-approval": approval} {
		n.call("CreateStateMachine", map[string]string{"name": name, "definition": definition, "roleArn": "arn:aws:iam::000000000000:role/r"})
	}
	ended := func(machine, name, input string) string {
		t.Helper()
		arn := n.start(machine, name, input)
		if _, err := n.engine.Wait(t.Context(), arn); err != nil {
			t.Fatal(err)
		}
		return arn
	}
	n.lost = n.imported(t, p)
	arn := ended("nightly-price-list", "prices-2026-11-22", items(60, "products", func(i int) stepCall {
		if i%4 == 1 {
			return stepCall{ID: fmt.Sprintf("sku-%d", i), Error: "RateUnavailable", Cause: "no rate for CHF", Times: everyAttempt}
		}
		return stepCall{ID: fmt.Sprintf("sku-%d", i)}
	}))
	runs, err := n.engine.MapRunsOf(t.Context(), arn)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%v %v", runs, err)
	}
	n.prices = runs[0].ARN
	for i := range 20 {
		if i > 0 {
			p.Clock.Hold()
			err := p.Clock.Sleep(t.Context(), pause)
			if p.Clock.Release(); err != nil {
				t.Fatal(err)
			}
		}
		order := func(state, failure, cause string, times int) string {
			return ended("checkout", fmt.Sprintf("order-%d-%s", 4700+i, state), fmt.Sprintf(`{"customer":"c-%d","reserve":{"id":"r%d"},
				"charge":{"id":"c%d"},"ship":{"id":"s%d"},%q:{"id":"x%d%s","error":%q,"cause":%q,"times":%d}}`,
				100+i, i, i, i, state, i, state, failure, cause, times))
		}
		order("charge", "BankUnavailable", "503 Service Unavailable", i%3)
		if i > 12 {
			n.order = order("ship", "CarrierTimeout", "no answer from carrier dhl-eu within 5 s", everyAttempt)
			order("reserve", "OutOfStock", "sku-9917: 0 left", 1)
		}
		ended("payouts", fmt.Sprintf("payout-%d", i), fmt.Sprintf(`{"id":"p%d"}`, i))
	}
}

// imported imports a file some of whose rows are lost.
func (n *night) imported(t *testing.T, p *local.Platform) string {
	t.Helper()
	all := 100.0
	im, err := pipeline.On(t.Context(), p, pipeline.Config{Dir: p.Dir, ToleratedFailurePercentage: &all})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "activity-2026-11-22.csv")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := sample.Write(out, sample.Options{Rows: 400, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := im.Import(t.Context(), file, false, nil)
	if err != nil || report.Rows.DeadLettered == 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if err := im.Close(); err != nil {
		t.Fatal(err)
	}
	return report.Execution
}

// now starts the executions that are still running.
func (n *night) now() {
	n.t.Helper()
	for i := range 3 {
		n.waiting = n.start("payouts", fmt.Sprintf("payout-late-%d", i+1),
			fmt.Sprintf(`{"id":"late%d","error":"BankUnavailable","cause":"503 Service Unavailable","times":1000}`, i))
	}
	n.start("search-reindex", "reindex-42", items(24, "shards", func(i int) stepCall {
		if i%5 == 0 {
			return stepCall{ID: fmt.Sprintf("shard-%d", i), Error: "SearchOverloaded", Cause: "429 from search-3", Times: everyAttempt}
		}
		return stepCall{ID: fmt.Sprintf("shard-%d", i)}
	}))
	n.start("discount-approval", "discount-order-4711", `{"order":"4711","percent":30}`)
	for _, q := range []string{`{"QueueName":"mails-dead"}`, `{"QueueName":"mails","Attributes":{"RedrivePolicy":` +
		`"{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:mails-dead\",\"maxReceiveCount\":3}"}}`} {
		n.sqs("CreateQueue", q)
	}
	for i := range 3 {
		n.sqs("SendMessage", fmt.Sprintf(`{"QueueUrl":"http://localhost/000000000000/mails-dead","MessageBody":"{\"to\":\"c-%d\"}"}`, i))
	}
	until := func(arn string, kind history.PendingKind) {
		for n.t.Context().Err() == nil {
			found, err := n.engine.Pending(n.t.Context(), arn)
			if err != nil {
				n.t.Fatal(err)
			}
			if len(found) == 1 && found[0].Kind == kind {
				return
			}
			runtime.Gosched()
		}
	}
	until(n.waiting, history.PendingRetry)
	retrying := func() (all int) {
		for arn := range n.engine.MapRuns() {
			for _, err := range n.engine.Listed(n.t.Context(), &engine.Query{Of: arn, Retrying: true}) {
				if err != nil {
					n.t.Fatal(err)
				}
				all++
			}
		}
		return all
	}
	for retrying() < 5 {
		runtime.Gosched()
	}
}

func (n *night) sqs(operation, in string) {
	n.t.Helper()
	if got := n.ask("POST", "/", in, "X-Amz-Target: AmazonSQS."+operation, "Content-Type: application/x-amz-json-1.0"); got.status != 200 {
		n.t.Fatal(got.body)
	}
}

func (n *night) start(machine, name, input string) string {
	n.t.Helper()
	return n.call("StartExecution", map[string]string{"stateMachineArn": machineARN + machine, "name": name, "input": input})["executionArn"].(string)
}

// items returns an input with an array of calls.
func items(n int, member string, of func(int) stepCall) string {
	all := make([]stepCall, n)
	for i := range all {
		all[i] = of(i)
	}
	text, err := json.Marshal(map[string]any{member: all})
	if err != nil {
		panic(err)
	}
	return string(text)
}
