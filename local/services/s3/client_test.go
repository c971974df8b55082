package s3

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
)

// Client returns an S3 client for the started server.
func (s *Server) Client(context.Context) *awss3.Client { return NewClient(s.Endpoint(), s.opts.Region) }

// NewClient returns an S3 client for a server at the URL endpoint. It reads nothing from the environment, so it never
// uses the developer's AWS profile. It does not retry: a failure in these tests would not go away by waiting.
func NewClient(endpoint, region string) *awss3.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConnsPerHost = 64
	return awss3.New(awss3.Options{
		BaseEndpoint:               aws.String(endpoint),
		Region:                     region,
		Credentials:                credentials.NewStaticCredentialsProvider("local", "local", ""),
		UsePathStyle:               true,
		HTTPClient:                 &http.Client{Transport: transport},
		Retryer:                    aws.NopRetryer{},
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	})
}
