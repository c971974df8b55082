package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"stepback/aws/client"
)

// dynamoDBAt returns a client of DynamoDB at a handler that does not wait between attempts.
func dynamoDBAt(t *testing.T, handler http.HandlerFunc) *client.Named {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	n, err := client.NewNamed(t.Context(), awssdk.Config{
		Region: "eu-west-1", BaseEndpoint: &server.URL,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		Retryer: func() awssdk.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.RateLimiter = ratelimit.None
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			})
		},
	}, "dynamodb")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNamed(t *testing.T) {
	t.Parallel()
	calls := 0
	n := dynamoDBAt(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		body, _ := io.ReadAll(r.Body)
		var in struct{ TableName string }
		if err := json.Unmarshal(body, &in); err != nil || in.TableName != "t" {
			t.Errorf("request %s", body)
		}
		if calls < 3 {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"m"}`)
			return
		}
		_, _ = io.WriteString(w, `{"Item":{"n":{"N":"7"}}}`)
	})
	var out struct{ Item map[string]struct{ N string } }
	in := map[string]any{"TableName": "t", "Key": map[string]any{"k": map[string]string{"S": "x"}}}
	if err := n.Call(t.Context(), "GetItem", in, &out); err != nil || out.Item["n"].N != "7" || calls != 3 {
		t.Errorf("got %+v, %v after %d calls, want 7 after 3", out, err, calls)
	}
}

func TestNamedErrors(t *testing.T) {
	t.Parallel()
	calls := 0
	n := dynamoDBAt(t, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no"}`)
	})
	err := n.Call(t.Context(), "GetItem", map[string]any{"TableName": "t"}, nil)
	var operation *smithy.OperationError
	var api smithy.APIError
	if !errors.As(err, &operation) || operation.Service() != "DynamoDB" || operation.Operation() != "GetItem" ||
		!errors.As(err, &api) || api.ErrorCode() != "ConditionalCheckFailedException" || api.ErrorMessage() != "no" ||
		api.ErrorFault() != smithy.FaultClient || calls != 1 {
		t.Errorf("got %v after %d calls", err, calls)
	}
	if err := n.Call(t.Context(), "GetIten", nil, nil); err == nil || calls != 1 {
		t.Errorf("an unknown operation: %v after %d calls", err, calls)
	}
}

func TestNamedOnce(t *testing.T) {
	t.Parallel()
	calls := 0
	broken := func(w http.ResponseWriter, _ *http.Request) { calls++; w.WriteHeader(http.StatusBadGateway) }
	n := dynamoDBAt(t, broken).Once()
	if err := n.Call(t.Context(), "ListTables", nil, nil); err == nil || calls != 1 {
		t.Errorf("got %v after %d calls, want an error after 1", err, calls)
	}
}

func TestNamedWithoutAPlace(t *testing.T) {
	t.Parallel()
	wrong := "localhost"
	for name, cfg := range map[string]awssdk.Config{
		"no region": {}, "no URL": {Region: "eu-west-1", BaseEndpoint: &wrong},
	} {
		if _, err := client.NewNamed(t.Context(), cfg, "sns"); err == nil {
			t.Errorf("%s: a client was made", name)
		}
	}
	if _, err := client.NewNamed(t.Context(), awssdk.Config{Region: "eu-west-1"}, "sqss"); err == nil {
		t.Error("a client of an unknown service was made")
	}
}
