//go:build !lean

package database

import "testing"

func TestIAMAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"postgres+iam://stepback@db.example:6432/csv?pool_max_conns=1": "postgres://stepback@db.example:6432/csv?pool_max_conns=1&sslmode=verify-full",
		"postgres+iam://stepback@db.example/csv?sslmode=require":       "postgres://stepback@db.example:5432/csv?sslmode=require",
	} {
		u, err := iamAddress(address)
		if err != nil || u.String() != want {
			t.Errorf("%s: %v, %v; want %s", address, u, err, want)
		}
	}
	for address, want := range map[string]string{
		"postgres+iam://db.example/csv":     "InvalidInput: the database address postgres+iam://db.example/csv is not understood; write postgres+iam://user@host:port/name",
		"postgres+iam://u:secret@host/name": "InvalidInput: the database address postgres+iam://u:xxxxx@host/name has a password, but with postgres+iam the IAM role authenticates: leave it out",
	} {
		if _, err := iamAddress(address); err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", address, err, want)
		}
	}
}
