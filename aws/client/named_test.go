package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
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

// answering is an HTTP client that answers every request alike, without a network.
type answering struct {
	calls  int
	status int
	header http.Header
	body   string
}

func (a *answering) Do(*http.Request) (*http.Response, error) {
	a.calls++
	h := a.header.Clone()
	if h == nil {
		h = http.Header{}
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// A client without a retryer of its own retries as the SDK's client of the service: waits are those of the SDK of
// November 2026.
func TestNamedRetriesLikeTheSDK(t *testing.T) {
	t.Parallel()
	const throttled = `{"__type":"com.amazonaws.sqs#RequestThrottled","message":"m"}`
	endpoint := "http://localhost:1"
	for name, c := range map[string]struct {
		service, operation string
		most               int // RetryMaxAttempts
		answer             answering
		attempts           int
		least, longest     time.Duration
	}{
		"an error":              {"sqs", "ListQueues", 0, answering{status: 503}, 3, 0, 150 * time.Millisecond},
		"DynamoDB":              {"dynamodb", "ListTables", 0, answering{status: 503}, 4, 0, 175 * time.Millisecond},
		"attempts are set":      {"dynamodb", "ListTables", 2, answering{status: 503}, 2, 0, 25 * time.Millisecond},
		"no retry":              {"sqs", "ListQueues", 1, answering{status: 503}, 1, 0, 0},
		"a throttle":            {"sqs", "ListQueues", 0, answering{status: 400, body: throttled}, 3, 0, 3 * time.Second},
		"429 without an error":  {"sqs", "ListQueues", 0, answering{status: 429}, 3, 0, 3 * time.Second},
		"429 of another error":  {"sqs", "ListQueues", 0, answering{status: 429, body: `{"__type":"Whatever"}`}, 3, 0, 3 * time.Second},
		"a pause is asked for":  {"sqs", "ListQueues", 2, answering{status: 400, body: throttled, header: http.Header{"X-Amz-Retry-After": {"3000"}}}, 2, 3 * time.Second, 3 * time.Second},
		"a long pause":          {"sqs", "ListQueues", 2, answering{status: 503, header: http.Header{"X-Amz-Retry-After": {"3600000"}}}, 2, 5 * time.Second, 5050 * time.Millisecond},
		"an impossible pause":   {"sqs", "ListQueues", 2, answering{status: 503, header: http.Header{"X-Amz-Retry-After": {"soon"}}}, 2, 0, 50 * time.Millisecond},
		"a negative pause":      {"sqs", "ListQueues", 2, answering{status: 503, header: http.Header{"X-Amz-Retry-After": {"-9"}}}, 2, 0, 50 * time.Millisecond},
		"a permanent error":     {"sqs", "ListQueues", 0, answering{status: 400, body: `{"__type":"InvalidAddress"}`}, 1, 0, 0},
		"the request is denied": {"sqs", "ListQueues", 0, answering{status: 403}, 1, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			n, err := client.NewNamed(t.Context(), awssdk.Config{
				Region: "eu-west-1", BaseEndpoint: &endpoint, HTTPClient: &c.answer, RetryMaxAttempts: c.most,
				Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
			}, c.service)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			err = n.Call(t.Context(), c.operation, nil, nil)
			if took := time.Since(began); err == nil || c.answer.calls != c.attempts || took < c.least ||
				took > c.longest {
				t.Errorf("%s: %d attempts in %s (%v), want %d in %s to %s", name, c.answer.calls, took, err, c.attempts,
					c.least, c.longest)
			}
		})
	}
}

// When the retry quota is empty, a long poll waits before it reports the failure; other operations do not.
func TestNamedPollsWaitWithoutQuota(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		endpoint := "http://localhost:1"
		down := &answering{status: 503, header: http.Header{"X-Amz-Retry-After": {"1000"}}}
		n, err := client.NewNamed(t.Context(), awssdk.Config{
			Region: "eu-west-1", BaseEndpoint: &endpoint, HTTPClient: down,
			Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		}, "sqs")
		if err != nil {
			t.Fatal(err)
		}
		for range 20 { // 35 retries of 14 tokens each
			_ = n.Call(t.Context(), "ListQueues", nil, nil)
		}
		if down.calls != 20+35 {
			t.Fatalf("%d attempts, want 55", down.calls)
		}
		for _, c := range []struct {
			operation string
			in        any
			want      time.Duration
		}{{"ListQueues", nil, 0}, {"ReceiveMessage", map[string]string{"QueueUrl": "http://q"}, time.Second}} {
			began := time.Now()
			_ = n.Call(t.Context(), c.operation, c.in, nil)
			if took := time.Since(began); took != c.want {
				t.Errorf("%s took %s, want %s", c.operation, took, c.want)
			}
		}
		if down.calls != 20+35+2 {
			t.Errorf("%d attempts, want 57", down.calls)
		}
	})
}
