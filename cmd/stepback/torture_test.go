package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stepback/cmd/stepback/exit"
)

// TestTorture runs every kind of task on a server in a separate process while the server is killed at random and
// receives invalid requests. Afterwards it watches the server's memory, goroutines and descriptors under load. It
// runs for the time in STEPBACK_TORTURE (make torture); STEPBACK_SEED chooses what happens when.
func TestTorture(t *testing.T) {
	t.Parallel()
	during, err := time.ParseDuration(os.Getenv("STEPBACK_TORTURE"))
	if err != nil {
		t.Skip("it takes the time that STEPBACK_TORTURE names, such as 30s; make torture runs it")
	}
	seed, _ := strconv.ParseUint(os.Getenv("STEPBACK_SEED"), 10, 64)
	v := &tortured{t: t, data: t.TempDir(), random: rand.New(rand.NewPCG(seed, 1)),
		client: &http.Client{Timeout: 20 * time.Second}}
	v.begin()
	v.prepare()
	until := time.Now().Add(during / 2)
	var clients, starters sync.WaitGroup
	stop, enough := make(chan struct{}), make(chan struct{})
	for i := range 4 {
		starters.Go(func() { v.start(rand.New(rand.NewPCG(seed, uint64(i)+2)), enough) })
	}
	clients.Go(func() { v.hostile(rand.New(rand.NewPCG(seed, 100)), stop) })
	clients.Go(func() { v.work(stop) })
	clients.Go(func() { v.report(stop) })
	kills := 0
	for ; time.Now().Before(until); kills++ {
		rest(time.Duration(500+v.random.IntN(2500)) * time.Millisecond)
		v.kill()
		v.begin()
	}
	rest(time.Second)
	before := v.footprint()
	for end := time.Now().Add(during / 2); time.Now().Before(end); {
		rest(during / 20)
		now := v.footprint()
		t.Logf("goroutines %d, descriptors %d, memory %d MB, %d executions", now.goroutines, now.files, now.memory>>20,
			v.started.Load())
	}
	close(enough)
	starters.Wait()
	v.settle()
	close(stop)
	clients.Wait()
	last := v.atRest(before)
	v.kill()
	asProcess(t, "data", "check", "--data", v.data).ends(t, exit.OK, "problems: 0")
	t.Logf("seed %d: %d kills, %d executions, %d names taken when a lost answer was asked for again, %d hostile requests; "+
		"at rest goroutines %d then %d, descriptors %d then %d, memory %d then %d MB", seed, kills, v.started.Load(),
		v.again.Load(), v.refused.Load(), before.goroutines, last.goroutines, before.files, last.files,
		before.memory>>20,
		last.memory>>20)
	if v.started.Load() == 0 || v.refused.Load() == 0 {
		t.Error("nothing was tried")
	}
}

// rest waits in real time, because the processes under test run in real time.
func rest(d time.Duration) { <-time.NewTimer(d).C }

// tortured is a server under test, and what it has acknowledged.
type tortured struct {
	t       *testing.T
	data    string
	address string
	random  *rand.Rand
	client  *http.Client

	cmd *exec.Cmd

	started, again, refused atomic.Int64
	accepted                sync.Map // ARNs of the executions that were started
}

// begin starts the server, on the same address as before.
func (v *tortured) begin() {
	v.t.Helper()
	self, err := os.Executable()
	if err != nil {
		v.t.Fatal(err)
	}
	listen := v.address
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	cmd := exec.Command(self, "serve", "--data", v.data, "--listen", listen, "-q",
		"--lambda", "echo=cat", "--lambda", "moody=python3 -c 'import random,sys; sys.exit(random.random() < 0.3)'")
	cmd.Env = append(os.Environ(), "STEPBACK_TEST_AS_COMMAND=1")
	said, err := cmd.StderrPipe()
	if err != nil {
		v.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = cmd.Process.Kill() }) // unless it has been killed already
	lines := bufio.NewReader(said)
	before := ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			v.t.Fatalf("the server has not come up: %s", before)
		}
		before += line
		if m := regexp.MustCompile(`serving on http://(\S+)`).FindStringSubmatch(line); m != nil {
			v.address = m[1]
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // it ends with the server
	v.cmd = cmd
}

func (v *tortured) kill() {
	_ = v.cmd.Process.Kill()
	if err := v.cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		v.t.Errorf("the server has ended by itself: %v", err)
	}
}

// call calls an AWS JSON service. It returns an error if there was no response.
func (v *tortured) call(target string, body any) (int, map[string]any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, "http://"+v.address, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", target)
	a, err := v.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = a.Body.Close() }()
	var answer map[string]any
	err = json.NewDecoder(a.Body).Decode(&answer)
	return a.StatusCode, answer, err
}

func (v *tortured) states(operation string, body any) (int, map[string]any, error) {
	return v.call("AWSStepFunctions."+operation, body)
}

// must makes a call that has to succeed, and returns the response.
func (v *tortured) must(target string, body any) map[string]any {
	v.t.Helper()
	status, answer, err := v.call(target, body)
	if err != nil || status != http.StatusOK {
		v.t.Fatalf("%s: %d %v %v", target, status, answer, err)
	}
	return answer
}

// workloads returns state machines with every kind of task, by name. None of them fails, whatever happens to the
// server.
func (v *tortured) workloads() map[string]string {
	const retry = `"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":1,"MaxAttempts":50,"BackoffRate":1}]`
	task := func(resource, parameters string) string {
		return `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"` + resource + `","Parameters":` + parameters + `,` +
			retry + `,"End":true}}}`
	}
	item := `{"StartAt":"I","States":{"I":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":` +
		`{"FunctionName":"echo","Payload.$":"$"},` + retry + `,"End":true}}}`
	queue := "http://" + v.address + "/000000000000/tasks"
	child := "arn:aws:states:us-east-1:000000000000:stateMachine:wait"
	return map[string]string{
		"pass":     `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`,
		"wait":     `{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":1,"End":true}}}`,
		"function": task("arn:aws:states:::lambda:invoke", `{"FunctionName":"echo","Payload.$":"$"}`),
		"moody":    task("arn:aws:lambda:us-east-1:000000000000:function:moody", `{"a":1}`),
		"token": task("arn:aws:states:::sqs:sendMessage.waitForTaskToken", `{"QueueUrl":"`+queue+
			// report receives the message until the token has been answered
			`","MessageBody":{"token.$":"$$.Task.Token"}}`),
		"activity": `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":` +
			// a task may be lost on its way to the worker
			`"arn:aws:states:us-east-1:000000000000:activity:work","TimeoutSeconds":10,` + retry + `,"End":true}}}`,
		"nested": task("arn:aws:states:::states:startExecution.sync:2", `{"StateMachineArn":"`+child+`"}`),
		"object": task("arn:aws:states:::aws-sdk:s3:putObject",
			`{"Bucket":"torture","Key.$":"$$.Execution.Name","Body.$":"$"}`),
		"parallel": `{"StartAt":"P","States":{"P":{"Type":"Parallel","Branches":[` + item + `,` +
			strings.ReplaceAll(item, `"I"`, `"J"`) + `],"End":true}}}`,
		"map": `{"StartAt":"M","States":{"M":{"Type":"Map","ItemsPath":"$.items","MaxConcurrency":2,"ItemProcessor":` +
			item + `,"End":true}}}`,
		"distributed": `{"StartAt":"M","States":{"M":{"Type":"Map","ItemsPath":"$.items","ItemProcessor":` +
			`{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},` + item[1:] + `,"End":true}}}`,
	}
}

func (v *tortured) prepare() {
	v.t.Helper()
	v.must("AmazonSQS.CreateQueue", map[string]any{"QueueName": "tasks",
		"Attributes": map[string]string{"VisibilityTimeout": "2"}})
	v.must("AWSStepFunctions.CreateActivity", map[string]any{"name": "work"})
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodPut, "http://"+v.address+"/torture", http.NoBody)
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20261127/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0")
	a, err := v.client.Do(r)
	if err != nil || a.StatusCode != http.StatusOK {
		v.t.Fatalf("no bucket: %v, %v", a, err)
	}
	_ = a.Body.Close()
	for name, definition := range v.workloads() {
		v.must("AWSStepFunctions.CreateStateMachine", map[string]any{"name": name, "definition": definition,
			"roleArn": "arn:aws:iam::000000000000:role/r"})
	}
}

// start starts executions. If a response is lost, it repeats the call with the same name and input.
func (v *tortured) start(random *rand.Rand, stop <-chan struct{}) {
	machines := make([]string, 0)
	for name := range v.workloads() {
		machines = append(machines, name)
	}
	slices.Sort(machines)
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		request := map[string]any{"name": fmt.Sprintf("e%d-%d", random.Uint32(), n), "input": `{"items":[1,2,3]}`,
			"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:" + machines[random.IntN(len(machines))]}
		for lost := false; ; lost = true {
			status, answer, err := v.states("StartExecution", request)
			if err != nil {
				rest(50 * time.Millisecond)
				continue
			}
			arn, _ := answer["executionArn"].(string)
			switch {
			case status == http.StatusOK && !lost && random.IntN(20) == 0:
				continue // pretend that the response was lost
			case status == http.StatusOK:
			// the execution exists and has ended
			case lost && strings.Contains(fmt.Sprint(answer["__type"]), "ExecutionAlreadyExists"):
				v.again.Add(1)
				arn = strings.Replace(request["stateMachineArn"].(string), ":stateMachine:", ":execution:", 1) + ":" +
					request["name"].(string)
			default:
				v.t.Errorf("StartExecution: %d %v", status, answer)
			}
			v.accepted.Store(arn, true)
			v.started.Add(1)
			break
		}
		rest(time.Duration(random.IntN(20)) * time.Millisecond)
	}
}

// work is a worker for the activity.
func (v *tortured) work(stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(v.t.Context())
	defer cancel()
	go func() { <-stop; cancel() }()
	for ctx.Err() == nil {
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+v.address,
			strings.NewReader(`{"activityArn":"arn:aws:states:us-east-1:000000000000:activity:work"}`))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "AWSStepFunctions.GetActivityTask")
		a, err := (&http.Client{Timeout: 2 * time.Minute}).Do(r)
		if err != nil {
			rest(50 * time.Millisecond)
			continue
		}
		var task struct{ TaskToken string }
		_ = json.NewDecoder(a.Body).Decode(&task) // fails if the server was killed
		_ = a.Body.Close()
		v.succeed(task.TaskToken)
	}
}

// report answers the task tokens that arrive in the queue.
func (v *tortured) report(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		queue := "http://" + v.address + "/000000000000/tasks"
		_, answer, err := v.call("AmazonSQS.ReceiveMessage", map[string]any{"QueueUrl": queue,
			"MaxNumberOfMessages": 10})
		messages, _ := answer["Messages"].([]any)
		if err != nil || len(messages) == 0 {
			rest(50 * time.Millisecond)
			continue
		}
		for _, m := range messages {
			m, _ := m.(map[string]any)
			var body struct{ Token string }
			if json.Unmarshal([]byte(fmt.Sprint(m["Body"])), &body) == nil && v.succeed(body.Token) {
				_, _, _ = v.call("AmazonSQS.DeleteMessage", map[string]any{"QueueUrl": queue,
					"ReceiptHandle": m["ReceiptHandle"]}) // otherwise it is delivered again
			}
		}
	}
}

// succeed calls SendTaskSuccess until the server has received it.
func (v *tortured) succeed(token string) bool {
	for range 100 {
		if token == "" {
			return false
		}
		if _, _, err := v.states("SendTaskSuccess", map[string]any{"taskToken": token, "output": `{"ok":true}`}); err == nil {
			return true // or another call has answered it, or it has timed out
		}
		rest(50 * time.Millisecond)
	}
	return false
}

// hostile sends requests that no client should send. The server must neither end nor answer any of them with a server
// error.
func (v *tortured) hostile(random *rand.Rand, stop <-chan struct{}) {
	deep := strings.Repeat(`{"a":[`, 50_000)
	bodies := []string{"", "{", "null", "[]", deep, `{"stateMachineArn":1}`, strings.Repeat("x", 2<<20),
		`{"definition":"` + strings.Repeat(`\u0000`, 1000) + `"}`, "\xff\xfe{}", `{"input":"{","stateMachineArn":"a"}`}
	targets := []string{"AWSStepFunctions.StartExecution", "AWSStepFunctions.CreateStateMachine", "AWSStepFunctions.Nope",
		"AmazonSQS.SendMessage", "AmazonSQS.ReceiveMessage", "Logs_20140328.PutLogEvents", "", "x.y.z"}
	paths := []string{"/", "/../../etc/passwd", "/torture/%2e%2e/%2e%2e/x", "/torture?uploads", "/2015-03-31/functions",
		"/2015-03-31/functions/../x/invocations", "/_stepback/%00", "/" + strings.Repeat("a", 5000)}
	methods := []string{http.MethodPost, http.MethodGet, http.MethodPut, http.MethodDelete, "NONSENSE"}
	for {
		select {
		case <-stop:
			return
		default:
		}
		if random.IntN(4) == 0 {
			v.halfOpen(random)
			continue
		}
		r, err := http.NewRequestWithContext(v.t.Context(), methods[random.IntN(len(methods))], "http://"+v.address,
			strings.NewReader(bodies[random.IntN(len(bodies))]))
		if err != nil {
			v.t.Error(err)
			return
		}
		r.URL.Opaque = paths[random.IntN(len(paths))]
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", targets[random.IntN(len(targets))])
		a, err := v.client.Do(r)
		if err != nil {
			rest(20 * time.Millisecond)
			continue
		}
		text, _ := io.ReadAll(io.LimitReader(a.Body, 1<<20))
		_ = a.Body.Close()
		v.refused.Add(1)
		if a.StatusCode == http.StatusInternalServerError {
			v.t.Errorf("%s %s %s is answered %d %.300s", r.Method, r.URL.Opaque, r.Header.Get("X-Amz-Target"), a.StatusCode,
				text)
		}
		rest(5 * time.Millisecond)
	}
}

// halfOpen starts requests and disconnects.
func (v *tortured) halfOpen(random *rand.Rand) {
	c, err := (&net.Dialer{}).DialContext(v.t.Context(), "tcp", v.address)
	if err != nil {
		rest(20 * time.Millisecond)
		return
	}
	starts := []string{"", "POST / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
		"PUT /torture/k HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "\x00\x01\x02\x03\r\n\r\n"}
	_, _ = io.WriteString(c, starts[random.IntN(len(starts))]) // the response is not read
	_ = c.Close()
	v.refused.Add(1)
}

// footprint holds the resources that a server uses.
type footprint struct{ goroutines, files, memory int }

// footprint reads the server's footprint from its metrics.
func (v *tortured) footprint() footprint {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, "http://"+v.address+"/_stepback/metrics",
		http.NoBody)
	if err != nil {
		v.t.Fatal(err)
	}
	a, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	gauge := func(name string) int {
		m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(text)
		if m == nil {
			v.t.Fatalf("there is no %s", name)
		}
		n, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			v.t.Fatal(err)
		}
		return int(n)
	}
	return footprint{gauge("go_goroutines"), gauge("process_open_fds"), gauge("process_resident_memory_bytes")}
}

// settle waits until all acknowledged executions have ended, and checks that each ended as expected.
func (v *tortured) settle() {
	v.t.Helper()
	v.accepted.Range(func(arn, _ any) bool {
		for waited := 0; ; waited++ {
			_, answer, err := v.states("DescribeExecution", map[string]any{"executionArn": arn})
			if status := fmt.Sprint(answer["status"]); err == nil && status != "RUNNING" {
				if status != "SUCCEEDED" {
					v.t.Errorf("%s was acknowledged, and is answered %v", arn, answer)
				}
				return true
			}
			if waited > 600 {
				v.t.Errorf("%s does not come to its end", arn)
				return true
			}
			rest(50 * time.Millisecond)
		}
	})
}

// atRest waits until an idle server uses about as much as before, and fails the test if it does not.
func (v *tortured) atRest(before footprint) footprint {
	v.t.Helper()
	v.client.CloseIdleConnections()
	const slack = 40 // goroutines and descriptors used by connections and tables
	var now footprint
	for range 100 {
		now = v.footprint()
		if now.goroutines <= before.goroutines+slack && now.files <= before.files+slack &&
			now.memory <= 2*before.memory+64<<20 {
			return now
		}
		rest(200 * time.Millisecond)
	}
	v.t.Errorf("at rest the server takes %+v, and took %+v before", now, before)
	return now
}
