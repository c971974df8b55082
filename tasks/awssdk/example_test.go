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

// Tasks call a queue service at the address in an environment variable.
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
	for _, task := range []*engine.Task{
		{Service: "aws-sdk:sqs", Action: "sendMessage", Parameters: `{"QueueUrl":"q","MessageBody":{"order":7}}`},
		{Service: "aws-sdk:sqs", Action: "sendMesage", Parameters: `{}`},
	} {
		result, err := all["aws-sdk"].Invoke(context.Background(), task)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(result.Text())
	}
	// Output:
	// AmazonSQS.SendMessage {"QueueUrl":"q","MessageBody":"{\"order\":7}"}
	// {"MessageId":"1"}
	// States.Runtime: The action sendMesage of the service sqs is not supported; did you mean sendMessage?
}
