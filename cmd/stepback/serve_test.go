package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/serve"
	"stepback/cmd/stepback/terminal"
)

func TestServeRefusesAddresses(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"0.0.0.0:0":        "other machines could reach",
		":4566":            "other machines could reach",
		"example.com:4566": "other machines could reach",
		"127.0.0.1":        "give HOST:PORT",
	} {
		stepback(t, "serve", "--listen", listen, "--data", t.TempDir()).complains(t, exit.Usage, want)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	c := &serve.Serve{Listen: "127.0.0.1:0", Data: t.TempDir(), Account: "000000000000", Region: "us-east-1"}
	err := c.Run(ctx, terminal.Streams{Out: io.Discard, Err: io.Discard})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func post(t *testing.T, address, operation, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(a.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestServeGoesOn ends a server while an execution is running: the next server on the directory knows the state
// machine and completes the execution.
func TestServeGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const arn = "arn:aws:states:us-east-1:000000000000:execution:m:e"
	first, endFirst := serving(t, dir)
	post(t, strings.TrimPrefix(first, "http://"), "CreateStateMachine",
		`{"name":"m","roleArn":"arn:aws:iam::000000000000:role/r","tags":[{"key":"k","value":"v"}],"definition":`+
			`"{\"StartAt\":\"W\",\"States\":{\"W\":{\"Type\":\"Wait\",\"TimestampPath\":\"$.until\",\"End\":true}}}"}`)
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	post(t, strings.TrimPrefix(first, "http://"), "StartExecution",
		`{"stateMachineArn":"arn:aws:states:us-east-1:000000000000:stateMachine:m","name":"e","input":"{\"until\":\"`+
			until+`\"}"}`)
	endFirst()
	second, endSecond := serving(t, dir)
	for operation, want := range map[string]string{
		"DescribeExecution":   `"status":"RUNNING"`,
		"GetExecutionHistory": `"type":"WaitStateEntered"`,
	} {
		if got := post(t, strings.TrimPrefix(second, "http://"), operation, `{"executionArn":"`+arn+
			`"}`); !strings.Contains(got, want) {
			t.Errorf("%s: %s\nlacks %s", operation, got, want)
		}
	}
	tags := post(t, strings.TrimPrefix(second, "http://"), "ListTagsForResource",
		`{"resourceArn":"arn:aws:states:us-east-1:000000000000:stateMachine:m"}`)
	if !strings.Contains(tags, `{"key":"k","value":"v"}`) {
		t.Error(tags)
	}
	post(t, strings.TrimPrefix(second, "http://"), "StopExecution", `{"executionArn":"`+arn+`","error":"Enough"}`)
	endSecond()
	third, endThird := serving(t, dir)
	defer endThird()
	got := post(t, strings.TrimPrefix(third, "http://"), "GetExecutionHistory", `{"executionArn":"`+arn+`"}`)
	for _, want := range []string{`"ExecutionStarted"`, `"WaitStateEntered"`, `"ExecutionAborted"`} {
		if strings.Count(got, want) != 1 {
			t.Errorf("the history has not one %s: %s", want, got)
		}
	}
}

func TestServeNamesADirectoryThatItCannotWriteTo(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("this user can write everywhere; the trial of the release drops its rights")
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o555); err != nil {
		t.Fatal(err)
	}
	stepback(t, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(closed, "data")).complains(t, exit.Failure,
		"permission denied: name a directory that you can write to with --data DIR")
}
