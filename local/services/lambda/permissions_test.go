package lambda_test

import (
	"errors"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/smithy-go"
)

// refused returns the code and message of an API error.
func refused(t *testing.T, err error) string {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) {
		t.Fatalf("no error of the API: %v", err)
	}
	return api.ErrorCode() + ": " + api.ErrorMessage()
}

func TestPermissionsAreKept(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	create(t, c, "F", `echo 1`)
	name := sdk.String("F")
	added, err := c.AddPermission(t.Context(), &awslambda.AddPermissionInput{
		FunctionName: name, StatementId: sdk.String("s3"), Action: sdk.String("lambda:InvokeFunction"),
		Principal: sdk.String("s3.amazonaws.com"), SourceAccount: sdk.String("000000000000"),
		SourceArn: sdk.String("arn:aws:s3:::in"),
	})
	const statement = `{"Sid":"s3","Effect":"Allow","Principal":{"Service":"s3.amazonaws.com"},` +
		`"Action":"lambda:InvokeFunction","Resource":"arn:aws:lambda:us-east-1:000000000000:function:F",` +
		`"Condition":{"ArnLike":{"AWS:SourceArn":"arn:aws:s3:::in"},"StringEquals":{"AWS:SourceAccount":"000000000000"}}}`
	if err != nil || *added.Statement != statement {
		t.Fatalf("%+v, %v", added, err)
	}
	p, err := c.GetPolicy(t.Context(), &awslambda.GetPolicyInput{FunctionName: name})
	if err != nil || *p.Policy != `{"Version":"2012-10-17","Id":"default","Statement":[`+statement+`]}` {
		t.Fatalf("%+v, %v", p, err)
	}
	_, err = c.AddPermission(t.Context(), &awslambda.AddPermissionInput{FunctionName: name,
		StatementId: sdk.String("all"), Action: sdk.String("lambda:*"), Principal: sdk.String("111111111111"),
		RevisionId: sdk.String("another")})
	if got := refused(t, err); got != "PreconditionFailedException: The Revision Id provided does not match the latest Revision Id. Call the GetPolicy API to retrieve the latest Revision Id" {
		t.Error(got)
	}
	added, err = c.AddPermission(t.Context(), &awslambda.AddPermissionInput{FunctionName: name,
		StatementId: sdk.String("all"), Action: sdk.String("lambda:*"), Principal: sdk.String("111111111111"),
		RevisionId: p.RevisionId})
	if err != nil || !strings.Contains(*added.Statement, `"Principal":{"AWS":"arn:aws:iam::111111111111:root"}`) {
		t.Errorf("%+v, %v", added, err)
	}
	for _, id := range []string{"s3", "all"} {
		if _, err := c.RemovePermission(t.Context(), &awslambda.RemovePermissionInput{FunctionName: name,
			StatementId: &id}); err != nil {
			t.Error(err)
		}
	}
	_, err = c.GetPolicy(t.Context(), &awslambda.GetPolicyInput{FunctionName: name})
	if got := refused(t, err); got != "ResourceNotFoundException: The resource you requested does not exist." {
		t.Error(got)
	}
}

func TestPermissionsOfAnAliasGoWithIt(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	create(t, c, "F", `echo 1`)
	name, live := sdk.String("F"), sdk.String("live")
	put := func() {
		t.Helper()
		if _, err := c.CreateAlias(t.Context(), &awslambda.CreateAliasInput{FunctionName: name, Name: live,
			FunctionVersion: sdk.String("$LATEST")}); err != nil {
			t.Fatal(err)
		}
	}
	put()
	added, err := c.AddPermission(t.Context(), &awslambda.AddPermissionInput{
		FunctionName: sdk.String("arn:aws:lambda:us-east-1:000000000000:function:F:live"), StatementId: sdk.String("a"),
		Action: sdk.String("lambda:InvokeFunction"), Principal: sdk.String("*")})
	if err != nil || *added.Statement != `{"Sid":"a","Effect":"Allow","Principal":"*","Action":"lambda:InvokeFunction",`+
		`"Resource":"arn:aws:lambda:us-east-1:000000000000:function:F:live"}` {
		t.Fatalf("%+v, %v", added, err)
	}
	if _, err := c.GetPolicy(t.Context(), &awslambda.GetPolicyInput{FunctionName: name, Qualifier: live}); err != nil {
		t.Error(err)
	}
	_, err = c.GetPolicy(t.Context(), &awslambda.GetPolicyInput{FunctionName: name})
	if got := refused(t, err); got != "ResourceNotFoundException: The resource you requested does not exist." {
		t.Error(got)
	}
	if _, err := c.DeleteAlias(t.Context(), &awslambda.DeleteAliasInput{FunctionName: name, Name: live}); err != nil {
		t.Fatal(err)
	}
	put()
	_, err = c.GetPolicy(t.Context(), &awslambda.GetPolicyInput{FunctionName: name, Qualifier: live})
	if got := refused(t, err); got != "ResourceNotFoundException: The resource you requested does not exist." {
		t.Error(got)
	}
}

func TestPermissionsAreRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	create(t, c, "F", `echo 1`)
	add := func(function, qualifier, id, principal string) string {
		t.Helper()
		in := &awslambda.AddPermissionInput{FunctionName: &function, StatementId: &id,
			Action: sdk.String("lambda:InvokeFunction"), Principal: &principal}
		if qualifier != "" {
			in.Qualifier = &qualifier
		}
		if _, err := c.AddPermission(t.Context(), in); err != nil {
			return refused(t, err)
		}
		return ""
	}
	const arn = "arn:aws:lambda:us-east-1:000000000000:function:"
	for _, test := range []struct{ function, qualifier, id, principal, want string }{
		{"F", "", "a", "*", ""},
		{"F", "", "a", "*", "ResourceConflictException: The statement id (a) provided already exists. Please provide a new statement id, or remove the existing statement."},
		{"F", "$LATEST", "a", "*",
			"InvalidParameterValueException: We currently do not support adding policies for $LATEST."},
		{"F", "7", "a", "*", "ResourceNotFoundException: Function not found: " + arn + "F:7"},
		{"F", "no", "a", "*", "ResourceNotFoundException: Cannot find alias arn: " + arn + "F:no"},
		{"G", "", "a", "*", "ResourceNotFoundException: Function not found: " + arn + "G"},
		{"F", "", "b", "somebody", "InvalidParameterValueException: The provided principal was invalid. Please check the principal and try again."},
		{"F", "", "b", "arn:aws:iam::000000000000:role/" + strings.Repeat("x", 20<<10),
			"PolicyLengthExceededException: The final policy size (20851) is bigger than the limit (20480)."},
	} {
		if got := add(test.function, test.qualifier, test.id, test.principal); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
	_, err := c.RemovePermission(t.Context(), &awslambda.RemovePermissionInput{FunctionName: sdk.String("F"),
		StatementId: sdk.String("b")})
	if got := refused(t, err); got != "ResourceNotFoundException: Statement b is not found in resource policy." {
		t.Error(got)
	}
}

func TestUnsupportedMembersAreRefused(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	create(t, c, "F", `echo 1`)
	_, err := c.UpdateFunctionConfiguration(t.Context(), &awslambda.UpdateFunctionConfigurationInput{FunctionName: sdk.String("F"),
		CapacityProviderConfig: &types.CapacityProviderConfig{
			LambdaManagedInstancesCapacityProviderConfig: &types.LambdaManagedInstancesCapacityProviderConfig{
				CapacityProviderArn: sdk.String("arn:aws:lambda:us-east-1:000000000000:capacity-provider:p")}}})
	if got := refused(t, err); got != "NotImplemented: UpdateFunctionConfiguration: the member CapacityProviderConfig is not supported; "+
		"docs/services.md lists what this server supports" {
		t.Error(got)
	}
}
