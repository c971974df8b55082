package ssm_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/ssm"
)

// backwards encrypts by reversing texts.
type backwards struct{}

func (backwards) Encrypt(_ context.Context, _ aws.Scope, _, _, value string) (string, error) {
	return turned(value), nil
}
func (backwards) Decrypt(_ context.Context, _ aws.Scope, _, value string) (string, error) {
	return turned(value), nil
}

func turned(text string) string {
	b := []byte(text)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

func newClient(t *testing.T) *client.Client {
	t.Helper()
	return newClientWith(t, nil)
}

func newClientWith(t *testing.T, secret func(context.Context, aws.Scope, string) (string, []byte, error)) *client.Client {
	t.Helper()
	store, err := documents.Open("/documents", vfs.NewMem())
	if err != nil {
		t.Fatal(err)
	}
	virtual := clock.Virtual(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	server := httptest.NewServer(ssm.New(ssm.Options{Documents: store, Clock: virtual, Secrets: backwards{},
		Secret: secret,
		Scope:  aws.Scope{Account: "000000000000", Region: "us-east-1"}}).Handler())
	t.Cleanup(func() {
		server.Close()
		virtual.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return client.New(client.Options{BaseEndpoint: &server.URL, Region: "eu-west-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("111111111111", "secret", "")})
}

func refused(t *testing.T, err error, code string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code {
		t.Errorf("%v; want %s", err, code)
	}
}

func put(t *testing.T, c *client.Client, in *client.PutParameterInput) *client.PutParameterOutput {
	t.Helper()
	out, err := c.PutParameter(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestVersionsAndLabels(t *testing.T) {
	t.Parallel()
	ctx, c, name := t.Context(), newClient(t), sdk.String("/app/db/host")
	if _, err := c.GetParameter(ctx, &client.GetParameterInput{Name: name}); true {
		refused(t, err, "ParameterNotFound")
	}
	put(t, c, &client.PutParameterInput{Name: name, Value: sdk.String("one"), Type: types.ParameterTypeString})
	_, err := c.PutParameter(ctx, &client.PutParameterInput{Name: name, Value: sdk.String("two"), Type: types.ParameterTypeString})
	refused(t, err, "ParameterAlreadyExists")
	two := put(t, c, &client.PutParameterInput{Name: name, Value: sdk.String("two"), Overwrite: sdk.Bool(true)})
	if two.Version != 2 || two.Tier != types.ParameterTierStandard {
		t.Errorf("second version: %+v", two)
	}
	if _, err := c.LabelParameterVersion(ctx, &client.LabelParameterVersionInput{Name: name,
		ParameterVersion: sdk.Int64(1),
		Labels:           []string{"live"}}); err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{*name: "two", *name + ":1": "one", *name + ":live": "one",
		"arn:aws:ssm:eu-west-1:111111111111:parameter/app/db/host": "two"} {
		got, err := c.GetParameter(ctx, &client.GetParameterInput{Name: &asked})
		if err != nil {
			t.Errorf("%s: %v", asked, err)
		} else if *got.Parameter.Value != want || *got.Parameter.ARN != "arn:aws:ssm:eu-west-1:111111111111:parameter/app/db/host" {
			t.Errorf("%s: %+v", asked, got.Parameter)
		}
	}
	_, err = c.GetParameter(ctx, &client.GetParameterInput{Name: sdk.String(*name + ":7")})
	refused(t, err, "ParameterVersionNotFound")
	history, err := c.GetParameterHistory(ctx, &client.GetParameterHistoryInput{Name: name})
	if err != nil || len(history.Parameters) != 2 || history.Parameters[0].Labels[0] != "live" {
		t.Errorf("history %+v, %v", history, err)
	}
}

func TestPathsAndSecrets(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), newClient(t)
	for _, name := range []string{"/app/a", "/app/b", "/app/deep/c", "/application", "plain"} {
		put(t, c, &client.PutParameterInput{Name: &name, Value: &name, Type: types.ParameterTypeSecureString})
	}
	for _, q := range []struct {
		path      string
		recursive bool
		want      string
	}{{"/app", false, "/app/a /app/b"}, {"/app/", true, "/app/a /app/b /app/deep/c"}} {
		var got []string
		for p := client.NewGetParametersByPathPaginator(c, &client.GetParametersByPathInput{Path: &q.path,
			Recursive: &q.recursive, MaxResults: sdk.Int32(2), WithDecryption: sdk.Bool(true)}); p.HasMorePages(); {
			page, err := p.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, one := range page.Parameters {
				got = append(got, *one.Value)
			}
		}
		if strings.Join(got, " ") != q.want {
			t.Errorf("%s: %v", q.path, got)
		}
	}
	closed, err := c.GetParameter(ctx, &client.GetParameterInput{Name: sdk.String("plain")})
	if err != nil || *closed.Parameter.Value != "nialp" {
		t.Errorf("without decryption: %+v, %v", closed, err)
	}
	some, err := c.GetParameters(ctx, &client.GetParametersInput{Names: []string{"plain", "none"}})
	if err != nil || len(some.Parameters) != 1 || some.InvalidParameters[0] != "none" {
		t.Errorf("some: %+v, %v", some, err)
	}
	listed, err := c.DescribeParameters(ctx,
		&client.DescribeParametersInput{ParameterFilters: []types.ParameterStringFilter{
			{Key: sdk.String("Name"), Option: sdk.String("BeginsWith"), Values: []string{"/appl"}}}})
	if err != nil || len(listed.Parameters) != 1 || *listed.Parameters[0].KeyId != "alias/aws/ssm" {
		t.Errorf("listed: %+v, %v", listed, err)
	}
	gone, err := c.DeleteParameters(ctx, &client.DeleteParametersInput{Names: []string{"plain", "none"}})
	if err != nil || gone.DeletedParameters[0] != "plain" || gone.InvalidParameters[0] != "none" {
		t.Errorf("gone: %+v, %v", gone, err)
	}
}

// password is a pattern with lookaheads, which Go's regular expressions lack.
const password = `^(?=.*[A-Z])(?=.*[a-z])(?=.*\d).{8,}$`

func TestRefusals(t *testing.T) {
	t.Parallel()
	ctx, c, value := t.Context(), newClient(t), sdk.String("v")
	for _, r := range []struct {
		in   client.PutParameterInput
		code string
	}{
		{client.PutParameterInput{Name: sdk.String("aws-x"), Value: value, Type: types.ParameterTypeString}, "ValidationException"},
		{client.PutParameterInput{Name: sdk.String("a/b"), Value: value, Type: types.ParameterTypeString}, "ValidationException"},
		{client.PutParameterInput{Name: sdk.String("a"), Value: value}, "ValidationException"},
		{client.PutParameterInput{Name: sdk.String("a"), Value: sdk.String(strings.Repeat("x", 4097)),
			Type: types.ParameterTypeString}, "ValidationException"},
		{client.PutParameterInput{Name: sdk.String("a"), Value: value, Type: types.ParameterTypeString,
			AllowedPattern: sdk.String(`\d+`)}, "ParameterPatternMismatchException"},
		{client.PutParameterInput{Name: sdk.String("a"), Value: value, Type: types.ParameterTypeString,
			AllowedPattern: sdk.String(`(`)}, "InvalidAllowedPatternException"},
		{client.PutParameterInput{Name: sdk.String("a"), Value: sdk.String("secret"), Type: types.ParameterTypeString,
			AllowedPattern: sdk.String(password)}, "ParameterPatternMismatchException"},
		{client.PutParameterInput{Name: sdk.String("a"), Value: value, Type: types.ParameterTypeString,
			AllowedPattern: sdk.String(`(v)\1`)}, "InvalidAllowedPatternException"},
		{client.PutParameterInput{Name: sdk.String("a"), Value: sdk.String(strings.Repeat("x", 4096)), Type: types.ParameterTypeString,
			AllowedPattern: sdk.String(`((?=.*(?=.*x).*)(?=.*(?=.*x).*).)*`)}, "ParameterPatternMismatchException"},
	} {
		_, err := c.PutParameter(ctx, &r.in)
		refused(t, err, r.code)
	}
	if _, err := c.PutParameter(ctx, &client.PutParameterInput{Name: sdk.String("password"), Value: sdk.String("Secret123"),
		Type: types.ParameterTypeString, AllowedPattern: sdk.String(password)}); err != nil {
		t.Error(err)
	}
	_, err := c.ListDocuments(ctx, nil)
	refused(t, err, "NotImplemented")
	_, err = c.DeleteParameter(ctx, &client.DeleteParameterInput{Name: value})
	refused(t, err, "ParameterNotFound")
}
