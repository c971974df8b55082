package events_test

import (
	"testing"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	vault "github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"stepback/aws/loopback"
)

// A connection's secrets are a secret of Secrets Manager with the SecretArn of the connection, which follows its
// changes.
func TestSecretsOfConnectionsAreInSecretsManager(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := sdkaws.String
	secrets := vault.New(vault.Options{BaseEndpoint: text(loopback.URL), Region: region, RetryMaxAttempts: 1,
		HTTPClient: loopback.Client(b.secrets.Handler()), Credentials: credentials.NewStaticCredentialsProvider(account, "s", "")})
	for name, c := range map[string]struct {
		kind types.ConnectionAuthorizationType
		auth types.CreateConnectionAuthRequestParameters
		want string
	}{
		"basic": {types.ConnectionAuthorizationTypeBasic, types.CreateConnectionAuthRequestParameters{
			BasicAuthParameters:      &types.CreateConnectionBasicAuthRequestParameters{Username: text("u"), Password: text("p")},
			InvocationHttpParameters: &types.ConnectionHttpParameters{}},
			`{"username":"u","password":"p","invocation_http_parameters":{}}`},
		"key": {types.ConnectionAuthorizationTypeApiKey, types.CreateConnectionAuthRequestParameters{
			ApiKeyAuthParameters: &types.CreateConnectionApiKeyAuthRequestParameters{ApiKeyName: text("n"), ApiKeyValue: text("v")}},
			`{"api_key_name":"n","api_key_value":"v"}`},
		"oauth": {types.ConnectionAuthorizationTypeOauthClientCredentials, types.CreateConnectionAuthRequestParameters{
			OAuthParameters: &types.CreateConnectionOAuthRequestParameters{AuthorizationEndpoint: text("https://example.com/o"),
				HttpMethod: "put", ClientParameters: &types.CreateConnectionOAuthClientRequestParameters{ClientID: text("i"),
					ClientSecret: text("s")}}}, `{"client_id":"i","client_secret":"s","authorization_endpoint":` +
			`"https://example.com/o","http_method":"put"}`},
	} {
		if _, err := b.CreateConnection(t.Context(), &client.CreateConnectionInput{Name: &name,
			AuthorizationType: c.kind,
			AuthParameters:    &c.auth}); err != nil {
			t.Fatal(err)
		}
		d, err := b.DescribeConnection(t.Context(), &client.DescribeConnectionInput{Name: &name})
		if err != nil {
			t.Fatal(err)
		}
		value := func() string {
			t.Helper()
			out, err := secrets.GetSecretValue(t.Context(), &vault.GetSecretValueInput{SecretId: d.SecretArn})
			if err != nil {
				return err.Error()
			}
			return *out.SecretString
		}
		if got := value(); got != c.want {
			t.Errorf("%s: secret %s, not %s", name, got, c.want)
		}
		_, err = secrets.DeleteSecret(t.Context(), &vault.DeleteSecretInput{SecretId: d.SecretArn})
		refused(t, err, "InvalidRequestException",
			"You can't perform this operation on the secret because it is managed by the service events.")
		if name == "basic" {
			if _, err := b.UpdateConnection(t.Context(), &client.UpdateConnectionInput{Name: &name,
				AuthParameters: &types.UpdateConnectionAuthRequestParameters{BasicAuthParameters: &types.
					UpdateConnectionBasicAuthRequestParameters{Username: text("u2"), Password: text("p2")}}}); err != nil {
				t.Fatal(err)
			}
			if got := value(); got != `{"username":"u2","password":"p2"}` {
				t.Errorf("changed: %s", got)
			}
		}
		if _, err := b.DeleteConnection(t.Context(), &client.DeleteConnectionInput{Name: &name}); err != nil {
			t.Fatal(err)
		}
		_, err = secrets.DescribeSecret(t.Context(), &vault.DescribeSecretInput{SecretId: d.SecretArn})
		refused(t, err, "ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
	}
	_, err := b.CreateConnection(t.Context(), &client.CreateConnectionInput{Name: text("c"),
		AuthorizationType: types.ConnectionAuthorizationTypeOauthClientCredentials,
		AuthParameters: &types.CreateConnectionAuthRequestParameters{
			OAuthParameters: &types.CreateConnectionOAuthRequestParameters{
				AuthorizationEndpoint: text("https://example.com/o"), HttpMethod: "DELETE",
				ClientParameters: &types.CreateConnectionOAuthClientRequestParameters{ClientID: text("i"), ClientSecret: text("s")}}}})
	refused(t, err, "ValidationException", "1 validation error detected: Value 'DELETE' at 'authParameters.oAuthParameters."+
		"httpMethod' failed to satisfy constraint: Member must satisfy enum value set: [GET, POST, PUT]")
}

// RemovePermission names the statement that is missing, also for a bus without a policy.
func TestRemoveMissingPermission(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.RemovePermission(t.Context(), &client.RemovePermissionInput{StatementId: sdkaws.String("x")})
	refused(t, err, "ResourceNotFoundException", "Statement with the provided id does not exist.")
}
