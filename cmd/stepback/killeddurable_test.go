package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws/client"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/local/services/lambda/durabletest"
)

// effectsVariable makes this program the durable function of TestKilledDurableFunctions. It names the file to which the
// function's steps append what they do.
const effectsVariable = "STEPBACK_TEST_EFFECTS"

// killedSteps is the number of steps of an execution, of which every third runs at most once.
const killedSteps = 9

// once reports whether a step runs at most once; its first attempt is then its only one.
func once(step int) bool { return step%3 == 2 }

// serveEffects runs the function.
func serveEffects(file string) {
	lambda.Start(durabletest.Handler(durabletest.API(os.Getenv("AWS_ENDPOINT_URL")),
		func(x *durabletest.Execution, _ json.RawMessage) (any, error) {
			results := []json.RawMessage{}
			for n := range killedSteps {
				o := durabletest.StepOptions{AtMostOnce: once(n)}
				if !once(n) {
					o.Delay = func(int, *durabletest.Error) time.Duration { return time.Second }
				}
				result, err := x.Step("s"+strconv.Itoa(n), o, func(attempt int) (any, error) {
					rest(rand.N(20 * time.Millisecond)) // so that kills hit it before and after its effect
					defer func() { rest(rand.N(40 * time.Millisecond)) }()
					effect := fmt.Sprintf("%s %d %d %d", x.ARN, n, attempt, rand.Uint64())
					if err := appendLine(file, effect); err != nil {
						return nil, err
					}
					if n%4 == 0 && attempt == 1 {
						return nil, &durabletest.Error{Type: "Busy", Message: "the first attempt fails"}
					}
					return effect, nil
				})
				var failure *durabletest.Error
				switch {
				case err == nil:
				case !once(n) || !errors.As(err, &failure):
					return nil, err
				default: // its first attempt was its only one
					result = json.RawMessage(`"` + failure.Type + `"`)
				}
				results = append(results, result)
				if n == 3 {
					if err := x.Wait("pause", 1); err != nil {
						return nil, err
					}
				}
				if n == 5 {
					approved, err := x.Callback("approval", 0, 0)
					if err != nil {
						return nil, err
					}
					results = append(results, approved)
				}
			}
			return results, nil
		}))
}

// appendLine appends a line to a file with one write.
func appendLine(file, line string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line + "\n")
	return err
}

// TestKilledDurableFunctions kills a server in a separate process with SIGKILL at random instants while durable
// functions run, whose steps log their effects outside. In the end every execution has succeeded, with one result of
// each step; steps at most once have at most one effect, no step has an effect after a later one has begun, and each
// callback has the result that was acknowledged. STEPBACK_KILLS is the number of kills (make kill-durable),
// STEPBACK_SEED chooses the instants.
func TestKilledDurableFunctions(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it works in real time")
	}
	server, kills := beginKilled(t, 4, 2)
	k := &killedDurable{t: t, effects: filepath.Join(t.TempDir(), "effects"), started: map[string]bool{}, approved: map[string]string{}}
	caller, err := client.NewNamed(t.Context(), aws.Config{Region: "us-east-1", BaseEndpoint: aws.String("http://" + server.address),
		Credentials: credentials.NewStaticCredentialsProvider("000000000000", "local", ""), RetryMaxAttempts: 1}, "lambda")
	if err != nil {
		t.Fatal(err)
	}
	k.client = &executions.Client{Lambda: caller}
	k.deploy()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var loads sync.WaitGroup
	loads.Go(func() { k.start(ctx) })
	loads.Go(func() { k.approve(t.Context(), ctx) })
	for n := range kills {
		rest(time.Duration(100+server.random.IntN(1400)) * time.Millisecond)
		server.kill()
		server.begin()
		if n%20 == 19 {
			t.Logf("%d kills: %s", n+1, k.counts())
		}
	}
	stop()
	loads.Wait()
	k.check()
	server.kill()
	asProcess(t, "data", "check", "--data", server.data).ends(t, exit.OK, "problems: 0")
	t.Logf("%d kills: %s", kills, k.counts())
}

// killedDurable records what clients know of the executions of a server that is killed.
type killedDurable struct {
	t       *testing.T
	effects string
	client  *executions.Client

	mu       sync.Mutex
	started  map[string]bool   // ARNs that were acknowledged; true once the execution has ended
	approved map[string]string // results of callbacks that were acknowledged, by ARN
	running  int
}

func (k *killedDurable) counts() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return fmt.Sprintf("%d executions started, %d of them run, %d callbacks completed", len(k.started), k.running, len(k.approved))
}

// deploy creates the function, whose package starts this program.
func (k *killedDurable) deploy() {
	k.t.Helper()
	self, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	var code bytes.Buffer
	z := zip.NewWriter(&code)
	h := &zip.FileHeader{Name: "bootstrap"}
	h.SetMode(0o755)
	f, err := z.CreateHeader(h)
	if err == nil {
		_, err = f.Write([]byte("#!/bin/sh\nexec \"$PROGRAM\"\n"))
	}
	if err != nil || z.Close() != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(k.effects, nil, 0o600); err != nil {
		k.t.Fatal(err)
	}
	err = k.client.Lambda.Call(k.t.Context(), "CreateFunction", map[string]any{"FunctionName": "steps", "Runtime": "provided.al2023",
		"Handler": "bootstrap", "Role": "arn:aws:iam::000000000000:role/r", "Timeout": 60, "Code": map[string]any{"ZipFile": code.Bytes()},
		"Environment":   map[string]any{"Variables": map[string]string{effectsVariable: k.effects, "PROGRAM": self}},
		"DurableConfig": map[string]any{"ExecutionTimeout": 86400}}, nil)
	if err != nil {
		k.t.Fatal(err)
	}
}

// concurrently is the number of executions that run at a time.
const concurrently = 8

// start starts executions until ctx ends, each again until it is acknowledged.
func (k *killedDurable) start(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		for k.open() >= concurrently && ctx.Err() == nil {
			rest(20 * time.Millisecond)
		}
		for ctx.Err() == nil {
			var out struct {
				ARN string `json:"DurableExecutionArn"`
			}
			err := k.client.Lambda.Call(ctx, "Invoke", map[string]any{"FunctionName": "steps", "Qualifier": "$LATEST",
				"InvocationType": "Event", "DurableExecutionName": "x" + strconv.Itoa(n), "Payload": []byte("{}")}, &out)
			if err == nil {
				k.mu.Lock()
				k.started[out.ARN] = false
				k.running++
				k.mu.Unlock()
				break
			}
			rest(20 * time.Millisecond)
		}
	}
}

func (k *killedDurable) open() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.running
}

// approve completes the callbacks of executions, and notices which have ended, until loading has ended and none runs.
func (k *killedDurable) approve(ctx, loading context.Context) {
	for ctx.Err() == nil && (loading.Err() == nil || k.open() > 0) {
		k.mu.Lock()
		var arns []string
		for arn, ended := range k.started {
			if !ended {
				arns = append(arns, arn)
			}
		}
		k.mu.Unlock()
		for _, arn := range arns {
			k.look(ctx, arn)
		}
		rest(30 * time.Millisecond)
	}
}

// look completes the callback of an execution if it waits, and notes the execution's end.
func (k *killedDurable) look(ctx context.Context, arn string) {
	events, err := k.client.DurableHistory(ctx, arn)
	if err != nil {
		return // the server is away
	}
	if n := len(events); n > 0 && events[n-1].Type.Terminal() {
		k.mu.Lock()
		k.started[arn] = true
		k.running--
		k.mu.Unlock()
		return
	}
	for _, o := range executions.DurableOperations(executions.DurableTimeline(events)) {
		if o.Callback == "" || o.Status != durable.Started {
			continue
		}
		result := `"approved ` + strconv.FormatUint(rand.Uint64(), 10) + `"`
		if err := k.client.CallbackSuccess(ctx, o.Callback, result); err == nil {
			k.mu.Lock()
			if before, twice := k.approved[arn]; twice {
				k.t.Errorf("a callback of %s was completed with %s and with %s", arn, before, result)
			}
			k.approved[arn] = result
			k.mu.Unlock()
		}
	}
}

// effect is a line of the log of effects: one run of an attempt of a step.
type effect struct {
	step, attempt int
	line          string
}

// check checks all executions.
func (k *killedDurable) check() {
	k.t.Helper()
	text, err := os.ReadFile(k.effects)
	if err != nil {
		k.t.Fatal(err)
	}
	effects, interrupted, repeated := map[string][]effect{}, 0, 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		part := strings.Fields(line)
		step, _ := strconv.Atoi(part[1])
		attempt, _ := strconv.Atoi(part[2])
		effects[part[0]] = append(effects[part[0]], effect{step, attempt, line})
	}
	if len(k.started) == 0 {
		k.t.Error("no execution was started")
	}
	for arn := range effects {
		if _, ok := k.started[arn]; !ok {
			k.t.Logf("%s ran, and its start was not acknowledged", arn)
		}
	}
	for arn := range k.started {
		i, r := k.checkExecution(arn, effects[arn])
		interrupted, repeated = interrupted+i, repeated+r
	}
	k.t.Logf("%d effects; %d steps at most once were interrupted, %d effects of other steps were repeated", strings.Count(string(text), "\n"),
		interrupted, repeated)
}

// checkExecution checks one execution. It returns how many of its steps were interrupted, and how many effects were
// repeated.
func (k *killedDurable) checkExecution(arn string, effects []effect) (interrupted, repeated int) {
	k.t.Helper()
	d, err := k.client.DescribeDurable(k.t.Context(), arn)
	if err != nil || d.Status != durable.Succeeded || d.Result == nil {
		k.t.Errorf("%s is %+v, %v", arn, d, err)
		return 0, 0
	}
	events, err := k.client.DurableHistory(k.t.Context(), arn)
	if err != nil {
		k.t.Fatal(err)
	}
	var results []string
	if err := json.Unmarshal([]byte(*d.Result), &results); err != nil || len(results) != killedSteps+1 {
		k.t.Errorf("%s has the results %s, %v", arn, *d.Result, err)
		return 0, 0
	}
	if said, ok := k.approved[arn]; ok && `"`+results[6]+`"` != said {
		k.t.Errorf("%s: the callback's result is %s, and %s was acknowledged", arn, results[6], said)
	}
	results = slices.Delete(results, 6, 7)
	lines := map[string]bool{}
	perAttempt := map[[2]int]int{}
	for i, e := range effects {
		lines[e.line] = true
		perAttempt[[2]int{e.step, e.attempt}]++
		if i > 0 && e.step < effects[i-1].step {
			k.t.Errorf("%s: step %d had an effect after step %d", arn, e.step, effects[i-1].step)
		}
	}
	ends := map[string]int{}
	for i := range events {
		e := &events[i]
		ended := e.Type == history.DurableStepSucceeded || e.Type == history.DurableStepFailed
		if ended && !strings.Contains(e.Data, "NextAttemptDelaySeconds") {
			ends[e.Name]++
		}
	}
	for step, result := range results {
		if n := ends["s"+strconv.Itoa(step)]; n != 1 {
			k.t.Errorf("%s: step %d has ended %d times", arn, step, n)
		}
		for attempt := range 20 {
			if n := perAttempt[[2]int{step, attempt}]; n > 1 {
				if repeated += n - 1; once(step) {
					k.t.Errorf("%s: step %d had %d effects in its attempt %d", arn, step, n, attempt)
				}
			}
		}
		if once(step) && perAttempt[[2]int{step, 2}] > 0 {
			k.t.Errorf("%s: step %d ran twice", arn, step)
		}
		if once(step) && (result == durabletest.Interrupted || result == "Busy") {
			if result == durabletest.Interrupted {
				interrupted++
			}
			continue
		}
		if !lines[result] || !strings.HasPrefix(result, arn+" "+strconv.Itoa(step)+" ") {
			k.t.Errorf("%s: step %d has the result %q, which is no effect of it", arn, step, result)
		}
	}
	return interrupted, repeated
}
