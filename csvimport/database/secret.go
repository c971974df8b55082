//go:build !lean

package database

import (
	"context"
	"encoding/json"
	"net"
	"net/url"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"stepback/csvimport"
	"stepback/csvimport/postgresstore"
	"stepback/csvimport/xray"
	"stepback/csvimport/xray/pgxtrace"
	"stepback/retry"
)

// secret holds the members that Amazon RDS stores in a database's secret, and the additional member sslmode, which
// defaults to verify-full.
type secret struct {
	Username string      `json:"username"`
	Password string      `json:"password"`
	Host     string      `json:"host"`
	Port     json.Number `json:"port"`
	DBName   string      `json:"dbname"`
	SSLMode  string      `json:"sslmode"`
}

// secretAccess returns how to connect to secretsmanager:ARN. The password is read again for each new connection, so
// that a rotation needs no restart.
func secretAccess(ctx context.Context, id string) (url string, access postgresstore.Access, err error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return "", access, csvimport.Fail(retry.InvalidInput,
			"the AWS configuration for the database's secret cannot be read: %w", err)
	}
	client := secretsmanager.NewFromConfig(cfg)
	read := func(ctx context.Context) (secret, error) {
		answer, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String(id)})
		if err != nil {
			return secret{}, secretFailure(id, err)
		}
		return parseSecret(id, aws.ToString(answer.SecretString))
	}
	s, err := read(ctx)
	if err != nil {
		return "", access, err
	}
	password := func(ctx context.Context) (string, error) {
		s, err := read(ctx)
		return s.Password, err
	}
	return s.address(), postgresstore.Access{Password: password, Roots: trusted(),
		Tracer: pgxtrace.New(&xray.Tracer{})}, nil
}

// secretFailure converts an error of Secrets Manager to a Failure that is named by the error's code.
func secretFailure(id string, err error) error {
	name := csvimport.AsFailure(err).Name
	if c, ok := retry.Classify(err); ok {
		name = c.Error
	}
	return csvimport.Fail(name, "the database's secret %s cannot be read: %w", id, err)
}

// parseSecret parses a secret. Its errors never contain the secret's text.
func parseSecret(id, text string) (secret, error) {
	var s secret
	if json.Unmarshal([]byte(text), &s) != nil {
		return s, csvimport.Fail(retry.InvalidInput,
			"the secret %s is not a JSON object with username, password, host, port and dbname", id)
	}
	for _, member := range []struct{ name, value string }{
		{"username", s.Username}, {"password", s.Password}, {"host", s.Host}, {"dbname", s.DBName},
	} {
		if member.value == "" {
			return s, csvimport.Fail(retry.InvalidInput, "the secret %s has no %s", id, member.name)
		}
	}
	if s.Port == "" {
		s.Port = "5432"
	}
	if n, err := strconv.ParseUint(s.Port.String(), 10, 16); err != nil || n == 0 {
		return s, csvimport.Fail(retry.InvalidInput, "the port in the secret %s is not valid; write 1 to 65535",
			id)
	}
	return s, nil
}

// address returns the connection string without the password.
func (s secret) address() string {
	query := url.Values{}
	if s.SSLMode != "" {
		query.Set("sslmode", s.SSLMode)
	}
	u := url.URL{
		Scheme: "postgres", User: url.User(s.Username), Host: net.JoinHostPort(s.Host, s.Port.String()),
		Path: "/" + s.DBName, RawQuery: verified(query).Encode(),
	}
	return u.String()
}
