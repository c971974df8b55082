package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

// reportInitError behaves like a runtime that fails to start.
func reportInitError() {
	body := `{"errorMessage":"no configuration","errorType":"Init.NoConfiguration"}`
	res, err := http.Post("http://"+os.Getenv("AWS_LAMBDA_RUNTIME_API")+"/2018-06-01/runtime/init/error",
		"application/json", strings.NewReader(body))
	if err == nil {
		res.Body.Close()
	}
	os.Exit(1)
}

func TestProcessesThatEndWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ handler, want string }{
		{"exit", `{"errorType":"Runtime.ExitError","errorMessage":"RequestId: ID Error: Runtime exited with error: exit status 1"}`},
		{"exit-zero", `{"errorType":"Runtime.ExitError","errorMessage":"RequestId: ID Error: Runtime exited without providing a reason"}`},
		{"kill", `{"errorType":"Runtime.ExitError","errorMessage":"RequestId: ID Error: Runtime exited with error: signal: killed"}`},
		{"init-exit", `{"errorType":"Runtime.ExitError","errorMessage":"RequestId: ID Error: Runtime exited with error: exit status 3"}`},
		{"init-error", `{"errorMessage":"no configuration","errorType":"Init.NoConfiguration"}`},
	} {
		t.Run(c.handler, func(t *testing.T) {
			t.Parallel()
			s := serve(t, process(c.handler), runner.Options{})
			for range 2 {
				out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"})
				if err != nil || strings.ReplaceAll(string(out.Payload), out.RequestID, "ID") != c.want ||
					out.FunctionError != "Unhandled" {
					t.Errorf("%s, %v\nwant %s", out.Payload, err, c.want)
				}
			}
		})
	}
}

func TestTheLogTellsOfAProcessThatEnded(t *testing.T) {
	t.Parallel()
	s := serve(t, process("exit"), runner.Options{})
	out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", LogType: "Tail"})
	log := strings.ReplaceAll(string(out.LogTail), out.RequestID, "ID")
	if err != nil || !strings.Contains(log,
		"\nRequestId: ID Error: Runtime exited with error: exit status 1\nRuntime.ExitError\nEND ") ||
		!strings.HasSuffix(log, "\tStatus: error\tError Type: Runtime.ExitError\n") {
		t.Errorf("%v, log\n%s", err, log)
	}
}

func TestAnInitThatTakesLongGoesOnInTheInvocation(t *testing.T) {
	t.Parallel()
	s := serve(t, process("echo"), runner.Options{InitTimeout: 1})
	out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", Payload: []byte(`7`)})
	if err != nil || string(out.Payload) != "7" {
		t.Errorf("%s, %v", out.Payload, err)
	}
	f := process("init-hang")
	f.Timeout = 20 * time.Millisecond
	s = serve(t, f, runner.Options{InitTimeout: 1})
	out, err = s.Invoke(t.Context(), &invocation.Request{FunctionName: "F", LogType: "Tail"})
	want := `{"errorType":"Sandbox.Timedout","errorMessage":"RequestId: ID Error: Task timed out after 0.02 seconds"}`
	if err != nil || strings.ReplaceAll(string(out.Payload), out.RequestID, "ID") != want ||
		!strings.Contains(string(out.LogTail), "INIT_REPORT Init Duration: 0.00 ms\tPhase: init\tStatus: timeout\n") {
		t.Errorf("%s, %v\n%s", out.Payload, err, out.LogTail)
	}
}

func TestAMissingBootstrapIsAnInvalidEntrypoint(t *testing.T) {
	t.Parallel()
	s := serve(t, runner.Function{Name: "F", Command: []string{"/nowhere/bootstrap"}}, runner.Options{})
	out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"})
	if err != nil || !strings.Contains(string(out.Payload), `"errorType":"Runtime.InvalidEntrypoint"`) ||
		!strings.Contains(string(out.Payload), "/nowhere/bootstrap") {
		t.Errorf("%s, %v", out.Payload, err)
	}
}

func TestAProcessIsReusedAndOneThatHangsIsKilled(t *testing.T) {
	t.Parallel()
	s := serve(t, process("pid"), runner.Options{})
	pids := map[string]bool{}
	for range 5 {
		out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"})
		if err != nil {
			t.Fatal(err)
		}
		pids[string(out.Payload)] = true
	}
	if len(pids) != 1 {
		t.Errorf("five calls in turn used the processes %v", pids)
	}

	f := process("hang")
	f.Timeout = 20 * time.Millisecond
	s = serve(t, f, runner.Options{})
	out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"})
	if err != nil || !strings.Contains(string(out.Payload), "Sandbox.Timedout") {
		t.Errorf("%s, %v", out.Payload, err)
	}
}

func TestAProcessKilledWhileIdleIsReplaced(t *testing.T) {
	t.Parallel()
	s := serve(t, process("pid"), runner.Options{})
	out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"})
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if err := json.Unmarshal(out.Payload, &pid); err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 3 { // whether or not the exit has been noticed yet
		out, err = s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"})
		if err != nil {
			t.Fatal(err)
		}
		if out.FunctionError == "" {
			break
		}
	}
	if out.FunctionError != "" {
		t.Errorf("%s", out.Payload)
	}
}

func TestTheEnvironmentOfAProcess(t *testing.T) {
	t.Parallel()
	s := serve(t, process("environ"), runner.Options{Region: "ap-northeast-1"})
	out, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"})
	want := `{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE":"128","AWS_LAMBDA_FUNCTION_NAME":"F","AWS_LAMBDA_FUNCTION_VERSION":"$LATEST","AWS_REGION":"ap-northeast-1","HOME":"","OWN":"x"}`
	if err != nil || string(out.Payload) != want {
		t.Errorf("%s, %v", out.Payload, err)
	}
}

// memoryLog stores logs and can wait for a text.
type memoryLog struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (l *memoryLog) WriteLog(_ runner.LogStream, lines []byte) {
	l.mu.Lock()
	l.text.Write(lines)
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
}

func (l *memoryLog) waitFor(ctx context.Context, text string) bool {
	for {
		l.mu.Lock()
		found := strings.Contains(l.text.String(), text)
		l.mu.Unlock()
		if found {
			return true
		}
		select {
		case <-l.more:
		case <-ctx.Done():
			return false
		}
	}
}

func TestWhatAProcessWritesIsLoggedAsItIs(t *testing.T) {
	t.Parallel()
	logs := &memoryLog{more: make(chan struct{}, 1)}
	s := serve(t, process("talk"), runner.Options{Logs: logs})
	if _, err := s.Invoke(t.Context(), &invocation.Request{FunctionName: "F"}); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if !logs.waitFor(t.Context(), "\nhello from "+stream+"\n") {
			t.Errorf("nothing from %s in\n%s", stream, logs.text.String())
		}
	}
	if !logs.waitFor(t.Context(), "Init Duration: ") {
		t.Errorf("no cold start in\n%s", logs.text.String())
	}
}
