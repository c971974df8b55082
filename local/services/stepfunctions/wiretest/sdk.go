package wiretest

import (
	"context"
	"errors"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Client returns an SDK client of a server, for an account and a region.
func Client(url, account, region string) *sfn.Client {
	return sfn.New(sfn.Options{
		BaseEndpoint: sdk.String(url), Region: region, Credentials: credentials.NewStaticCredentialsProvider(account,
			"secret", ""),
		RetryMaxAttempts: 1,
		// The SDK adds a prefix to the host of StartSyncExecution.
		APIOptions: []func(*middleware.Stack) error{func(s *middleware.Stack) error {
			return s.Initialize.Add(middleware.InitializeMiddlewareFunc("PlainHost",
				func(ctx context.Context, in middleware.InitializeInput,
					next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
					return next.HandleInitialize(smithyhttp.SetHostnameImmutable(ctx, true), in)
				}), middleware.Before)
		}},
	})
}

// Create creates a state machine and returns its ARN.
func Create(t *testing.T, c *sfn.Client, name, definition string, kind types.StateMachineType) *string {
	t.Helper()
	m, err := c.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: &name, Definition: &definition, RoleArn: sdk.String(Role), Type: kind,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m.StateMachineArn
}

// Refused checks that an error has type E and contains message.
func Refused[E error](t *testing.T, err error, message string) {
	t.Helper()
	var e E
	if !errors.As(err, &e) || !strings.Contains(err.Error(), message) {
		t.Errorf("got %v, want a %T: %s", err, e, message)
	}
}

// Ended waits for the end of an execution and returns its description.
func Ended(t *testing.T, c *sfn.Client, arn *string) *sfn.DescribeExecutionOutput {
	t.Helper()
	for {
		d, err := c.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: arn})
		if err != nil {
			t.Fatal(err)
		}
		if d.Status != types.ExecutionStatusRunning {
			return d
		}
	}
}
