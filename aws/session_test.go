package aws_test

import (
	"testing"

	"pgregory.net/rapid"

	"stepback/aws"
)

func TestSessionKeysTellTheirAccount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		account := rapid.StringMatching(`[0-9]{12}`).Draw(t, "account")
		key := aws.SessionKey(account, rapid.Uint32().Draw(t, "random"))
		if got, ok := aws.AccountOfSession(key); !ok || got != account || len(key) != 20 {
			t.Fatalf("%s: %s, %v", key, got, ok)
		}
		key = aws.UserKey(account, rapid.Uint32().Draw(t, "random"))
		if got, ok := aws.AccountOfKey(key); !ok || got != account || len(key) != 20 {
			t.Fatalf("%s: %s, %v", key, got, ok)
		}
		if got, ok := aws.AccountOfSession(key); ok {
			t.Fatalf("%s counts as a session of %s", key, got)
		}
	})
	for _, key := range []string{"", "LSIA", "LSIA7777777777777777", "ASIA0000000000000000", "AKIAIOSFODNN7EXAMPLE"} {
		if account, ok := aws.AccountOfSession(key); ok {
			t.Errorf("%s is of %s", key, account)
		}
	}
}
