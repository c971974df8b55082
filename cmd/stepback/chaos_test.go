package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/cmd/stepback/exit"
)

// Faults can be added to a server, affect a request, and can be lifted.
func TestChaos(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	stepback(t, "chaos", "list", "--data", data).complains(t, exit.Failure, "no process serves "+data)
	stepback(t, "chaos", "lift", "--data", data).complains(t, exit.Usage, "give --all")
	url, stop := serving(t, data)
	defer stop()
	stepback(t, "chaos", "--data", data).ends(t, exit.OK, "no active faults")
	stepback(t, "chaos", "s3:ListBuckets:AccessDenid:1", "--data", data).complains(t, exit.Usage, "there is no error of s3:ListBuckets")
	stepback(t, "chaos", "s3:ListBuckets:custom=AccessDenied:1", "sqs:*:latency:1s-2s:5%", "--for", "1h", "--seed", "7",
		"--data", data).ends(t, exit.OK, "s3:ListBuckets:custom=AccessDenied:1")
	if _, err := clientsOf(url).objects.ListBuckets(t.Context(), &s3.ListBucketsInput{}); err == nil {
		t.Error("no fault befell the request")
	}
	file := filepath.Join(t.TempDir(), "chaos.yaml")
	if err := os.WriteFile(file, []byte("faults: [dynamodb:PutItm:throttle:1]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "chaos", "--file", file, "--data", data).complains(t, exit.Usage, ":1:10: faults[0]: fault", "did you mean PutItem?")
	if err := os.WriteFile(file, []byte("\ufeff{\"faults\": [\"dynamodb:PutItm:throttle:1\"]}\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "chaos", "--file", file, "--data", data).complains(t, exit.Usage, "faults[0]: fault", "did you mean PutItem?")
	stepback(t, "chaos", "list", "--data", data).ends(t, exit.OK, "1 of 1")
	stepback(t, "chaos", "lift", "9", "--data", data).complains(t, exit.Failure, "there is no fault 9")
	stepback(t, "chaos", "lift", "1", "--data", data).ends(t, exit.OK, "lifted: 1")
	stepback(t, "chaos", "list", "--json", "--data", data).ends(t, exit.OK, `"fault": "sqs:*:latency:1s-2s:0.05"`)
	stepback(t, "chaos", "lift", "--all", "--json", "--data", data).ends(t, exit.OK, `"lifted": 1`)
}
