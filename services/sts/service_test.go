package sts_test

import (
	"errors"
	"net/http/httptest"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awssts "github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/services/sts"
)

func client(t *testing.T, accessKey, region string) *awssts.Client {
	t.Helper()
	server := httptest.NewServer(sts.New(aws.Scope{Account: "000000000000", Region: "us-east-1"}, nil))
	t.Cleanup(server.Close)
	return awssts.New(awssts.Options{
		BaseEndpoint: sdk.String(server.URL), Region: region, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, "secret", ""),
	})
}

func TestGetCallerIdentity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ accessKey, region, account, arn string }{
		{"local", "us-east-1", "000000000000", "arn:aws:iam::000000000000:root"},
		{"123456789012", "eu-west-1", "123456789012", "arn:aws:iam::123456789012:root"},
		{"123456789012", "cn-north-1", "123456789012", "arn:aws-cn:iam::123456789012:root"},
	} {
		got, err := client(t, c.accessKey, c.region).GetCallerIdentity(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if *got.Account != c.account || *got.Arn != c.arn || *got.UserId != c.account {
			t.Errorf("%v: %s %s %s", c, *got.Account, *got.Arn, *got.UserId)
		}
	}
}

func TestOtherActionsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := client(t, "local", "us-east-1").GetSessionToken(t.Context(), nil)
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != "NotImplemented" ||
		e.ErrorMessage() != "The operation GetSessionToken of STS is not served here." {
		t.Errorf("got %v", err)
	}
}
