//go:build !lean

package database

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"stepback/csvimport"
	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/retry"
)

const arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:db-a1b2c3"

func TestParseSecret(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"username":"u","password":"p","host":"h","port":6432,"dbname":"d"}`:                     "postgres://u@h:6432/d?sslmode=verify-full",
		`{"username":"u","password":"p","host":"h","port":"6432","dbname":"d"}`:                   "postgres://u@h:6432/d?sslmode=verify-full",
		`{"username":"u","password":"p","host":"h","dbname":"d","sslmode":"disable","engine":""}`: "postgres://u@h:5432/d?sslmode=disable",
	} {
		s, err := parseSecret(arn, text)
		if err != nil || s.address() != want || s.Password != "p" {
			t.Errorf("%s: %s, %v; want %s", text, s.address(), err, want)
		}
	}
	for text, want := range map[string]string{
		`hunter2`: "InvalidInput: the secret " + arn +
			" is not a JSON object with username, password, host, port and dbname",
		`{"username":"u","password":"p","host":"h"}`: "InvalidInput: the secret " + arn +
			" has no dbname",
		`{"username":"u","password":"p","host":"h","port":0,"dbname":"d"}`: "InvalidInput: the port in the secret " + arn +
			" is not valid; write 1 to 65535",
		`{"username":"u","password":"p","host":"h","port":1.5,"dbname":"d"}`: "InvalidInput: the port in the secret " + arn +
			" is not valid; write 1 to 65535",
	} {
		if _, err := parseSecret(arn, text); err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
}

// answerSecrets starts a Secrets Manager with a single fixed response and points this process's AWS SDK at it. The
// result counts the requests.
func answerSecrets(t *testing.T, status int, body string) *atomic.Int64 {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": server.URL, "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
	return &asked
}

func TestOpenSecretReadsThePasswordForEachConnection(t *testing.T) {
	u, err := url.Parse(postgrestest.Start(t).Database(t))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(map[string]string{
		"username": u.User.Username(), "password": "any", "host": u.Hostname(), "port": u.Port(),
		"dbname": strings.TrimPrefix(u.Path, "/"), "sslmode": "disable",
	})
	answer, _ := json.Marshal(map[string]string{"ARN": arn, "Name": "db", "SecretString": string(text)})
	asked := answerSecrets(t, http.StatusOK, string(answer))
	store, err := Open(t.Context(), "secretsmanager:"+arn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	outcome, err := store.Apply(t.Context(), csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"},
		Name: "r"}, 0, csvimport.Increment{UserID: "u"})
	if err != nil || outcome != csvimport.Applied {
		t.Errorf("Apply: %s, %v", outcome, err)
	}
	if n := asked.Load(); n < 2 {
		t.Errorf("the secret was read %d times, want once for the address and once for each connection", n)
	}
}

func TestOpenSecretNamesErrors(t *testing.T) {
	for code, want := range map[string]string{
		"AccessDeniedException":     retry.AccessDenied,
		"ResourceNotFoundException": retry.InvalidInput,
		"ThrottlingException":       retry.TooManyRequestsError,
	} {
		t.Run(code, func(t *testing.T) {
			answerSecrets(t, http.StatusBadRequest, `{"__type":"`+code+`","message":"no"}`)
			_, err := Open(t.Context(), "secretsmanager:"+arn)
			if f := csvimport.AsFailure(err); err == nil || f.Name != want || !strings.Contains(f.Message, arn) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
