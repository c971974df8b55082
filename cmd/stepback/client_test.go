package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/serve"
)

// ordersASL fails with Busy, waits for an hour and tries again; with ok it succeeds.
const ordersASL = `{"StartAt":"Which","States":{
	"Which":{"Type":"Choice","Choices":[{"Variable":"$.ok","BooleanEquals":true,"Next":"Done"},
		{"Variable":"$.fail","BooleanEquals":true,"Next":"Charge"}],"Default":"Refund"},
	"Charge":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:busy","End":true},
	"Refund":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:busy",
		"Retry":[{"ErrorEquals":["Busy"],"IntervalSeconds":3600,"MaxAttempts":3}],"End":true},
	"Done":{"Type":"Succeed"}}}`

// served starts a server with the state machine orders, whose function is always busy.
func served(t *testing.T) (data, url string) {
	t.Helper()
	definitions, data := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(definitions, "orders.asl.json"), []byte(ordersASL), 0o600); err != nil {
		t.Fatal(err)
	}
	url, stop := servingAs(t, &serve.Serve{Data: data, Watch: definitions,
		Lambda: []string{`busy=echo 'Busy: try later' >&2; exit 1`}})
	t.Cleanup(stop)
	return data, url
}

// awaits repeats a command line until its standard output contains a text.
func awaits(t *testing.T, text string, args ...string) said {
	t.Helper()
	for {
		s := stepback(t, args...)
		if strings.Contains(s.out, text) {
			return s
		}
		wait(t)
	}
}

// The client verbs inspect a running server by its data directory and by its address, act on it, and inspect the
// directory again when no server has it open.
func TestClientVerbs(t *testing.T) {
	t.Parallel()
	data, url := served(t)
	for name, at := range map[string][]string{"a": {"--data", data}, "b": {"--endpoint", url}} {
		run := func(args ...string) said { return stepback(t, append(args, at...)...) }
		awaits(t, "orders", append([]string{"machines"}, at...)...).ends(t, 0, "orders STANDARD", ":stateMachine:orders")
		run("start", "orders", "--name", "ok-"+name, "--input", `{"ok":true}`, "--wait").ends(t, 0, `{"ok":true}`)
		run("start", "orders", "--name", "bad-"+name, "--input", `{"ok":false,"fail":true}`, "--wait").complains(t, 1,
			"FAILED", "error: Busy", "cause: ")
		run("start", "orders", "--name", "slow-"+name, "--input", `{"ok":false,"fail":false}`).ends(t, 0,
			":execution:orders:slow-"+name)
		run("start", "nothing").complains(t, 1, "there is no state machine nothing; there are orders")
		retrying := awaits(t, "slow-"+name, append([]string{"executions", "--retrying"}, at...)...)
		retrying.ends(t, 0, "Busy")
		if strings.Contains(retrying.out, "ok-") || strings.Contains(retrying.out, "bad-") {
			t.Errorf("%s", retrying.out)
		}
		run("executions", "--status", "failed", "--machine", "orders", "--error", "Busy", "--since", "1h").ends(t, 0,
			"bad-"+name+" orders FAILED")
		run("executions", "--status", "odd").complains(t, 2, "--status odd")
		s := run("executions", "--json")
		s.ends(t, 0)
		for line := range strings.Lines(s.out) {
			var x executions.Execution
			if err := json.Unmarshal([]byte(strings.ReplaceAll(line, `Date":"`, `X":"`)), &x); err != nil || x.ARN == "" {
				t.Errorf("%v: %s", err, line)
			}
		}
		run("describe", "slow-"+name).ends(t, 0, "RUNNING", "Refund", "attempt 1 of 4 failed with Busy", "Busy")
		run("describe", "bad-"+name).ends(t, 0, "can be redriven: stepback redrive bad-"+name, "error: Busy")
		run("describe", "bad-"+name, "--json").ends(t, 0, `"failedAttempts": 1`, `"latestError": "Busy"`)
		run("history", "bad-"+name, "--follow").ends(t, 0, "TaskStateEntered Charge", "ExecutionFailed Busy")
		run("mapruns", "ok-"+name).ends(t, 0)
		run("activities").ends(t, 0)
		run("stop", "slow-"+name, "--cause", "enough", "--dry-run").ends(t, 0, "would be stopped")
		run("stop", "slow-"+name, "--reason", "Enough", "--cause", "enough").ends(t, 0, "stopped")
		run("describe", "slow-"+name).ends(t, 0, "ABORTED", "error: Enough")
		run("stop", "slow-"+name, "--dry-run").ends(t, 1, "not stopped: it has ended: ABORTED")
		run("stop", "slow-"+name).ends(t, 1, "not stopped: it has ended: ABORTED")
		run("redrive", "bad-"+name, "--json").ends(t, 0, `"done":true`)
		run("redrive", "ok-"+name).ends(t, 1, "not redriven: ExecutionNotRedrivable")
		run("redrive").complains(t, 2, "name executions, or select some")
		run("redrive", "ok-"+name, "--rate", "0").complains(t, 2, "--rate 0: give executions per second, such as 20, or auto")
		run("redrive", "ok-"+name, "--rate", "auto").ends(t, 1, "not redriven: ExecutionNotRedrivable")
		run("send-task-success", "nonsense").complains(t, 1, "InvalidToken")
		run("send-task-failure", "nonsense", "--error", "E").complains(t, 1, "InvalidToken")
		run("describe", "nobody").complains(t, 1, `no execution is called "nobody"`)
	}
	for _, path := range []string{"/_stepback/metrics", "/metrics"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if !strings.Contains(string(body), `stepback_executions_succeeded_total{state_machine="orders"} 2`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	stepback(t, "dashboard", "grafana", "--state-machine", "orders").ends(t, 0, "stepback_task_attempts_total")
	stepback(t, "names", "machines", "--data", data).ends(t, 0, "orders\n")
	stepback(t, "names", "executions", "--data", data).ends(t, 0, "ok-a\n")
	stepback(t, "names", "machines", "--data", t.TempDir()).ends(t, 0)
	stepback(t, "machines", "--aws", "--endpoint", url).complains(t, 2, "exclude each other")
}

// Without a server, the client verbs can read a directory but refuse to act on it.
func TestClientVerbsWithoutAServer(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "kept")
	file := filepath.Join(t.TempDir(), "orders.asl.json")
	if err := os.WriteFile(file, []byte(ordersASL), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		stepback(t, "exec", file, "--data", data, "--name", name, "--input", `{"ok":true}`).ends(t, 0)
	}
	stepback(t, "exec", file, "--data", data, "--name", "bad", "-q", "--input", `{"ok":false,"fail":true}`, "--lambda",
		"busy=echo 'Busy: no' >&2; exit 1").ends(t, 1)
	stepback(t, "machines", "--data", data).ends(t, 0, "orders STANDARD")
	stepback(t, "executions", "--data", data).ends(t, 0, "first orders SUCCEEDED", "second orders SUCCEEDED",
		"bad orders FAILED")
	stepback(t, "describe", "bad", "--data", data).ends(t, 0, "FAILED", "Charge Task 1 1 1")
	stepback(t, "history", "first", "--data", data).ends(t, 0, "ExecutionSucceeded")
	stepback(t, "start", "orders", "--data", data).complains(t, 1, "no process serves "+data+": start stepback serve --data ")
	stepback(t, "logs", "busy", "--follow", "--data", data).complains(t, 1, "no process serves ")
	stepback(t, "executions", "--data", filepath.Join(data, "none")).complains(t, 1, "there is no journal in ")
}
