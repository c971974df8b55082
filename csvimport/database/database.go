// Package database opens the store that a DATABASE_URL names.
//
// It only knows the schemes of addresses, and never logs an address unmasked. The functions on AWS are built with
// the tag nosqlite. With it, the package refuses SQLite addresses and does not link SQLite, which would be half of
// a function's code. The command that make run compiles is built with the tag lean. With it, the package refuses
// PostgreSQL addresses and does not link pgx.
package database

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"

	"stepback/csvimport"
	"stepback/retry"
)

// Schemes of PostgreSQL servers beside postgres and postgresql.
const (
	// iamScheme is the scheme for a server of Amazon RDS or Aurora at which the program authenticates as its IAM role.
	iamScheme = "postgres+iam"
	// secretScheme is the scheme of a secret with a database's address and credentials.
	secretScheme = "secretsmanager"
)

// Open opens the store with one of these addresses; any other address is InvalidInput:
//
//   - sqlite:/path/file.db, or sqlite:/path/file.db?synchronous=normal, which does
//     not sync each commit to disk, for simulations;
//   - postgres://user:password@host/name;
//   - postgres+iam://user@host/name, for Amazon RDS or Aurora, as the IAM role of
//     this process;
//   - secretsmanager:ARN, a secret of AWS Secrets Manager with username, password,
//     host, port, dbname and, to differ from verify-full, sslmode.
func Open(ctx context.Context, address string) (csvimport.Store, error) {
	switch scheme, _, _ := strings.Cut(address, ":"); scheme {
	case "sqlite":
		path, options, _ := SQLitePath(address)
		if path == "" {
			return nil, csvimport.Fail(retry.InvalidInput,
				"the database address sqlite: lacks a path; write sqlite:/path/file.db")
		}
		return openSQLite(ctx, path, options)
	case "postgres", "postgresql", iamScheme, secretScheme:
		return openPostgres(ctx, address)
	case "":
		return nil, csvimport.Fail(retry.InvalidInput,
			"DATABASE_URL is not set; set it to sqlite:/path/file.db or postgres://user:password@host/name")
	}
	return nil, csvimport.Fail(retry.InvalidInput,
		"the database address %s is not understood; write sqlite:/path/file.db or postgres://user:password@host/name",
		Mask(address))
}

// Reader reads the users of a database.
type Reader interface {
	// Export calls visit for each user in the order of their IDs, and stops at its first error.
	Export(ctx context.Context, visit func(csvimport.User) error) error
	Close() error
}

// OpenReader opens a database read-only; it takes the same addresses as Open. An SQLite database is not modified, and
// may be on a read-only disk.
func OpenReader(ctx context.Context, address string) (Reader, error) {
	path, options, ok := SQLitePath(address)
	if !ok || path == "" {
		return Open(ctx, address)
	}
	return readSQLite(ctx, path, options)
}

// SQLitePath returns the file and the options of an SQLite address; ok is false for any other address. A question
// mark before the last slash is part of the path, because directory names may contain one.
func SQLitePath(address string) (path, options string, ok bool) {
	rest, ok := strings.CutPrefix(address, "sqlite:")
	if !ok {
		return "", "", false
	}
	directory, file := filepath.Split(strings.TrimPrefix(rest, "//"))
	file, options, _ = strings.Cut(file, "?")
	return directory + file, options, true
}

// opened keeps a nil store from becoming a non-nil interface.
func opened[S csvimport.Store](store S, err error) (csvimport.Store, error) {
	if err != nil {
		return nil, err
	}
	return store, nil
}

// Mask returns an address without its passwords, for logs. If the text is not an address, it keeps at most the
// scheme. libpq's "host=… password=…" has no scheme, so nothing of it is kept.
func Mask(address string) string {
	scheme, rest, found := strings.Cut(address, ":")
	u, err := url.Parse(address)
	switch {
	case strings.ContainsAny(scheme, " ="):
		return "…"
	case !found:
		return address
	case scheme == "sqlite" || scheme == secretScheme:
		return address
	case err != nil || !strings.HasPrefix(rest, "//"):
		return scheme + ":…"
	}
	query := u.Query()
	for _, name := range []string{"password", "sslpassword"} {
		if query.Has(name) {
			query.Set(name, "xxxxx")
			u.RawQuery = query.Encode()
		}
	}
	return u.Redacted()
}
