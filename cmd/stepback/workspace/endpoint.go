package workspace

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"

	"stepback/cmd/stepback/exit"
)

// AWSConfig returns the SDK's configuration, for AWS or for an endpoint. An endpoint on this machine never receives
// the credentials of a real account.
func AWSConfig(ctx context.Context, endpoint string) (aws.Config, error) {
	var options []func(*config.LoadOptions) error
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return aws.Config{}, exit.With(exit.Usage,
				fmt.Errorf("the endpoint %q is not a URL like http://localhost:8083", endpoint))
		}
		options = append(options, config.WithBaseEndpoint(endpoint))
		if onThisMachine(u.Hostname()) {
			options = append(options, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("test",
				"test", "")))
		}
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return cfg, fmt.Errorf("the AWS configuration: %w", err)
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	return cfg, nil
}

// onThisMachine reports whether a host is this machine: localhost or a loopback address.
func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// SaidByAPI returns an API's error without the client's description of its request.
func SaidByAPI(err error) error {
	var said smithy.APIError
	if errors.As(err, &said) {
		return fmt.Errorf("%s: %s", said.ErrorCode(), said.ErrorMessage())
	}
	return err
}
