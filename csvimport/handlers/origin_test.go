package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"stepback/csvimport/process"
)

func invocation(ctx context.Context) context.Context {
	return lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: "8476a536",
		InvokedFunctionArn: "arn:aws:lambda:eu-west-1:123456789012:function:csv-import-prod-process"})
}

func nothing(process.Input, process.Output) []slog.Attr { return nil }

// Not parallel: it sets an environment variable.
func TestLogLinesNameRequestAndExecution(t *testing.T) {
	event := json.RawMessage(`{"run":"activity-1 2026-11-22T16:00:00Z","row":7}`)
	for machine, want := range map[string]string{
		"csv-import-prod": `"executionArn":"arn:aws:states:eu-west-1:123456789012:execution:csv-import-prod:activity-1"`,
		"":                `"execution":"activity-1"`,
	} {
		t.Setenv("STATE_MACHINE", machine)
		for _, failure := range []error{nil, errors.New("no")} {
			var out bytes.Buffer
			step := func(context.Context, process.Input) (process.Output, error) { return process.Output{}, failure }
			_, _ = wrap("ProcessSingleUserRecord", logTo(&out, ""), step, nothing)(invocation(t.Context()), event)
			for _, part := range []string{want, `"requestId":"8476a536"`} {
				if !strings.Contains(out.String(), part) {
					t.Errorf("%q: the line lacks %s: %s", machine, part, out.String())
				}
			}
		}
	}
}

// TestStepsEndBeforeTheirInvocation checks that the state machine sees the step's own error.
func TestStepsEndBeforeTheirInvocation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := time.Now().Add(50 * time.Millisecond)
		ctx, cancel := context.WithDeadline(t.Context(), end)
		defer cancel()
		step := func(ctx context.Context, _ process.Input) (process.Output, error) {
			if deadline, ok := ctx.Deadline(); !ok || !deadline.Before(end) {
				t.Errorf("the step may take until %v, the invocation ends at %v", deadline, end)
			}
			<-ctx.Done()
			return process.Output{}, ctx.Err()
		}
		_, err := wrap("ProcessSingleUserRecord", nil, step, nothing)(ctx, json.RawMessage(`{}`))
		var answer messages.InvokeResponse_Error
		if !errors.As(err, &answer) || answer.Type != "TimeoutError" {
			t.Errorf("error is %v, want TimeoutError", err)
		}
	})
}
