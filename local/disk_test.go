package local_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stepback/engine/journal/diskspace"
	"stepback/engine/journal/diskspace/diskspacetest"
	"stepback/local"
	"stepback/local/endpoint"
	"stepback/local/services/documents"
)

// healthOf returns what the platform says of its health.
func healthOf(t *testing.T, p *local.Platform) (h endpoint.Health) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.Endpoint+endpoint.HealthPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// storingCalls are requests that store something, one for each store and more for the services of documents/.
func storingCalls(p *local.Platform) []struct {
	service, operation string
	in                 map[string]any
} {
	return []struct {
		service, operation string
		in                 map[string]any
	}{
		{"dynamodb", "PutItem", map[string]any{"TableName": "items", "Item": map[string]any{"k": map[string]any{"S": "a"}}}},
		{"sqs", "SendMessage", map[string]any{"QueueUrl": p.Endpoint + "/000000000000/q", "MessageBody": "m"}},
		{"sns", "Publish", map[string]any{"TopicArn": "arn:aws:sns:us-east-1:000000000000:t", "Message": "m"}},
		{"ssm", "PutParameter", map[string]any{"Name": "p", "Value": "v", "Type": "String", "Overwrite": true}},
		{"secretsmanager", "PutSecretValue", map[string]any{"SecretId": "s", "SecretString": "v"}},
		{"eventbridge", "PutEvents", map[string]any{"Entries": []any{map[string]any{"Source": "s", "DetailType": "d",
			"Detail": "{}"}}}},
		{"scheduler", "CreateScheduleGroup", map[string]any{"Name": "g"}},
		{"cloudwatch", "PutMetricData", map[string]any{"Namespace": "n", "MetricData": []any{map[string]any{
			"MetricName": "m", "Value": 1.0}}}},
		{"kms", "CreateKey", nil},
		{"s3", "CreateBucket", map[string]any{"Bucket": "bucket"}},
		{"cloudwatchlogs", "CreateLogGroup", map[string]any{"logGroupName": "g"}},
		{"iam", "CreateUser", map[string]any{"UserName": "u"}},
		{"sfn", "StartExecution", map[string]any{
			"stateMachineArn": "arn:aws:states:us-east-1:000000000000:stateMachine:m"}},
	}
}

// TestEveryStoreRecoversFromAFullDisk fills the disk of a platform: requests that store something are refused, reading
// and deleting work, and the health names the stores and the reason. When there is space again, all of it works without
// a restart, and nothing acknowledged is lost.
func TestEveryStoreRecoversFromAFullDisk(t *testing.T) {
	t.Parallel()
	const reserve = 1 << 20
	disk := diskspacetest.New(100 * reserve)
	p := open(t, local.Config{Dir: filepath.Join(t.TempDir(), "data"),
		Space: diskspace.Config{FS: disk, Reserve: reserve}})
	s := stacksOf(t, p)
	do := func(service, operation string, in map[string]any) map[string]any {
		t.Helper()
		out, err := s.try(service, operation, in)
		if err != nil {
			t.Fatal(operation, err)
		}
		return out
	}
	do("dynamodb", "CreateTable", map[string]any{"TableName": "items", "BillingMode": "PAY_PER_REQUEST",
		"KeySchema":            []any{map[string]any{"AttributeName": "k", "KeyType": "HASH"}},
		"AttributeDefinitions": []any{map[string]any{"AttributeName": "k", "AttributeType": "S"}}})
	do("sqs", "CreateQueue", map[string]any{"QueueName": "q"})
	do("sqs", "SendMessage", map[string]any{"QueueUrl": p.Endpoint + "/000000000000/q", "MessageBody": "before"})
	do("sns", "CreateTopic", map[string]any{"Name": "t"})
	do("secretsmanager", "CreateSecret", map[string]any{"Name": "s", "SecretString": "v"})
	do("ssm", "PutParameter", map[string]any{"Name": "p", "Value": "before", "Type": "String"})
	do("sfn", "CreateStateMachine", map[string]any{"name": "m", "roleArn": role,
		"definition": `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`})
	if h := healthOf(t, p); h.Services["sqs"] != "running" || len(h.Stores) > 0 {
		t.Errorf("health %+v", h)
	}

	disk.SetFree(0)
	// a write that was accepted finds no space, and uses the reserve
	do("sqs", "DeleteMessageBatch", map[string]any{"QueueUrl": p.Endpoint + "/000000000000/q",
		"Entries": []any{map[string]any{"Id": "a", "ReceiptHandle": receiptOf(do, p)}}})
	for _, c := range storingCalls(p) {
		_, err := s.try(c.service, c.operation, c.in)
		if err == nil || !strings.Contains(err.Error(), "ServiceUnavailable") ||
			!strings.Contains(err.Error(), "The disk of the data directory is full") {
			t.Errorf("%s on a full disk: %v", c.operation, err)
		}
	}
	if out := do("ssm", "GetParameter", map[string]any{"Name": "p"}); !strings.Contains(asText(out), "before") {
		t.Errorf("read on a full disk: %v", out)
	}
	h := healthOf(t, p)
	for _, service := range []string{"sqs", "dynamodb", "ssm", "s3", "logs", "lambda", "stepfunctions", "sns"} {
		if h.Services[service] != "degraded" {
			t.Errorf("%s is %s on a full disk", service, h.Services[service])
		}
	}
	for _, store := range []string{"journal", "documents", "sqs", "dynamodb", "objects", "logs", "lambda"} {
		if !strings.HasPrefix(h.Stores[store], "the disk is full (1024 KB are free): new work is refused until 2048 KB") {
			t.Errorf("%s: %q", store, h.Stores[store])
		}
	}

	disk.SetFree(100 * reserve)
	for _, c := range storingCalls(p) {
		for {
			_, err := s.try(c.service, c.operation, c.in)
			if err == nil {
				break
			}
			if !strings.Contains(err.Error(), "ServiceUnavailable") || t.Context().Err() != nil {
				t.Fatalf("%s when there is space again: %v", c.operation, err)
			}
		}
	}
	if h := healthOf(t, p); h.Services["sqs"] != "running" || h.Services["dynamodb"] != "running" || len(h.Stores) > 0 {
		t.Errorf("health when there is space again: %+v", h)
	}
}

func asText(v any) string {
	text, _ := json.Marshal(v) // of maps, lists and texts
	return string(text)
}

// receiptOf receives a message and returns its receipt handle.
func receiptOf(do func(service, operation string, in map[string]any) map[string]any, p *local.Platform) any {
	out := do("sqs", "ReceiveMessage", map[string]any{"QueueUrl": p.Endpoint + "/000000000000/q"})
	list, _ := out["Messages"].([]any)
	m, _ := list[0].(map[string]any)
	return m["ReceiptHandle"]
}

// TestABrokenStoreEndsThePlatform lets the disk refuse writes for another reason than space: the platform reports that
// it cannot continue, and its health names the store.
func TestABrokenStoreEndsThePlatform(t *testing.T) {
	t.Parallel()
	disk := diskspacetest.New(100 << 20)
	p, err := local.Open(t.Context(), local.Config{Dir: filepath.Join(t.TempDir(), "data"),
		Space: diskspace.Config{FS: disk, Reserve: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }() // its stores have rejected writes
	s := stacksOf(t, p)
	if _, err := s.try("sqs", "CreateQueue", map[string]any{"QueueName": "q"}); err != nil {
		t.Fatal(err)
	}
	disk.Fail(syscall.EIO)
	if _, err := s.try("sqs", "CreateQueue", map[string]any{"QueueName": "other"}); err == nil {
		t.Error("a write that the disk refuses is acknowledged")
	}
	if err := <-p.Broken(); !errors.Is(err, documents.ErrBroken) || !errors.Is(err, syscall.EIO) {
		t.Errorf("the platform is broken by %v", err)
	}
	h := healthOf(t, p)
	if h.Services["sqs"] != "degraded" || h.Services["dynamodb"] != "running" ||
		!strings.Contains(h.Stores["sqs"], "nothing can be written any more") {
		t.Errorf("health %+v", h)
	}
}
