package ecr_test

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecr/types"
	"github.com/aws/smithy-go"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/ecr"
)

// TestRepositories creates a repository as cdk bootstrap does, and deletes it.
func TestRepositories(t *testing.T) {
	t.Parallel()
	store, err := documents.Open("/documents", vfs.NewMem())
	if err != nil {
		t.Fatal(err)
	}
	virtual := clock.Virtual(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	server := httptest.NewServer(ecr.New(ecr.Options{Documents: store, Clock: virtual,
		Scope: aws.Scope{Account: "000000000000", Region: "us-east-1"}}).Handler())
	t.Cleanup(func() {
		server.Close()
		virtual.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, name := t.Context(), sdk.String("cdk-assets")
	c := client.New(client.Options{BaseEndpoint: &server.URL, Region: "eu-west-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("111111111111", "secret", "")})
	made, err := c.CreateRepository(ctx, &client.CreateRepositoryInput{RepositoryName: name,
		ImageTagMutability: types.ImageTagMutabilityImmutable, Tags: []types.Tag{{Key: name, Value: name}}})
	if err != nil {
		t.Fatal(err)
	}
	if r := made.Repository; *r.RepositoryArn != "arn:aws:ecr:eu-west-1:111111111111:repository/cdk-assets" ||
		*r.RepositoryUri != "111111111111.dkr.ecr.eu-west-1.amazonaws.com/cdk-assets" ||
		r.ImageTagMutability != types.ImageTagMutabilityImmutable {
		t.Errorf("made %+v", r)
	}
	_, err = c.CreateRepository(ctx, &client.CreateRepositoryInput{RepositoryName: name})
	refused(t, err, "RepositoryAlreadyExistsException")
	_, err = c.GetRepositoryPolicy(ctx, &client.GetRepositoryPolicyInput{RepositoryName: name})
	refused(t, err, "RepositoryPolicyNotFoundException")
	if _, err = c.SetRepositoryPolicy(ctx, &client.SetRepositoryPolicyInput{RepositoryName: name, PolicyText: sdk.String("{}")}); err != nil {
		t.Error(err)
	}
	if _, err = c.PutLifecyclePolicy(ctx, &client.PutLifecyclePolicyInput{RepositoryName: name,
		LifecyclePolicyText: sdk.String(`{"rules":[{"rulePriority":1,"selection":{"tagStatus":"untagged","countType":` +
			`"imageCountMoreThan","countNumber":1},"action":{"type":"expire"}}]}`)}); err != nil {
		t.Error(err)
	}
	all, err := c.DescribeRepositories(ctx, nil)
	if err != nil || len(all.Repositories) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	_, err = c.GetAuthorizationToken(ctx, nil)
	refused(t, err, "NotImplemented")
	if _, err := c.DeleteRepository(ctx, &client.DeleteRepositoryInput{RepositoryName: name, Force: true}); err != nil {
		t.Error(err)
	}
	_, err = c.DescribeRepositories(ctx, &client.DescribeRepositoriesInput{RepositoryNames: []string{*name}})
	refused(t, err, "RepositoryNotFoundException")
}

func refused(t *testing.T, err error, code string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code {
		t.Errorf("%v; want %s", err, code)
	}
}
