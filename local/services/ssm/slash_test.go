package ssm_test

import (
	"context"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/ssm"

	"stepback/aws"
)

// A parameter without further slashes is found with and without the first one.
func TestFirstSlash(t *testing.T) {
	t.Parallel()
	c := newClient(t)
	ctx := t.Context()
	for _, name := range []string{"bare", "/slash"} {
		put(t, c, &client.PutParameterInput{Name: &name, Value: sdk.String("v"), Type: "String"})
	}
	for _, name := range []string{"bare", "/bare", "slash", "/slash"} {
		out, err := c.GetParameter(ctx, &client.GetParameterInput{Name: &name})
		if err != nil || *out.Parameter.Name != name || *out.Parameter.Value != "v" {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		all, err := c.GetParameters(ctx, &client.GetParametersInput{Names: []string{name}})
		if err != nil || len(all.Parameters) != 1 || *all.Parameters[0].Name != name {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
	if _, err := c.DeleteParameter(ctx, &client.DeleteParameterInput{Name: sdk.String("/bare")}); err != nil {
		t.Error(err)
	}
	if _, err := c.DeleteParameters(ctx, &client.DeleteParametersInput{Names: []string{"slash"}}); err != nil {
		t.Error(err)
	}
	all, err := c.GetParameters(ctx, &client.GetParametersInput{Names: []string{"bare", "/slash"}})
	if err != nil || len(all.Parameters) != 0 {
		t.Errorf("after the deletions: %+v, %v", all, err)
	}
}

// secretNamed is Secrets Manager with the secret db.
func secretNamed(_ context.Context, _ aws.Scope, id string) (string, []byte, error) {
	if id != "db" {
		return "", nil, &aws.Error{Code: "ResourceNotFoundException"}
	}
	return "swordfish", []byte(`{"ARN":"arn:aws:secretsmanager:eu-west-1:111111111111:secret:db-abcdef","createdDate":1700000000}`), nil
}

func TestSecretsAsParameters(t *testing.T) {
	t.Parallel()
	c := newClientWith(t, secretNamed)
	ctx := t.Context()
	const name, missing = "/aws/reference/secretsmanager/db", "/aws/reference/secretsmanager/none"
	out, err := c.GetParameter(ctx, &client.GetParameterInput{Name: sdk.String(name), WithDecryption: sdk.Bool(true)})
	if err != nil || *out.Parameter.Value != "swordfish" || *out.Parameter.Name != name || *out.Parameter.SourceResult == "" ||
		out.Parameter.Type != "SecureString" {
		t.Errorf("%+v, %v", out, err)
	}
	_, err = c.GetParameter(ctx, &client.GetParameterInput{Name: sdk.String(name)})
	refused(t, err, "ValidationException")
	_, err = c.GetParameter(ctx, &client.GetParameterInput{Name: sdk.String(missing), WithDecryption: sdk.Bool(true)})
	refused(t, err, "ParameterNotFound")
	all, err := c.GetParameters(ctx, &client.GetParametersInput{Names: []string{name, missing},
		WithDecryption: sdk.Bool(true)})
	if err != nil || len(all.Parameters) != 1 || len(all.InvalidParameters) != 1 ||
		all.InvalidParameters[0] != missing {
		t.Errorf("%+v, %v", all, err)
	}
}
