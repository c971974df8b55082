package sdkobjects

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Timeouts of one request. A whole body has no timeout, because a 100 MB file may take as long as the invocation.
const (
	connectTimeout  = 5 * time.Second
	responseTimeout = 30 * time.Second
)

// FromEnvironment returns a store over the client of [ClientFromEnvironment].
func FromEnvironment(ctx context.Context) (*Store, error) {
	client, err := ClientFromEnvironment(ctx)
	if err != nil {
		return nil, err
	}
	return New(client), nil
}

// ClientFromEnvironment builds the client from the AWS SDK's own variables (AWS_REGION, credentials,
// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL). If an endpoint is set, buckets are addressed by path, as local servers
// require. It makes only one attempt.
func ClientFromEnvironment(ctx context.Context) (*s3.Client, error) {
	cfg, err := config.LoadDefaultConfig(ctx,
		config.WithRetryMaxAttempts(1),
		config.WithHTTPClient(httpClient()),
	)
	if err != nil {
		return nil, fmt.Errorf("the AWS configuration cannot be loaded: %w", err)
	}
	custom := os.Getenv("AWS_ENDPOINT_URL_S3") != "" || os.Getenv("AWS_ENDPOINT_URL") != ""
	return s3.NewFromConfig(cfg, func(o *s3.Options) {
		if custom {
			o.UsePathStyle = true
			o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
			o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		}
	}), nil
}

func httpClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = connectTimeout }).
		WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = responseTimeout })
}
