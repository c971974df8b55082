package awssdk

import (
	"testing"

	"stepback/asl/jsonvalue"
)

func TestQueueURLsHavePaths(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"QueueUrl":"orders"}`: "",
		`{"QueueUrl":"https://sqs.us-east-1.amazonaws.com/1/orders"}`: "",
		`{"QueueUrl":"http://orders"}`:                                "SQS.SdkClientException: Unable to execute HTTP request: orders: Name or service not known",
		`{"QueueUrl":""}`:                                             "",
		`{}`:                                                          "",
	} {
		v, err := jsonvalue.Parse(params)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := queueReached(v); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", params, got, want)
		}
	}
}
