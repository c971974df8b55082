package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws/client"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// Calls a queue service at a given address by its model.
func ExampleClient_Call() {
	queues := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("called:", r.Header.Get("X-Amz-Target"))
		_, _ = fmt.Fprint(w, `{"QueueUrls":["http://queues/orders"]}`)
	}))
	defer queues.Close()
	sqs := model.MustFind("sqs")
	list, err := sqs.Operation("ListQueues")
	if err != nil {
		fmt.Println(err)
		return
	}
	input, err := jsonvalue.Parse(`{"QueueNamePrefix":"ord"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := &client.Client{
		Endpoint: queues.URL, Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("key",
			"secret", ""),
	}
	answer, err := c.Call(context.Background(), &client.Request{Service: sqs, Operation: list, Input: input})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Output.JSON())
	// Output:
	// called: AmazonSQS.ListQueues
	// {"QueueUrls":["http://queues/orders"]}
}
