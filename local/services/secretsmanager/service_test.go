package secretsmanager_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/kms"
	"stepback/local/services/secretsmanager"
)

// bench is a service in virtual time with an AWS client for it.
type bench struct {
	*client.Client
	t       *testing.T
	clock   *clock.Clock
	service *secretsmanager.Service
	steps   []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, clock: clock.Virtual(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))}
	kept, err := documents.Open(filepath.Join(t.TempDir(), "documents"), nil)
	if err != nil {
		t.Fatal(err)
	}
	keys := kms.New(kms.Options{Dir: filepath.Join(t.TempDir(), "kms"), Documents: kept, Clock: b.clock})
	b.service = secretsmanager.New(secretsmanager.Options{Documents: kept, Clock: b.clock, Invoke: b.rotate,
		Secrets: kms.Secrets{Service: keys, Context: "SecretARN"}})
	b.Client = client.New(client.Options{BaseEndpoint: sdk.String(loopback.URL), Region: "eu-west-1", RetryMaxAttempts: 1,
		HTTPClient:  loopback.Client(b.service.Handler()),
		Credentials: credentials.NewStaticCredentialsProvider("111111111111", "secret", "")})
	t.Cleanup(func() {
		_ = b.service.Close()
		_ = kept.Close()
		b.clock.Close()
	})
	return b
}

// rotate is a rotation function.
func (b *bench) rotate(ctx context.Context, _ aws.Scope, _ string, payload []byte) error {
	var in struct{ Step, SecretId, ClientRequestToken string } //nolint:revive // as AWS names it
	if err := json.Unmarshal(payload, &in); err != nil {
		return err
	}
	b.steps = append(b.steps, in.Step)
	switch in.Step {
	case "createSecret":
		_, err := b.PutSecretValue(ctx, &client.PutSecretValueInput{SecretId: &in.SecretId,
			ClientRequestToken: &in.ClientRequestToken,
			SecretString:       sdk.String("rotated"), VersionStages: []string{"AWSPENDING"}})
		return err
	case "finishSecret":
		d, err := b.DescribeSecret(ctx, &client.DescribeSecretInput{SecretId: &in.SecretId})
		if err != nil {
			return err
		}
		for id, stages := range d.VersionIdsToStages {
			if strings.Contains(strings.Join(stages, " "), "AWSCURRENT") {
				_, err = b.UpdateSecretVersionStage(ctx, &client.UpdateSecretVersionStageInput{SecretId: &in.SecretId,
					VersionStage: sdk.String("AWSCURRENT"), MoveToVersionId: &in.ClientRequestToken, RemoveFromVersionId: &id})
			}
		}
		return err
	}
	return nil
}

func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	b.clock.Hold()
	defer b.clock.Release()
	if err := b.clock.Sleep(b.t.Context(), d); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) create(name, text string) *client.CreateSecretOutput {
	b.t.Helper()
	out, err := b.CreateSecret(b.t.Context(), &client.CreateSecretInput{Name: &name, SecretString: &text})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// get returns the value of the version with a staging label; an empty stage means the current version.
func (b *bench) get(secret, stage string) (string, error) {
	b.t.Helper()
	in := &client.GetSecretValueInput{SecretId: &secret}
	if stage != "" {
		in.VersionStage = &stage
	}
	out, err := b.GetSecretValue(b.t.Context(), in)
	if err != nil {
		return "", err
	}
	return sdk.ToString(out.SecretString), nil
}

func refused(t *testing.T, err error, code, message string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code || !strings.Contains(e.ErrorMessage(), message) {
		t.Errorf("got %v, want %s: %s", err, code, message)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.create("db/login", "one")
	if !regexp.MustCompile(`^arn:aws:secretsmanager:eu-west-1:111111111111:secret:db/login-[a-zA-Z0-9]{6}$`).MatchString(*made.ARN) {
		t.Errorf("ARN %s", *made.ARN)
	}
	put, err := b.PutSecretValue(t.Context(), &client.PutSecretValueInput{SecretId: made.ARN, SecretString: sdk.String("two")})
	if err != nil || strings.Join(put.VersionStages, " ") != "AWSCURRENT" {
		t.Fatal(put, err)
	}
	short := (*made.ARN)[:len(*made.ARN)-7]
	for _, c := range []struct{ secret, stage, want string }{{"db/login", "", "two"}, {*made.ARN, "AWSCURRENT", "two"},
		{short, "AWSPREVIOUS", "one"}} {
		if got, err := b.get(c.secret, c.stage); err != nil || got != c.want {
			t.Errorf("%v: %q, %v", c, got, err)
		}
	}
	_, err = b.get("db/login", "nope")
	refused(t, err, "ResourceNotFoundException", "Secrets Manager can't find the specified secret value for staging label: nope")
	_, err = b.get("nothing", "")
	refused(t, err, "ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
	_, err = b.CreateSecret(t.Context(), &client.CreateSecretInput{Name: sdk.String("db/login"), SecretString: sdk.String("x")})
	refused(t, err, "ResourceExistsException", "The operation failed because the secret db/login already exists.")
	_, err = b.PutSecretValue(t.Context(), &client.PutSecretValueInput{SecretId: made.ARN, SecretString: sdk.String("other"),
		ClientRequestToken: put.VersionId})
	refused(t, err, "ResourceExistsException", "You can't use ClientRequestToken "+*put.VersionId+" because that value is already in use for a version of secret "+*made.ARN+".")
	if _, err := b.UpdateSecretVersionStage(t.Context(), &client.UpdateSecretVersionStageInput{SecretId: made.ARN,
		VersionStage: sdk.String("AWSCURRENT"), MoveToVersionId: made.VersionId, RemoveFromVersionId: put.VersionId}); err != nil {
		t.Fatal(err)
	}
	if got, err := b.get("db/login", "AWSPREVIOUS"); err != nil || got != "two" {
		t.Errorf("after going back the previous value is %q, %v", got, err)
	}
	binary, err := b.PutSecretValue(t.Context(), &client.PutSecretValueInput{SecretId: made.ARN, SecretBinary: []byte{0,
		1},
		VersionStages: []string{"raw"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.GetSecretValue(t.Context(), &client.GetSecretValueInput{SecretId: made.ARN,
		VersionId: binary.VersionId})
	if err != nil || string(out.SecretBinary) != "\x00\x01" || out.SecretString != nil {
		t.Errorf("got %v, %v", out, err)
	}
	versions, err := b.ListSecretVersionIds(t.Context(), &client.ListSecretVersionIdsInput{SecretId: made.ARN})
	if err != nil || len(versions.Versions) != 3 {
		t.Errorf("versions %v, %v", versions, err)
	}
}

func TestDeletionAndLists(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("a", "1")
	b.create("b", "2")
	if _, err := b.TagResource(t.Context(), &client.TagResourceInput{SecretId: sdk.String("b"), Tags: []types.Tag{
		{Key: sdk.String("team"), Value: sdk.String("x")}}}); err != nil {
		t.Fatal(err)
	}
	many, err := b.BatchGetSecretValue(t.Context(), &client.BatchGetSecretValueInput{SecretIdList: []string{"b", "nope", "a"}})
	if err != nil || len(many.SecretValues) != 2 || *many.SecretValues[0].SecretString != "2" || len(many.Errors) != 1 ||
		*many.Errors[0].ErrorCode != "ResourceNotFoundException" {
		t.Errorf("got %+v, %v", many, err)
	}
	list, err := b.ListSecrets(t.Context(), &client.ListSecretsInput{Filters: []types.Filter{{Key: "tag-key", Values: []string{"team"}}}})
	if err != nil || len(list.SecretList) != 1 || *list.SecretList[0].Name != "b" {
		t.Errorf("got %+v, %v", list, err)
	}
	_, err = b.ListSecrets(t.Context(), &client.ListSecretsInput{Filters: []types.Filter{{Key: "name"}}})
	refused(t, err, "InvalidParameterException", "Invalid filter values for key: name")
	if _, err := b.DeleteSecret(t.Context(), &client.DeleteSecretInput{SecretId: sdk.String("a"), RecoveryWindowInDays: sdk.Int64(7)}); err != nil {
		t.Fatal(err)
	}
	_, err = b.get("a", "")
	refused(t, err, "InvalidRequestException", "because it was marked for deletion.")
	if _, err := b.RestoreSecret(t.Context(), &client.RestoreSecretInput{SecretId: sdk.String("a")}); err != nil {
		t.Fatal(err)
	}
	if got, err := b.get("a", ""); err != nil || got != "1" {
		t.Errorf("restored: %q, %v", got, err)
	}
	if _, err := b.DeleteSecret(t.Context(), &client.DeleteSecretInput{SecretId: sdk.String("a")}); err != nil {
		t.Fatal(err)
	}
	b.pass(31 * 24 * time.Hour)
	_, err = b.get("a", "")
	refused(t, err, "ResourceNotFoundException", "")
	b.create("a", "again")
	_, err = b.DeleteSecret(t.Context(), &client.DeleteSecretInput{SecretId: sdk.String("a"), RecoveryWindowInDays: sdk.Int64(7),
		ForceDeleteWithoutRecovery: sdk.Bool(true)})
	refused(t, err, "InvalidParameterException", "You can't use ForceDeleteWithoutRecovery in conjunction with RecoveryWindowInDays.")
}

func TestRotation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("db", "first")
	_, err := b.RotateSecret(t.Context(), &client.RotateSecretInput{SecretId: sdk.String("db")})
	refused(t, err, "InvalidRequestException", "No Lambda rotation function ARN is associated with this secret.")
	if _, err := b.RotateSecret(t.Context(), &client.RotateSecretInput{SecretId: sdk.String("db"),
		RotationLambdaARN: sdk.String("arn:aws:lambda:eu-west-1:111111111111:function:rotate"),
		RotationRules:     &types.RotationRulesType{AutomaticallyAfterDays: sdk.Int64(30)}}); err != nil {
		t.Fatal(err)
	}
	b.service.WaitForRotations()
	if got := strings.Join(b.steps, " "); got != "createSecret setSecret testSecret finishSecret" {
		t.Errorf("steps %s", got)
	}
	if got, err := b.get("db", ""); err != nil || got != "rotated" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := b.get("db", "AWSPREVIOUS"); err != nil || got != "first" {
		t.Errorf("got %q, %v", got, err)
	}
	d, err := b.DescribeSecret(t.Context(), &client.DescribeSecretInput{SecretId: sdk.String("db")})
	if err != nil || !*d.RotationEnabled || d.LastRotatedDate == nil || d.NextRotationDate == nil {
		t.Errorf("described %+v, %v", d, err)
	}
	// As on AWS, the version that has become current keeps the label AWSPENDING.
	if got, err := b.get("db", "AWSPENDING"); err != nil || got != "rotated" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestRandomPassword(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	out, err := b.GetRandomPassword(t.Context(), &client.GetRandomPasswordInput{PasswordLength: sdk.Int64(50),
		ExcludeCharacters: sdk.String("abc1"), ExcludePunctuation: sdk.Bool(true)})
	if err != nil || len(*out.RandomPassword) != 50 || strings.ContainsAny(*out.RandomPassword, "abc1!# ") ||
		!strings.ContainsAny(*out.RandomPassword, "0234567899") || !strings.ContainsAny(*out.RandomPassword, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		t.Errorf("got %v, %v", out, err)
	}
}
