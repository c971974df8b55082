package sfnexecutions_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/csvimport/sfnexecutions"
)

const machine = "arn:aws:states:us-east-1:123456789012:stateMachine:csv-import-dev"

// answering starts a Step Functions endpoint that gives the same response to every request, and records the last
// request in asked.
func answering(t *testing.T, status int, body string, asked *string) *sfnexecutions.Executions {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		*asked = r.Header.Get("X-Amz-Target") + " " + string(text)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return sfnexecutions.New(sfn.New(sfn.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(server.URL), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	}), machine)
}

func TestStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		started bool
		failed  bool
	}{
		"started": {200, `{"executionArn":"arn","startDate":1.0}`, true, false},
		"repeated": {400, `{"__type":"ExecutionAlreadyExists","message":"Execution Already Exists: 'arn'"}`, false,
			false},
		"refused": {400, `{"__type":"StateMachineDoesNotExist","message":"no such machine"}`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked string
			started, err := answering(t, c.status, c.body, &asked).Start(t.Context(), "users-1", `{"bucket":"b"}`)
			if started != c.started || (err != nil) != c.failed {
				t.Errorf("got %v, %v", started, err)
			}
			const want = `AWSStepFunctions.StartExecution {"input":"{\"bucket\":\"b\"}","name":"users-1","stateMachineArn":"` + machine + `"}`
			if asked != want {
				t.Errorf("asked %s\nwant  %s", asked, want)
			}
		})
	}
}

func TestFromEnvironmentWantsTheStateMachine(t *testing.T) {
	t.Parallel()
	if _, err := sfnexecutions.FromEnvironment(t.Context(), ""); err == nil {
		t.Error("no error")
	}
}
