package lambda_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"stepback/local/services/delivery"
	"stepback/local/services/lambda/functions"
)

const here = "arn:aws:lambda:us-east-1:000000000000:function:"

// delivered is a message that was sent to an ARN.
type delivered struct {
	to string
	delivery.Message
}

// serveWithDestinations serves the API and returns a channel of what is sent to destinations.
func serveWithDestinations(t *testing.T) (*awslambda.Client, <-chan delivered) {
	t.Helper()
	sent := make(chan delivered, 10)
	c, _ := serveWith(t, functions.Options{Deliver: func(_ context.Context, to string, m *delivery.Message) error {
		sent <- delivered{to, *m}
		return nil
	}})
	return c, sent
}

func TestEventInvokeConfigsAreKept(t *testing.T) {
	t.Parallel()
	c, _ := serveWithDestinations(t)
	create(t, c, "F", `echo 1`)
	name := sdk.String("F")
	put, err := c.PutFunctionEventInvokeConfig(t.Context(), &awslambda.PutFunctionEventInvokeConfigInput{
		FunctionName: name, MaximumRetryAttempts: sdk.Int32(1), DestinationConfig: &types.DestinationConfig{
			OnFailure: &types.OnFailure{Destination: sdk.String("arn:aws:sqs:us-east-1:000000000000:q")}}})
	if err != nil || *put.FunctionArn != here+"F:$LATEST" || *put.MaximumRetryAttempts != 1 ||
		put.MaximumEventAgeInSeconds != nil || time.Since(*put.LastModified) > time.Hour {
		t.Fatalf("%+v, %v", put, err)
	}
	if _, err := c.UpdateFunctionEventInvokeConfig(t.Context(), &awslambda.UpdateFunctionEventInvokeConfigInput{
		FunctionName: name, Qualifier: sdk.String("$LATEST"), MaximumEventAgeInSeconds: sdk.Int32(60)}); err != nil {
		t.Fatal(err)
	}
	got, err := c.GetFunctionEventInvokeConfig(t.Context(), &awslambda.GetFunctionEventInvokeConfigInput{
		FunctionName: name})
	if err != nil || *got.MaximumRetryAttempts != 1 || *got.MaximumEventAgeInSeconds != 60 ||
		*got.DestinationConfig.OnFailure.Destination != "arn:aws:sqs:us-east-1:000000000000:q" ||
		got.DestinationConfig.OnSuccess.Destination != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := c.PublishVersion(t.Context(), &awslambda.PublishVersionInput{FunctionName: name}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.PutFunctionEventInvokeConfig(t.Context(), &awslambda.PutFunctionEventInvokeConfigInput{
		FunctionName: name, Qualifier: sdk.String("1"), MaximumRetryAttempts: sdk.Int32(0)}); err != nil {
		t.Fatal(err)
	}
	list, err := c.ListFunctionEventInvokeConfigs(t.Context(), &awslambda.ListFunctionEventInvokeConfigsInput{
		FunctionName: name})
	if err != nil || len(list.FunctionEventInvokeConfigs) != 2 ||
		*list.FunctionEventInvokeConfigs[0].FunctionArn != here+"F:$LATEST" ||
		*list.FunctionEventInvokeConfigs[1].FunctionArn != here+"F:1" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := c.DeleteFunctionEventInvokeConfig(t.Context(), &awslambda.DeleteFunctionEventInvokeConfigInput{
		FunctionName: name}); err != nil {
		t.Error(err)
	}
	_, err = c.GetFunctionEventInvokeConfig(t.Context(),
		&awslambda.GetFunctionEventInvokeConfigInput{FunctionName: name})
	if got := refused(t, err); got != "ResourceNotFoundException: The function "+here+
		"F:$LATEST doesn't have an EventInvokeConfig" {
		t.Error(got)
	}
}

func TestEventInvokeConfigsAreRefused(t *testing.T) {
	t.Parallel()
	c, _ := serveWithDestinations(t)
	create(t, c, "F", `echo 1`)
	to := func(arn string) *types.DestinationConfig {
		return &types.DestinationConfig{OnSuccess: &types.OnSuccess{Destination: &arn}}
	}
	for _, test := range []struct {
		in   awslambda.PutFunctionEventInvokeConfigInput
		want string
	}{
		{awslambda.PutFunctionEventInvokeConfigInput{FunctionName: sdk.String("F")},
			"InvalidParameterValueException: You must specify at least one of error handling or destination setting."},
		{awslambda.PutFunctionEventInvokeConfigInput{FunctionName: sdk.String("G"), MaximumRetryAttempts: sdk.Int32(1)},
			"ResourceNotFoundException: The function doesn't exist."},
		{awslambda.PutFunctionEventInvokeConfigInput{FunctionName: sdk.String("F"), Qualifier: sdk.String("no"),
			MaximumRetryAttempts: sdk.Int32(1)}, "ResourceNotFoundException: The function doesn't exist."},
		{awslambda.PutFunctionEventInvokeConfigInput{FunctionName: sdk.String("F"), DestinationConfig: to(here + "F")},
			"InvalidParameterValueException: You can't specify the function as a destination for itself."},
		{awslambda.PutFunctionEventInvokeConfigInput{FunctionName: sdk.String("F"), DestinationConfig: to(here + "G")},
			"InvalidParameterValueException: The destination ARN " + here + "G is invalid."},
		{awslambda.PutFunctionEventInvokeConfigInput{FunctionName: sdk.String("F"), DestinationConfig: to("arn:aws:s3:::b")},
			"InvalidParameterValueException: Buckets take no records here; name a queue, a topic, a function or an event bus instead of arn:aws:s3:::b."},
		{awslambda.PutFunctionEventInvokeConfigInput{FunctionName: sdk.String("F"), MaximumRetryAttempts: sdk.Int32(3)},
			"ValidationException: 1 validation error detected: Value '3' at 'maximumRetryAttempts' failed to satisfy constraint: Member must have value less than or equal to 2"},
	} {
		_, err := c.PutFunctionEventInvokeConfig(t.Context(), &test.in)
		if got := refused(t, err); got != test.want {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
	_, err := c.UpdateFunctionEventInvokeConfig(t.Context(), &awslambda.UpdateFunctionEventInvokeConfigInput{
		FunctionName: sdk.String("F"), MaximumRetryAttempts: sdk.Int32(1)})
	if got := refused(t, err); got != "ResourceNotFoundException: The function "+here+
		"F:$LATEST doesn't have an EventInvokeConfig" {
		t.Error(got)
	}
}

func TestDestinationsGetRecords(t *testing.T) {
	t.Parallel()
	c, sent := serveWithDestinations(t)
	create(t, c, "succeeds", `echo 7`)
	create(t, c, "fails", `kill $$`)
	const queue, bus = "arn:aws:sqs:us-east-1:000000000000:q", "arn:aws:events:us-east-1:000000000000:event-bus/default"
	if _, err := c.UpdateFunctionConfiguration(t.Context(), &awslambda.UpdateFunctionConfigurationInput{
		FunctionName: sdk.String("fails"), DeadLetterConfig: &types.DeadLetterConfig{TargetArn: sdk.String(queue)},
	}); err != nil {
		t.Fatal(err)
	}
	next := func(name string) (d delivered, record map[string]any) {
		t.Helper()
		select {
		case d = <-sent:
		case <-t.Context().Done():
			t.Fatalf("nothing was sent of %s", name)
		}
		if err := json.Unmarshal([]byte(d.Body), &record); err != nil {
			t.Fatalf("%v: %s", err, d.Body)
		}
		return d, record
	}
	for _, name := range []string{"succeeds", "fails"} {
		if _, err := c.PutFunctionEventInvokeConfig(t.Context(), &awslambda.PutFunctionEventInvokeConfigInput{
			FunctionName: &name, MaximumRetryAttempts: sdk.Int32(0), DestinationConfig: &types.DestinationConfig{
				OnSuccess: &types.OnSuccess{Destination: sdk.String(queue)},
				OnFailure: &types.OnFailure{Destination: sdk.String(bus)}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: &name, Payload: []byte(`{"a":1}`),
			InvocationType: types.InvocationTypeEvent}); err != nil {
			t.Fatal(err)
		}
		d, record := next(name)
		about, _ := record["requestContext"].(map[string]any)
		response, _ := record["responseContext"].(map[string]any)
		request, _ := json.Marshal(record["requestPayload"])
		if record["version"] != "1.0" || about["functionArn"] != here+name+":$LATEST" ||
			about["approximateInvokeCount"] != 1.0 || string(request) != `{"a":1}` || response["statusCode"] != 200.0 ||
			response["executedVersion"] != "$LATEST" {
			t.Errorf("%s: %s", name, d.Body)
		}
		if name == "succeeds" {
			if d.to != queue || about["condition"] != "Success" || record["responsePayload"] != 7.0 ||
				response["functionError"] != nil {
				t.Errorf("%s to %s", d.Body, d.to)
			}
			continue
		}
		payload, _ := record["responsePayload"].(map[string]any)
		if d.to != bus || about["condition"] != "RetriesExhausted" || payload["errorType"] != "Runtime.ExitError" ||
			response["functionError"] != "Unhandled" || d.Source != "lambda" ||
			d.DetailType != "Lambda Function Invocation Result - Failure" || len(d.Resources) != 2 ||
			d.Resources[0] != bus || d.Resources[1] != here+"fails:$LATEST" {
			t.Errorf("%s to %+v", d.Body, d)
		}
		letter, _ := next(name)
		if letter.to != queue || letter.Body != `{"a":1}` || letter.Attributes["RequestID"].String != about["requestId"] ||
			letter.Attributes["ErrorCode"].String != "200" || letter.Attributes["ErrorCode"].Type != "Number" ||
			letter.Attributes["ErrorMessage"].String != payload["errorMessage"] {
			t.Errorf("%+v", letter)
		}
	}
}
