package webhook_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stepback/outbox"
	"stepback/outbox/webhook"
	"stepback/retry"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func message() *outbox.Message {
	return &outbox.Message{
		ID: "018f0000-0000-7000-8000-000000000001", Topic: "import.finished", Payload: []byte(`{"n":1}`),
		ContentType: outbox.JSON,
		Headers: map[string]string{
			"Stepback-Execution": "arn",
		}, TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	}
}

func secret(t *testing.T, text string) webhook.Secret {
	t.Helper()
	s, err := webhook.NewSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serve starts a server with the handler, and returns a sink that posts to it.
func serve(t *testing.T, c webhook.Config, handle http.HandlerFunc) *webhook.Sink {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	c.URL, c.Now = server.URL+"/hook", func() time.Time { return now }
	s, err := webhook.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASignedRequest(t *testing.T) {
	t.Parallel()
	old, young := secret(t, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), secret(t, "another secret of 24 bytes")
	s := serve(
		t,
		webhook.Config{Secrets: []webhook.Secret{old, young}, Header: http.Header{"Authorization": {"Bearer b"}}},
		func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || string(body) != `{"n":1}` {
				t.Errorf("body %s, %v", body, err)
			}
			for name, want := range map[string]string{
				"Webhook-Id": message().ID, "Idempotency-Key": `"` + message().ID + `"`,
				"Webhook-Topic": "import.finished",
				"Content-Type":  "application/json", "Traceparent": message().TraceParent, "Stepback-Execution": "arn",
				"Authorization":     "Bearer b",
				"Webhook-Timestamp": "1795348800",
			} {
				if got := r.Header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			for who, secrets := range map[string][]webhook.Secret{"old": {old}, "young": {young},
				"both": {young, old}} {
				if err := webhook.Verify(r.Header, body, now.Add(time.Minute), secrets...); err != nil {
					t.Errorf("%s: %v", who, err)
				}
			}
			for what, err := range map[string]error{
				"another payload": webhook.Verify(r.Header, []byte(`{"n":2}`), now, old),
				"another secret":  webhook.Verify(r.Header, body, now, secret(t, strings.Repeat("x", 24))),
				"no secret":       webhook.Verify(r.Header, body, now),
				"too old":         webhook.Verify(r.Header, body, now.Add(6*time.Minute), old),
				"too early":       webhook.Verify(r.Header, body, now.Add(-6*time.Minute), old),
				"no headers":      webhook.Verify(http.Header{}, body, now, old),
			} {
				if !errors.Is(err, webhook.ErrSignature) {
					t.Errorf("%s: %v", what, err)
				}
			}
		},
	)
	if err := s.Send(t.Context(), message()); err != nil {
		t.Error(err)
	}
	if text := fmt.Sprint(old); text != "…" {
		t.Errorf("a secret prints as %s", text)
	}
}

// TestAgainstTheStandard verifies the example of the specification's reference libraries.
func TestAgainstTheStandard(t *testing.T) {
	t.Parallel()
	header := http.Header{
		"Webhook-Id": {"msg_p5jXN8AQM9LWM0D4loKWxJek"}, "Webhook-Timestamp": {"1614265330"},
		"Webhook-Signature": {"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	}
	if err := webhook.Verify(header, []byte(`{"test": 2432232314}`), time.Unix(1614265330, 0),
		secret(t, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")); err != nil {
		t.Error(err)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		header map[string]string
		body   string
		error  string // empty: it was accepted
		class  retry.Class
		after  time.Duration
		text   string
	}{
		"taken":              {status: 200},
		"taken, with a body": {status: 202, body: `{"ok":true,"error":null,"errors":[]}`},
		"taken, with a list": {status: 200, body: `["error"]`},
		"an error inside": {status: 200, body: ` {"error":{"code":7}}`, error: "InternalServerError",
			class: retry.UnknownOutcome, text: `"error": {"code":7}`},
		"not ok": {status: 200, body: `{"ok":false}`, error: "InternalServerError",
			class: retry.UnknownOutcome, text: `"ok": false`},
		"moved": {status: 301, header: map[string]string{"Location": "/new"}, error: "InvalidInput",
			class: retry.Permanent, text: "location /new, which is not followed"},
		"moved for now": {status: 307, header: map[string]string{"Location": "/new"}, error: "InvalidInput",
			class: retry.Permanent},
		"bad request": {status: 400, body: "no", error: "InvalidInput", class: retry.Permanent,
			text: "400 Bad Request: no"},
		"forbidden": {status: 403, error: "AccessDenied", class: retry.Permanent},
		"busy": {status: 429, header: map[string]string{"Retry-After": "7"},
			error: "TooManyRequestsError", class: retry.Transient, after: 7 * time.Second},
		"busy until": {status: 503,
			header: map[string]string{"Retry-After": "Sun, 22 Nov 2026 12:01:00 GMT"}, error: "ServiceUnavailableError",
			class: retry.Transient, after: time.Minute},
		"busy until 1970": {status: 503,
			header: map[string]string{"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, error: "ServiceUnavailableError",
			class: retry.Transient},
		"busy for a while": {status: 503, header: map[string]string{"Retry-After": "a while"},
			error: "ServiceUnavailableError", class: retry.Transient},
		"busy for less than now": {status: 503, header: map[string]string{"Retry-After": "-7"},
			error: "ServiceUnavailableError", class: retry.Transient},
		"broken": {status: 500, error: "InternalServerError", class: retry.UnknownOutcome},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, webhook.Config{}, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/hook" {
					t.Errorf("the redirect to %s was followed", r.URL.Path)
				}
				w.Header().Set("Date", "Sun, 22 Nov 2026 12:00:00 GMT") // the server's clock, from which dates are measured
				for name, value := range tt.header {
					w.Header().Set(name, value)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			err := s.Send(t.Context(), message())
			if tt.error == "" {
				if err != nil {
					t.Errorf("error %v", err)
				}
				return
			}
			f := outbox.FailureOf(err)
			if f.Name != tt.error || f.Class != tt.class || f.RetryAfter != tt.after ||
				!strings.Contains(f.Error(), tt.text) {
				t.Errorf("failure is %s, %s, after %v: %v", f.Name, f.Class, f.RetryAfter, f)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	s, err := webhook.New(webhook.Config{URL: server.URL + "/?token=secret"})
	if err != nil {
		t.Fatal(err)
	}
	f := outbox.FailureOf(s.Send(t.Context(), message()))
	if f.Class != retry.Transient || strings.Contains(f.Error(), "secret") {
		t.Errorf("failure is %s, %v", f.Class, f)
	}
	bad := message()
	bad.Headers = map[string]string{"no name": "v"}
	if f := outbox.FailureOf(s.Send(t.Context(), bad)); f.Class != retry.Permanent {
		t.Errorf("a header that is none: %v", f)
	}
}

func TestConfigurationsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "host", "ftp://host", "https://", "http://%zz"} {
		if _, err := webhook.New(webhook.Config{URL: url}); err == nil {
			t.Errorf("%q is a URL", url)
		}
	}
	for _, text := range []string{"", "short", "whsec_?", "whsec_AAAA"} {
		if _, err := webhook.NewSecret(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q is a secret, or is in the error %v", text, err)
		}
	}
}
