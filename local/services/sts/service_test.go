package sts_test

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awssts "github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/sts"
)

const role = "arn:aws:iam::222222222222:role/jobs/Deploy"

// roles is a Roles with a single role.
type roles struct{}

func (roles) Trust(arn aws.ARN) (document, id string, found bool, err error) {
	return "{}", "AROAEXAMPLE", arn.String() == role, nil
}

func (roles) Signer(string, string) (arn, id string, found bool, err error) {
	return "", "", false, nil
}

// address serves STS with sessions in memory, and returns its address.
func address(t *testing.T) string {
	t.Helper()
	store, err := documents.Open("/documents", vfs.NewMem())
	if err != nil {
		t.Fatal(err)
	}
	c := clock.Virtual(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	server := httptest.NewServer(sts.New(sts.Options{Documents: store, Roles: roles{}, Clock: c,
		Scope: aws.Scope{Account: "000000000000", Region: "us-east-1"}}))
	t.Cleanup(func() {
		server.Close()
		c.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL
}

func client(t *testing.T, accessKey, region string) *awssts.Client {
	t.Helper()
	return at(address(t), accessKey, region)
}

func at(address, accessKey, region string) *awssts.Client {
	return awssts.New(awssts.Options{
		BaseEndpoint: sdk.String(address), Region: region, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(accessKey, "secret", ""),
	})
}

func TestAssumeRole(t *testing.T) {
	t.Parallel()
	where := address(t)
	got, err := at(where, "111111111111", "us-east-1").AssumeRole(t.Context(), &awssts.AssumeRoleInput{
		RoleArn: sdk.String(role), RoleSessionName: sdk.String("aws-cdk-ann")})
	if err != nil {
		t.Fatal(err)
	}
	if *got.AssumedRoleUser.Arn != "arn:aws:sts::222222222222:assumed-role/Deploy/aws-cdk-ann" ||
		*got.AssumedRoleUser.AssumedRoleId != "AROAEXAMPLE:aws-cdk-ann" ||
		!got.Credentials.Expiration.Equal(time.Date(2026, 11, 22, 13, 0, 0, 0, time.UTC)) {
		t.Errorf("assumed %+v until %s", got.AssumedRoleUser, got.Credentials.Expiration)
	}
	who, err := at(where, *got.Credentials.AccessKeyId, "us-east-1").GetCallerIdentity(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if *who.Arn != *got.AssumedRoleUser.Arn || *who.Account != "222222222222" {
		t.Errorf("the session is %s of %s", *who.Arn, *who.Account)
	}
	_, err = at(where, "111111111111", "us-east-1").AssumeRole(t.Context(), &awssts.AssumeRoleInput{
		RoleArn: sdk.String(role + "er"), RoleSessionName: sdk.String("ann")})
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != "AccessDenied" || e.ErrorMessage() != "User: arn:aws:iam::111111111111:root is "+
		"not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::222222222222:role/jobs/Deployer" {
		t.Error(err)
	}
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
	_, err := client(t, "local", "us-east-1").GetFederationToken(t.Context(), &awssts.GetFederationTokenInput{Name: sdk.String("ann")})
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != "NotImplemented" ||
		e.ErrorMessage() != "The operation GetFederationToken of STS is not served here. Those that are: stepback services sts, docs/services.md." {
		t.Errorf("got %v", err)
	}
}
