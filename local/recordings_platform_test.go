package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/local"
	"stepback/local/conformance"
	"stepback/tasks/awssdk"
)

// replayOnPlatform runs the program of a case on a platform of its own.
func replayOnPlatform(t *testing.T, c *conformance.Case) *conformance.Verdict {
	t.Helper()
	p := open(t, local.Config{Clock: clock.Virtual(time.Now().Truncate(time.Millisecond))})
	p.Clock.Hold()
	w := &recorded{p: p, caller: &awssdk.Caller{Account: p.Scope.Account, Region: p.Scope.Region,
		Endpoints: awssdk.Endpoints{Getenv: func(name string) string {
			return map[string]string{"AWS_ENDPOINT_URL": p.Endpoint}[name]
		}}}}
	names := &conformance.Names{Account: p.Scope.Account, Region: p.Scope.Region, Now: time.Now()}
	verdict, err := conformance.Replay(t.Context(), c, names, w)
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

// recorded runs the steps of a case on a platform, in virtual time that passes only while a case waits.
type recorded struct {
	p      *local.Platform
	caller *awssdk.Caller
}

// Background holds virtual time while a program runs alongside a case.
func (w *recorded) Background() (ended func()) {
	w.p.Clock.Hold()
	return w.p.Clock.Release
}

// Wait performs a wait step while virtual time passes.
func (w *recorded) Wait(ctx context.Context, s *conformance.Step, arn string) error {
	w.p.Clock.Release()
	defer w.p.Clock.Hold()
	switch s.Wait {
	case "execution-terminated":
		describe := &conformance.Step{Op: "DescribeExecution"}
		for ctx.Err() == nil {
			a, _, err := w.Call(ctx, describe, map[string]any{"executionArn": arn})
			if err != nil || a.Result["status"] != "RUNNING" {
				return err
			}
		}
		return ctx.Err()
	case "sleep":
		return w.p.Clock.Sleep(ctx, time.Duration(s.Seconds*float64(time.Second)))
	default: // an execution has started once StartExecution has returned
		return nil
	}
}

// Call performs an API call.
func (w *recorded) Call(ctx context.Context, s *conformance.Step, params map[string]any) (*conformance.Answer,
	map[string]any, error) {
	if s.Service != "" {
		return w.scene(ctx, s, params)
	}
	return post(ctx, w.p.Endpoint, s, params)
}

// scene performs a call of another service that prepares a case.
func (w *recorded) scene(ctx context.Context, s *conformance.Step, params map[string]any) (*conformance.Answer,
	map[string]any, error) {
	if s.Op == "PutObject" { // an aws-sdk task would encode the body as JSON
		return &conformance.Answer{Result: map[string]any{}}, nil, w.put(ctx, params)
	}
	if s.Op == "ReceiveMessage" {
		delete(params, "WaitTimeSeconds") // virtual time does not pass
	}
	text, err := json.Marshal(params)
	if err != nil {
		return nil, nil, err
	}
	result, err := awssdk.Integration{Caller: w.caller}.Invoke(ctx, &engine.Task{
		Service: "aws-sdk:" + sdkNames[s.Service], Action: strings.ToLower(s.Op[:1]) + s.Op[1:],
		Pattern:    engine.RequestResponse,
		Parameters: string(text),
	})
	if err != nil {
		return nil, nil, err
	}
	return conformance.Reply(http.StatusOK, []byte(result.Text()))
}

// put puts an object without a Content-Type, as the recorded client did.
func (w *recorded) put(ctx context.Context, params map[string]any) error {
	url := fmt.Sprintf("%s/%s/%s", w.p.Endpoint, params["Bucket"], params["Key"])
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, url, strings.NewReader(params["Body"].(string)))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+w.p.Scope.Account+"/20260101/"+w.p.Scope.Region+
		"/s3/aws4_request, SignedHeaders=host, Signature=0")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("PutObject: %s", answer.Status)
	}
	return errors.Join(err, answer.Body.Close())
}
