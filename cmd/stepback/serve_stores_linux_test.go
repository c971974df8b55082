package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws/client"
	"stepback/cmd/stepback/serve"
	"stepback/cmd/stepback/terminal"
	"stepback/local/endpoint"
)

// storeOnDisk is a store of a data directory: how a client writes a numbered value, and how it finds it again.
type storeOnDisk struct {
	name  string
	write func(n int) (service, operation string, in map[string]any)
	read  func(n int) (service, operation string, in map[string]any)
}

var large = strings.Repeat("x", 3000)

var storesOnDisk = []storeOnDisk{
	{"dynamodb", func(n int) (string, string, map[string]any) {
		return "dynamodb", "PutItem", map[string]any{"TableName": "items", "Item": map[string]any{
			"k": map[string]any{"S": fmt.Sprint(n)}, "v": map[string]any{"S": large}}}
	}, func(n int) (string, string, map[string]any) {
		return "dynamodb", "GetItem", map[string]any{"TableName": "items",
			"Key": map[string]any{"k": map[string]any{"S": fmt.Sprint(n)}}}
	}},
	{"documents", func(n int) (string, string, map[string]any) {
		return "ssm", "PutParameter", map[string]any{"Name": fmt.Sprint("p", n), "Type": "String", "Value": large,
			"Overwrite": true}
	}, func(n int) (string, string, map[string]any) {
		return "ssm", "GetParameter", map[string]any{"Name": fmt.Sprint("p", n)}
	}},
	{"sqs", func(n int) (string, string, map[string]any) {
		return "sqs", "SendMessage", map[string]any{"QueueUrl": "/000000000000/q", "MessageBody": fmt.Sprint(n, large)}
	}, nil},
	{"objects", func(n int) (string, string, map[string]any) {
		return "s3", "PutObject", map[string]any{"Bucket": "bucket", "Key": fmt.Sprint(n), "Body": large}
	}, func(n int) (string, string, map[string]any) {
		return "s3", "HeadObject", map[string]any{"Bucket": "bucket", "Key": fmt.Sprint(n)}
	}},
	{"logs", func(n int) (string, string, map[string]any) {
		return "cloudwatchlogs", "CreateLogGroup", map[string]any{"logGroupName": fmt.Sprint("g", n)}
	}, func(n int) (string, string, map[string]any) {
		return "cloudwatchlogs", "DescribeLogStreams", map[string]any{"logGroupName": fmt.Sprint("g", n)}
	}},
}

// TestServeRecoversEveryStoreFromAFullDisk fills the disk of a server and frees it again. All stores refuse new data
// meanwhile, the health page says so, and afterwards all of them take data without a restart. What was acknowledged is
// there.
func TestServeRecoversEveryStoreFromAFullDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=48m"); err != nil {
		t.Skipf("a small file system cannot be mounted here (it takes root on Linux): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	said, ended := &transcript{came: make(chan struct{}, 1)}, make(chan error, 1)
	c := &serve.Serve{Listen: "127.0.0.1:0", Data: filepath.Join(disk, "data"), Account: "000000000000",
		Region: "us-east-1", Reserve: 4 << 20}
	go func() { ended <- c.Run(ctx, terminal.Streams{Out: io.Discard, Err: said}) }()
	address := "http://" + said.find(t, `http://(127\.0\.0\.1:\d+)\n`)[1]
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &address,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} }}
	call := func(service, operation string, in map[string]any) error {
		n, err := client.NewNamed(t.Context(), cfg, service)
		if err != nil {
			t.Fatal(err)
		}
		return n.Call(t.Context(), operation, in, &map[string]any{})
	}
	for _, made := range []struct {
		service, operation string
		in                 map[string]any
	}{
		{"dynamodb", "CreateTable", map[string]any{"TableName": "items", "BillingMode": "PAY_PER_REQUEST",
			"KeySchema":            []any{map[string]any{"AttributeName": "k", "KeyType": "HASH"}},
			"AttributeDefinitions": []any{map[string]any{"AttributeName": "k", "AttributeType": "S"}}}},
		{"sqs", "CreateQueue", map[string]any{"QueueName": "q"}},
		{"s3", "CreateBucket", map[string]any{"Bucket": "bucket"}},
	} {
		if err := call(made.service, made.operation, made.in); err != nil {
			t.Fatal(err)
		}
	}
	number, acknowledged := 0, make([][]int, len(storesOnDisk))
	write := func(i int) error {
		number++
		err := call(storesOnDisk[i].write(number))
		if err == nil {
			acknowledged[i] = append(acknowledged[i], number)
		}
		return err
	}
	for i := range storesOnDisk {
		if err := write(i); err != nil {
			t.Fatal(err)
		}
	}

	free := fill(t, disk, "filler")
	for i := 0; ; i = (i + 1) % len(storesOnDisk) { // until one has found the disk full
		if err := write(i); err != nil && strings.Contains(err.Error(), "The disk of the data directory is full") {
			break
		}
		if number > 100_000 {
			t.Fatal("the disk does not become full")
		}
	}
	for i, s := range storesOnDisk {
		if err := write(i); err == nil || !strings.Contains(err.Error(), "ServiceUnavailable") {
			t.Errorf("%s on a full disk: %v", s.name, err)
		}
		if h := healthAt(t, address); !strings.HasPrefix(h.Stores[s.name], "the disk is full") || h.Services["sqs"] != "degraded" {
			t.Errorf("health on a full disk: %+v", h)
		}
	}

	free()
	for i, s := range storesOnDisk {
		for err := write(i); err != nil; err = write(i) {
			if !strings.Contains(err.Error(), "ServiceUnavailable") || t.Context().Err() != nil {
				t.Fatalf("%s when there is space again: %v", s.name, err)
			}
		}
	}
	if h := healthAt(t, address); len(h.Stores) > 0 || h.Services["sqs"] != "running" {
		t.Errorf("health when there is space again: %+v", h)
	}
	for i, s := range storesOnDisk {
		if s.read == nil {
			continue
		}
		for _, n := range acknowledged[i] {
			if err := call(s.read(n)); err != nil {
				t.Errorf("%s %d was acknowledged: %v", s.name, n, err)
			}
		}
	}
	found := 0
	for {
		n, err := client.NewNamed(t.Context(), cfg, "sqs")
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]any{}
		if err := n.Call(t.Context(), "ReceiveMessage", map[string]any{"QueueUrl": "/000000000000/q",
			"MaxNumberOfMessages": 10}, &out); err != nil {
			t.Fatal(err)
		}
		list, _ := out["Messages"].([]any)
		if len(list) == 0 {
			break
		}
		found += len(list)
	}
	if found < len(acknowledged[2]) {
		t.Errorf("%d of %d messages are there", found, len(acknowledged[2]))
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// healthAt returns what a server says of its health.
func healthAt(t *testing.T, address string) (h endpoint.Health) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+endpoint.HealthPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&h); err != nil {
		t.Fatal(err)
	}
	return h
}
