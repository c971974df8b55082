package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/smithy-go"

	"stepback/aws/client"
	"stepback/aws/loopback"
	"stepback/dashboards/cloudwatch"
)

// caller calls operations of services in this process, for the console.
type caller struct {
	platform *Platform
	targets  map[string]target
}

// target is a frequently called service with a simple protocol.
type target struct {
	handler     http.Handler
	prefix      string
	contentType string
}

// calling returns a caller of the services that the platform offers.
func (p *Platform) calling() *caller {
	return &caller{platform: p, targets: map[string]target{
		"states": {p.offeredBy("states"), "AWSStepFunctions.", "application/x-amz-json-1.0"},
		"logs":   {p.offeredBy("logs"), "Logs_20140328.", "application/x-amz-json-1.1"},
	}}
}

// serviceError is an error response of a service in JSON.
type serviceError struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

// Error implements error.
func (e *serviceError) Error() string { return fmt.Sprintf("%s: %s", e.Type, e.Message) }

// callTime limits the duration of an operation: TestState may call a task.
const callTime = 5 * time.Minute

func (c *caller) call(ctx context.Context, service, operation string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	to, ok := c.targets[service]
	if !ok {
		return c.byModel(ctx, service, operation, in, out)
	}
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, loopback.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("X-Amz-Target", to.prefix+operation)
	r.Header.Set("Content-Type", to.contentType)
	answer, err := loopback.Client(to.handler).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		refused := &serviceError{}
		if err := json.NewDecoder(answer.Body).Decode(refused); err != nil {
			return fmt.Errorf("%s of %s: status %d", operation, service, answer.StatusCode)
		}
		return refused
	}
	return json.NewDecoder(answer.Body).Decode(out)
}

// byModel calls an offered service, identified by its API model.
func (c *caller) byModel(ctx context.Context, model, operation string, in, out any) error {
	p := c.platform
	i := slices.IndexFunc(p.offered, func(s served) bool { return s.model == model })
	if i < 0 {
		return errors.New("no service " + model + " is offered")
	}
	named, err := client.NewNamed(ctx, awssdk.Config{
		Region: p.Scope.Region, BaseEndpoint: awssdk.String(loopback.URL),
		HTTPClient:  loopback.Client(p.offered[i].Handler),
		Credentials: credentials.NewStaticCredentialsProvider(p.Scope.Account, "local", ""),
	}, model)
	if err != nil {
		return err
	}
	err = named.Once().Call(ctx, operation, in, out)
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return &serviceError{api.ErrorCode(), api.ErrorMessage()}
	}
	return err
}

// cloudWatch returns the platform's CloudWatch as the source of dashboards; nil if it is not offered.
func (c *caller) cloudWatch() *cloudwatch.Source {
	if c.platform.CloudWatch == nil {
		return nil
	}
	return &cloudwatch.Source{
		Client: cloudwatch.ClientOf(awscloudwatch.New(awscloudwatch.Options{Region: c.platform.Scope.Region,
			BaseEndpoint: awssdk.String(loopback.URL),
			HTTPClient:   loopback.Client(c.platform.offeredBy("monitoring")), Retryer: awssdk.NopRetryer{},
			Credentials: credentials.NewStaticCredentialsProvider(c.platform.Scope.Account, "local", "")})),
		LogsOf: func(string) (cloudwatch.Logs, error) { return logsOf{c}, nil },
	}
}

// logsOf calls the platform's CloudWatch Logs.
type logsOf struct{ *caller }

// Call implements cloudwatch.Logs.
func (l logsOf) Call(ctx context.Context, operation string, in, out any) error {
	return l.call(ctx, "logs", operation, in, out)
}
