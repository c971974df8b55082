//go:build !lean

package database

import (
	"context"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/rds/auth"

	"stepback/csvimport"
	"stepback/csvimport/postgresstore"
	"stepback/csvimport/xray"
	"stepback/csvimport/xray/pgxtrace"
	"stepback/retry"
)

// iamAccess returns how to connect to postgres+iam://user@host:port/name. The password of each new connection is an IAM
// token, which is signed locally. The server's certificate is verified unless the address says otherwise.
func iamAccess(ctx context.Context, address string) (url string, access postgresstore.Access, err error) {
	u, err := iamAddress(address)
	if err != nil {
		return "", access, err
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return "", access, csvimport.Fail(retry.InvalidInput,
			"the AWS configuration for the database's IAM token cannot be read: %w", err)
	}
	token := func(ctx context.Context) (string, error) {
		return auth.BuildAuthToken(ctx, u.Host, cfg.Region, u.User.Username(), cfg.Credentials)
	}
	return u.String(), postgresstore.Access{
		Password: token,
		Roots:    trusted(),
		Tracer:   pgxtrace.New(&xray.Tracer{}),
	}, nil
}

// iamAddress returns the address in pgx's form, with port and sslmode.
func iamAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User.Username() == "" {
		return nil, csvimport.Fail(retry.InvalidInput,
			"the database address %s is not understood; write %s://user@host:port/name", Mask(address), iamScheme)
	}
	if _, ok := u.User.Password(); ok {
		return nil, csvimport.Fail(
			retry.InvalidInput,
			"the database address %s has a password, but with %s the IAM role authenticates: leave it out",
			Mask(address),
			iamScheme,
		)
	}
	u.Scheme = "postgres"
	if u.Port() == "" {
		u.Host += ":5432"
	}
	u.RawQuery = verified(u.Query()).Encode()
	return u, nil
}

// verified sets sslmode to verify-full unless the query has another one.
func verified(query url.Values) url.Values {
	if !query.Has("sslmode") {
		query.Set("sslmode", "verify-full")
	}
	return query
}
