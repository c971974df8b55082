package stepback_test

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback"
	"stepback/local"
	"stepback/retrymetrics"
	"stepback/tasks/faults"
)

// The AWS APIs over HTTP, with injected faults and retry metrics: any SDK can be the client. All calls of the
// function are throttled, so the machine gives up after its retries.
func Example_endpoint() {
	ctx := context.Background()
	p, err := local.Open(ctx, local.Config{
		Clock:  stepback.VirtualTime(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)),
		Faults: []faults.Spec{{State: "Charge", Error: faults.Throttle, Rate: 1}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	client := sfn.New(sfn.Options{
		Region: "us-east-1", BaseEndpoint: &p.Endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
	m, err := client.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: aws.String("Orders"), RoleArn: aws.String("arn:aws:iam::000000000000:role/orders"),
		Definition: aws.String(`{"StartAt": "Charge", "States": {"Charge": {
			"Type": "Task",
			"Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "charge", "Payload.$": "$"},
			"Retry": [{"ErrorEquals": ["Lambda.TooManyRequestsException"], "IntervalSeconds": 2, "MaxAttempts": 4}],
			"End": true
		}}}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	started, err := client.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn})
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := p.Engine()
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := e.Wait(ctx, *started.ExecutionArn)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x.Status, x.Failure.Name, "after", x.Stop.Sub(x.Start))
	for _, point := range p.Metrics().Points() {
		if point.Metric == retrymetrics.RetryAttempts && point.Labels.ErrorType != "" {
			fmt.Println(point.Labels.State, point.Labels.ErrorType, point.Metric.Name(), point.Values[0])
		}
	}
	// Output:
	// FAILED Lambda.TooManyRequestsException after 30s
	// Charge Lambda.TooManyRequestsException RetryAttempts 4
}
