// Command gosdk calls every operation that stepback serve claims to serve, with the SDK for Go and the inputs of
// every.py. The SDK must be able to parse each response, and none may be a 5xx. run.sh runs it as gosdk INPUTS. It
// is a separate module, so that no other module depends on the clients of all services.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/xray"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// clients returns the SDK's clients by the names of the packages of the SDK for JavaScript.
func clients(c aws.Config) map[string]any {
	return map[string]any{
		"apigatewayv2": apigatewayv2.NewFromConfig(c), "cloudcontrol": cloudcontrol.NewFromConfig(c),
		"cloudformation": cloudformation.NewFromConfig(c), "cloudwatch": cloudwatch.NewFromConfig(c),
		"cloudwatch-logs": cloudwatchlogs.NewFromConfig(c), "dynamodb": dynamodb.NewFromConfig(c),
		"dynamodb-streams": dynamodbstreams.NewFromConfig(c), "ecr": ecr.NewFromConfig(c),
		"eventbridge": eventbridge.NewFromConfig(c), "iam": iam.NewFromConfig(c), "kms": kms.NewFromConfig(c),
		"lambda": lambda.NewFromConfig(c), "scheduler": scheduler.NewFromConfig(c),
		"s3":              s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = true }),
		"secrets-manager": secretsmanager.NewFromConfig(c), "sfn": sfn.NewFromConfig(c), "sns": sns.NewFromConfig(c),
		"sqs": sqs.NewFromConfig(c), "ssm": ssm.NewFromConfig(c), "sts": sts.NewFromConfig(c), "xray": xray.NewFromConfig(c),
	}
}

// request is an operation with its input, as written by every.py.
type request struct {
	Package, Operation string
	Input              map[string]any
}

// plain converts a value to the form that encoding/json reads into the SDK's types: bytes in base64, times as texts.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if text, ok := v["$blob"]; ok {
			return text
		}
		if text, ok := v["$time"]; ok {
			return text
		}
		for name, member := range v {
			v[name] = plain(member)
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}

var reader = reflect.TypeFor[io.Reader]()

// fill sets the members of an input. Streams become readers. A member that is a union, which JSON alone cannot
// represent, is omitted, so the SDK may reject the request.
func fill(input reflect.Value, members map[string]any) {
	for name, member := range members {
		field := input.Elem().FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, name) })
		if !field.IsValid() {
			continue
		}
		if field.Type() == reader {
			field.Set(reflect.ValueOf(strings.NewReader("{}")))
			continue
		}
		text, err := json.Marshal(plain(member))
		if err == nil {
			_ = json.Unmarshal(text, field.Addr().Interface()) // see above
		}
	}
}

// wrong returns what is wrong with a response; empty if nothing is.
func wrong(err error) string {
	var refusal smithy.APIError
	var answered *smithyhttp.ResponseError
	var unreadable *smithy.DeserializationError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &unreadable):
		return err.Error()
	case errors.As(err, &answered) && answered.HTTPStatusCode() >= 500:
		return err.Error()
	case errors.As(err, &refusal) && refusal.ErrorCode() != "" && refusal.ErrorCode() != "UnknownError":
		return ""
	case errors.As(err, &answered) && answered.HTTPStatusCode() == 304,
		!errors.As(err, &answered) && !errors.Is(err, context.DeadlineExceeded):
		return "" // rejected by the SDK itself
	}
	return err.Error()
}

// plainHosts sends operations to the endpoint without a host prefix: StartSyncExecution and TestState have separate
// hosts on AWS (sync-…), but not here.
func plainHosts(s *middleware.Stack) error {
	return s.Initialize.Add(middleware.InitializeMiddlewareFunc("PlainHosts", func(ctx context.Context,
		in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		return next.HandleInitialize(smithyhttp.DisableEndpointHostPrefix(ctx, true), in)
	}), middleware.Before)
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	var requests []request
	if err == nil {
		err = json.Unmarshal(text, &requests)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	all := clients(aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(os.Getenv("AWS_ENDPOINT_URL")),
		Credentials:      credentials.NewStaticCredentialsProvider("local", "local", ""),
		RetryMaxAttempts: 1, APIOptions: []func(*middleware.Stack) error{plainHosts}})
	count, failed, seen := 0, 0, map[string]bool{}
	for _, r := range requests {
		client, known := all[r.Package]
		if !known {
			fmt.Fprintf(os.Stderr, "  no client of %s\n", r.Package)
			failed++
			continue
		}
		method := reflect.ValueOf(client).MethodByName(r.Operation)
		if !method.IsValid() {
			continue // from another version of the model
		}
		input := reflect.New(method.Type().In(1).Elem())
		fill(input, r.Input)
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		out := method.Call([]reflect.Value{reflect.ValueOf(ctx), input})
		err, _ := out[1].Interface().(error)
		cancel()
		count++
		seen[r.Package] = true
		if what := wrong(err); what != "" {
			failed++
			fmt.Fprintf(os.Stderr, "  %s %s: %s\n", r.Package, r.Operation, what)
		}
	}
	fmt.Printf("  every operation of %d services, %d in all: %d answers cannot be read\n", len(seen), count, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
