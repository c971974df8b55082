package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/aws/client"
	"stepback/cmd/stepback/exit"
	"stepback/internal/objectevent"
)

// rottenItems is a state machine whose distributed Map fails for each item that is not good.
const rottenItems = `{"StartAt":"Each","States":{"Each":{"Type":"Map","Label":"L","ItemsPath":"$.items","ToleratedFailurePercentage":100,
	"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"Check","States":{
	"Check":{"Type":"Choice","Choices":[{"Variable":"$.good","BooleanEquals":true,"Next":"Good"}],"Default":"Bad"},
	"Good":{"Type":"Succeed"},"Bad":{"Type":"Fail","Error":"Rotten","Cause":"an item"}}},"End":true}}}`

// letterServer is a server with dead letters of each kind.
type letterServer struct {
	data, url           string
	machine             string // ARN of the state machine with failed items
	dead, events, queue string // URLs of queues: dead letters, undelivered events, the source of dead
}

// callSQS calls SQS at a server.
func callSQS(t *testing.T, url, operation string, in map[string]any, out any) {
	t.Helper()
	c, err := client.NewNamed(t.Context(), aws.Config{Region: "us-east-1", BaseEndpoint: &url,
		Credentials: credentials.NewStaticCredentialsProvider("000000000000", "local", "")}, "sqs")
	if err == nil {
		err = c.Call(t.Context(), operation, in, out)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// withLetters adds dead letters of each kind to a server: two failed items, two messages, two events (of a file and of
// a manifest), two rows.
func withLetters(t *testing.T, data, url string) *letterServer {
	t.Helper()
	s := &letterServer{data: data, url: url}
	states := clientsOf(url).states
	m, err := states.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: aws.String("fruit"),
		Definition: aws.String(rottenItems), RoleArn: aws.String("arn:aws:iam::000000000000:role/r")})
	if err != nil {
		t.Fatal(err)
	}
	s.machine = *m.StateMachineArn
	stepback(t, "start", "fruit", "--name", "basket", "--input", `{"items":[{"good":true},{"good":false},{"n":2,"good":false}]}`, "--wait", "--endpoint",
		url).ends(t, exit.OK)
	queue := func(name string, attributes map[string]string) string {
		var out struct {
			URL string `json:"QueueUrl"`
		}
		callSQS(t, url, "CreateQueue", map[string]any{"QueueName": name, "Attributes": attributes}, &out)
		return out.URL
	}
	s.dead, s.events = queue("orders-dead", nil), queue("undelivered", nil)
	s.queue = queue("orders", map[string]string{
		"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:orders-dead","maxReceiveCount":"1"}`})
	for n := range 2 {
		callSQS(t, url, "SendMessage", map[string]any{"QueueUrl": s.queue, "MessageBody": fmt.Sprintf(`{"order":%d}`, n)}, nil)
	}
	// Each message is received as often as the queue allows, and moves to the dead-letter queue at the next receive.
	for waiting := ""; waiting != "2"; wait(t) {
		callSQS(t, url, "ReceiveMessage", map[string]any{"QueueUrl": s.queue, "MaxNumberOfMessages": 10, "VisibilityTimeout": 0}, nil)
		var out struct{ Attributes map[string]string }
		callSQS(t, url, "GetQueueAttributes", map[string]any{"QueueUrl": s.dead,
			"AttributeNames": []string{"ApproximateNumberOfMessages"}}, &out)
		waiting = out.Attributes["ApproximateNumberOfMessages"]
	}
	callSQS(t, url, "SendMessage", map[string]any{"QueueUrl": s.events,
		"MessageBody": `{"detail-type":"Object Created","detail":{"bucket":{"name":"csv-input"},"object":{"key":"lost.csv","etag":"0"}}}`}, nil)
	callSQS(t, url, "SendMessage", map[string]any{"QueueUrl": s.events,
		"MessageBody": `{"detail-type":"Object Created","detail":{"bucket":{"name":"csv-input"},"object":{"key":"lists/november.manifest","etag":"0"}}}`}, nil)
	file := write(t, "user_id,login_count,post_count\nanna,1,2\nbert,many,4\ncarl,x,6\n")
	stepback(t, "run", "--csv", file, "--data", data, "--tolerated-failure-percentage", "100").ends(t, exit.Data, "rejected 2")
	return s
}

// letterIDs returns the IDs of letters of a kind.
func letterIDs(t *testing.T, kind string, at ...string) []string {
	t.Helper()
	s := stepback(t, append([]string{"deadletters", "list", "--letters", "--json", "--kind", kind}, at...)...)
	s.ends(t, exit.OK)
	var all []struct{ ID string }
	if err := json.Unmarshal([]byte(s.out), &all); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, l := range all {
		ids = append(ids, l.ID)
	}
	return ids
}

// TestDeadLettersOfAServer lists, shows, edits, redrives and discards letters of each kind: by the address of a server,
// by the flags that name single sources there, and by its data directory.
func TestDeadLettersOfAServer(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	url, stop := serving(t, data)
	for _, at := range [][]string{{"--data", data}, {"--endpoint", url}} { // nothing has been imported
		stepback(t, append([]string{"deadletters", "list"}, at...)...).ends(t, exit.OK, "no dead letters")
		stepback(t, append([]string{"deadletters", "log"}, at...)...).ends(t, exit.OK)
	}
	s := withLetters(t, data, url)
	const machine = "arn:aws:states:us-east-1:000000000000:stateMachine:csv-import"
	for name, at := range map[string][]string{
		"endpoint": {"--endpoint", url}, "data": {"--data", data},
		"items": {"--endpoint", url, "--machine", s.machine}, "items, record": {"--endpoint", url, "--machine", s.machine, "--record",
			"s3://csv-results/other/"},
		"queue": {"--endpoint", url, "--queue", "arn:aws:sqs:us-east-1:000000000000:orders-dead"}, "queue's URL": {"--endpoint", url,
			"--queue", s.dead},
		"rows":   {"--endpoint", url, "--import-results", "s3://csv-results", "--import-machine", machine},
		"events": {"--endpoint", url, "--events-queue", s.events, "--import-machine", machine, "--record", "s3://csv-results"},
	} {
		want := map[string]map[string]int{"endpoint": {"item": 2, "queue": 2, "row": 2}, "data": {"item": 2, "queue": 2, "row": 2},
			"items": {"item": 2}, "items, record": {"item": 2}, "queue": {"queue": 2}, "queue's URL": {"queue": 2}, "rows": {"row": 2},
			"events": {"event": 2}}[name]
		for _, kind := range []string{"item", "queue", "row", "event"} {
			if got := len(letterIDs(t, kind, at...)); got != want[kind] {
				t.Errorf("%s: %d letters of the kind %s, want %d", name, got, kind, want[kind])
			}
		}
		for kind := range want {
			stepback(t, append([]string{"deadletters", "list"}, at...)...).ends(t, exit.OK, kind)
			id := letterIDs(t, kind, at...)[0]
			stepback(t, append([]string{"deadletters", "show", id}, at...)...).ends(t, exit.OK, id, "payload")
			stepback(t, append([]string{"deadletters", "redrive", id, "--dry-run"}, at...)...).ends(t, exit.OK, id+" would be redriven")
			stepback(t, append([]string{"deadletters", "discard", id, "--dry-run", "--because", "x"}, at...)...).ends(t, exit.OK,
				id+" would be discarded")
		}
	}
	// The event of a manifest is not started on the state machine of single files.
	events := []string{"--endpoint", url, "--events-queue", s.events, "--import-machine", machine, "--record", "s3://csv-results"}
	manifest := objectevent.ExecutionName("csv-input", "lists/november.manifest", "0")
	redrive := append([]string{"deadletters", "redrive", "event:" + manifest}, events...)
	stepback(t, redrive...).ends(t, exit.Data, "lists/november.manifest is a manifest", "--files-machine")
	stepback(t, append(redrive, "--files-machine", s.machine)...).ends(t, exit.OK, "redriven")
	stepback(t, "describe", manifest, "--endpoint", url).ends(t, exit.OK, "fruit")
	rows, items := letterIDs(t, "row", "--endpoint", url), letterIDs(t, "item", "--endpoint", url)
	fixed := filepath.Join(t.TempDir(), "p.json")
	if err := os.WriteFile(fixed, []byte(`{"user_id":"bert","login_count":3,"post_count":4}`), 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "deadletters", "edit", rows[0], "--payload", "@none.json", "--endpoint", url).complains(t, exit.Usage, "give JSON, @FILE")
	stepback(t, "deadletters", "edit", rows[0], "--payload", "@"+fixed, "--endpoint", url).ends(t, exit.OK, "edited the payload")
	stepback(t, "deadletters", "redrive", rows[0], "--wait", "--endpoint", url).ends(t, exit.OK, rows[0]+" redriven", "delivered")
	stepback(t, "deadletters", "redrive", rows[0], "--data", data).ends(t, exit.Data, "not dead", "redriven by ")
	stepback(t, "deadletters", "edit", items[0], "--payload", `{"good":true}`, "--data", data).ends(t, exit.OK)
	stepback(t, "deadletters", "redrive", items[0], "--wait", "--data", data).ends(t, exit.OK, "delivered")
	stepback(t, "deadletters", "redrive", "--kind", "queue", "--endpoint", url).ends(t, exit.OK, "redriven")
	var got struct{ Messages []struct{ Body string } }
	for ; len(got.Messages) == 0; wait(t) {
		callSQS(t, url, "ReceiveMessage", map[string]any{"QueueUrl": s.queue}, &got)
	}
	stepback(t, "deadletters", "discard", rows[1], "--because", "a test", "--endpoint", url).ends(t, exit.OK, rows[1]+" discarded")
	stepback(t, "deadletters", "log", "--data", data).ends(t, exit.OK, "discarded "+rows[1]+" a test", "redriven "+rows[0])
	stop()
	stepback(t, "deadletters", "list", "--data", data).ends(t, exit.OK, "item", "Rotten")
	stepback(t, "export", "users", "--data", data).ends(t, exit.OK, "anna,1,2\nbert,3,4\n")
}

// TestEveryVerbWithAnEndpoint runs each verb that has --endpoint against a server.
func TestEveryVerbWithAnEndpoint(t *testing.T) {
	t.Parallel()
	data, url := served(t)
	awaits(t, "orders", "machines", "--endpoint", url)
	withLetters(t, data, url)
	dir := t.TempDir()
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte("states: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	problem := filepath.Join(dir, "problem.yaml")
	if err := os.WriteFile(problem, []byte("design: 1\nname: orders\nstate: Refund\nobjective: {saved: 0.9, within: 900}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	orders := "arn:aws:states:us-east-1:000000000000:stateMachine:orders"
	row := letterIDs(t, "row", "--endpoint", url)[0]
	const unknown = -1 // any status: what matters is that the verb speaks to the server and does not panic
	ran := []string{}
	for _, verb := range []struct {
		args string
		code int
		want string
	}{
		{"machines", exit.OK, "orders STANDARD"},
		{"start orders --name one --input {\"ok\":true} --wait", exit.OK, `{"ok":true}`},
		{"start orders --name two --input {\"ok\":false,\"fail\":true} --wait", exit.Failure, ""},
		{"start orders --name three --input {\"ok\":false,\"fail\":false}", exit.OK, ":three"},
		{"executions --status FAILED", exit.OK, "Busy"},
		{"executions --map-run arn:aws:states:us-east-1:000000000000:mapRun:none/L:1", exit.Failure, ""},
		{"describe two", exit.OK, "error: Busy"},
		{"history two", exit.OK, "ExecutionFailed Busy"},
		{"definition orders", exit.OK, "StartAt"},
		{"mapruns basket", exit.OK, "fruit"},
		{"activities", exit.OK, ""},
		{"logs busy", unknown, ""},
		{"record two --out " + filepath.Join(dir, "two.test.yaml"), unknown, ""},
		{"stop three", exit.OK, "stopped"},
		{"redrive two", exit.OK, "redriven"},
		{"send-task-success none", exit.Failure, ""},
		{"send-task-failure none --error E", exit.Failure, ""},
		{"retry-now two", exit.Failure, ""},
		{"executions --durable", exit.OK, ""},
		{"callback succeed none", exit.Failure, ""},
		{"callback fail none --error E", exit.Failure, ""},
		{"callback heartbeat none", exit.Failure, ""},
		{"cost arn:aws:lambda:us-east-1:000000000000:function:none:1/durable-execution/none/none", exit.Failure, ""},
		{"names machines", exit.OK, "orders"},
		{"retries analyze --state-machine " + orders, unknown, ""},
		{"retries design " + problem + " --fit --state-machine " + orders, exit.Failure, ""},
		{"mcp", exit.OK, ""},
		{"retries whatif --state-machine " + orders + " --policy " + policy, unknown, ""},
		{"adapt --state-machine " + orders + " --rows " + dir + " --history", unknown, ""},
		{"predict examples --state-machine " + orders + " -o " + filepath.Join(dir, "e.jsonl"), unknown, ""},
		{"alarms", exit.OK, ""},
		{"dashboard list", exit.OK, ""},
		{"dashboard render -o " + filepath.Join(dir, "d.svg"), unknown, ""},
		{"relay --db sqlite:" + filepath.Join(dir, "app.db") + " --to arn:aws:sqs:us-east-1:000000000000:orders --once", exit.OK, ""},
		{"deadletters list", exit.OK, "Rotten"},
		{"deadletters show " + row, exit.OK, row},
		{"deadletters edit " + row + " --payload {\"user_id\":\"bert\",\"login_count\":1,\"post_count\":1}", exit.OK, "edited"},
		{"deadletters redrive --error Rotten --dry-run", exit.OK, "would be redriven"},
		{"deadletters discard " + row + " --because test", exit.OK, "discarded"},
		{"deadletters log", exit.OK, "edited"},
		{"chaos add sqs:ListQueues:throttle:1 --for 1h", exit.OK, "sqs:ListQueues:throttle:1"},
		{"chaos add sqs:ListQueus:throttle:1", exit.Usage, ""},
		{"chaos list", exit.OK, "sqs:ListQueues:throttle:1"},
		{"chaos lift --all", exit.OK, "lifted: 1"},
	} {
		got := stepback(t, append(strings.Fields(verb.args), "--endpoint", url)...)
		if verb.code != unknown {
			got.ends(t, verb.code, verb.want)
		}
		ran = append(ran, verb.args)
	}
	leaves(grammar(t), func(n *kong.Node) {
		if slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "endpoint" }) &&
			!slices.ContainsFunc(ran, func(args string) bool { return strings.HasPrefix(args+" ", n.Path()+" ") }) {
			t.Errorf("%s has --endpoint and is not run", n.FullPath())
		}
	})
}
