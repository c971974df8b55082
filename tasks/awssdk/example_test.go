package awssdk_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"stepback/engine"
	"stepback/tasks/awssdk"
)

// A queue service somewhere, which tasks reach because a variable says so.
func ExampleIntegrations() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.Header.Get("X-Amz-Target"), string(body))
		_, _ = io.WriteString(w, `{"MessageId":"1"}`)
	}))
	defer server.Close()
	variables := map[string]string{"SQS_ENDPOINT": server.URL}
	caller := &awssdk.Caller{Account: "123456789012", Region: "us-east-1"}
	caller.Endpoints.Getenv = func(name string) string { return variables[name] }

	all, _ := awssdk.Integrations(caller)
	for _, service := range []string{"aws-sdk:sqs", "aws-sdk:sns"} {
		result, err := all["aws-sdk"].Invoke(context.Background(), &engine.Task{
			Service: service, Action: "sendMessage", Parameters: `{"QueueUrl":"q","MessageBody":{"order":7}}`,
		})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(result.Text())
	}
	// Output:
	// AmazonSQS.SendMessage {"MessageBody":"{\"order\":7}","QueueUrl":"q"}
	// {"MessageId":"1"}
	// Sns.SdkClientException: Unable to execute HTTP request: no endpoint for SNS is configured; set SNS_ENDPOINT or AWS_ENDPOINT_URL_SNS to its URL
}
