package awssdk

import (
	"strings"

	"stepback/asl/jsonvalue"
	"stepback/engine"
)

// queueReached refuses a QueueUrl that is a URL without a path: the client that Step Functions uses asks its host, and finds none. A mere
// name goes to the service, as it does there.
func queueReached(params jsonvalue.Value) error {
	queue, _ := params.Get("QueueUrl")
	_, host, ok := strings.Cut(queue.Text(), "://")
	if !ok || host == "" || strings.Contains(host, "/") {
		return nil
	}
	return &engine.TaskError{Name: "SQS.SdkClientException", Cause: "Unable to execute HTTP request: " + host + ": Name or service not known"}
}
