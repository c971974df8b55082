// Package webhook posts an outbox's messages to a URL, signed according to Standard Webhooks: HMAC-SHA256 over ID,
// time and payload. The message's ID is sent as Webhook-Id and as Idempotency-Key, the same for every attempt. The
// package never follows a redirect and never retries by itself; the relay does.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stepback/outbox"
	"stepback/resilience"
	"stepback/retry"
)

// Config configures a sink. Only the URL is required.
type Config struct {
	URL string
	// Secrets sign each request; during a rotation there are several. Without secrets, requests are not signed.
	Secrets []Secret
	// Header is sent with each request, such as an Authorization.
	Header http.Header
	// Client sends the requests; nil means a client that the sink creates. Redirects are never followed, whatever the
	// client's settings.
	Client *http.Client
	// Accept checks a response with a 2xx status, and returns an error if the message was not accepted. body has at
	// most 64 KB. nil means [RefuseErrors].
	Accept func(status int, header http.Header, body []byte) error
	// Now returns the time for signatures; nil means time.Now.
	Now func() time.Time
}

// Sink implements outbox.Sink.
type Sink struct {
	cfg    Config
	client http.Client
}

// maxAnswer is the maximum number of bytes of a response that are read.
const maxAnswer = 64 << 10

// New returns a sink.
func New(cfg Config) (*Sink, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the webhook's URL is not valid; write https://host/path")
	}
	s := &Sink{cfg: cfg}
	if cfg.Client != nil {
		s.client = *cfg.Client
	} else {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = 64
		s.client.Transport = transport
	}
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if s.cfg.Accept == nil {
		s.cfg.Accept = RefuseErrors
	}
	if s.cfg.Now == nil {
		s.cfg.Now = time.Now
	}
	return s, nil
}

// Send implements outbox.Sink.
func (s *Sink) Send(ctx context.Context, m *outbox.Message) error {
	for name := range m.Headers {
		if !isToken(name) {
			return outbox.Invalid(fmt.Errorf("%.40q is not a valid HTTP header name", name))
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.URL, bytes.NewReader(m.Payload))
	if err != nil {
		return outbox.Permanent("", err)
	}
	s.head(r, m)
	answer, err := s.client.Do(r)
	if err != nil {
		if full, ok := errors.AsType[*url.Error](err); ok {
			err = full.Err // without the URL, which may contain secrets
		}
		return fmt.Errorf("post to the webhook: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if answer.StatusCode >= 200 && answer.StatusCode < 300 {
		if err != nil {
			return fmt.Errorf("read the webhook's response: %w", err)
		}
		return s.cfg.Accept(answer.StatusCode, answer.Header, body)
	}
	return s.refused(answer, body)
}

func (s *Sink) head(r *http.Request, m *outbox.Message) {
	for name, value := range m.Headers {
		r.Header.Set(name, value)
	}
	for name, values := range s.cfg.Header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	timestamp := strconv.FormatInt(s.cfg.Now().Unix(), 10)
	r.Header.Set("Content-Type", m.ContentType)
	r.Header.Set("User-Agent", "stepback-relay")
	r.Header.Set("Idempotency-Key", `"`+m.ID+`"`)
	r.Header.Set("Webhook-Topic", m.Topic)
	r.Header.Set(HeaderID, m.ID)
	r.Header.Set(HeaderTimestamp, timestamp)
	r.Header.Del(HeaderSignature)
	if len(s.cfg.Secrets) > 0 {
		signatures := make([]string, len(s.cfg.Secrets))
		for i, secret := range s.cfg.Secrets {
			signatures[i] = secret.sign(m.ID, timestamp, m.Payload)
		}
		r.Header.Set(HeaderSignature, strings.Join(signatures, " "))
	}
	if m.TraceParent != "" {
		r.Header.Set("Traceparent", m.TraceParent)
		if m.TraceState != "" {
			r.Header.Set("Tracestate", m.TraceState)
		}
	}
}

// isToken reports whether the text is a valid header name.
func isToken(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
			!strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != ""
}

// refused returns the failure for a response that is not 2xx.
func (s *Sink) refused(answer *http.Response, body []byte) error {
	said := strings.ToValidUTF8(string(body[:min(len(body), 200)]), "�")
	err := fmt.Errorf("the webhook answered %s: %s", answer.Status, said)
	if c, ok := retry.ClassifyHTTP(answer.StatusCode); ok {
		f := &outbox.Failure{
			Name:       c.Error,
			Class:      c.Class,
			Err:        err,
			RetryAfter: s.retryAfter(answer.Header),
		}
		if answer.StatusCode == http.StatusRequestEntityTooLarge {
			f.Reason = outbox.ReasonTooLarge
		}
		return f
	}
	if to := answer.Header.Get("Location"); to != "" {
		return outbox.Permanent(
			"",
			fmt.Errorf("the webhook returned %s with the location %s, which is not followed: configure the relay with that URL",
				answer.Status, to),
		)
	}
	return outbox.Permanent("", err)
}

// retryAfter returns the pause that the webhook requests. It is 0 if there is no such header or the header is
// unreadable.
func (s *Sink) retryAfter(h http.Header) time.Duration {
	pause, _ := resilience.ParseRetryAfter(h.Get("Retry-After"), h.Get("Date"), s.cfg.Now())
	return pause
}

// RefuseErrors returns an error for a 2xx response whose body reports a failure. Such a body is a JSON object with
// an "error" or "errors" that is neither null, false nor empty, or with an "ok" or "success" that is false. The
// message is retried.
func RefuseErrors(status int, _ http.Header, body []byte) error {
	var said map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) || !json.Valid(body) {
		return nil
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return err
	}
	for _, name := range []string{"error", "errors"} {
		switch value := string(said[name]); value {
		case "", "null", "false", `""`, "[]", "{}", "0":
		default:
			return inside(status, name, value)
		}
	}
	for _, name := range []string{"ok", "success"} {
		if string(said[name]) == "false" {
			return inside(status, name, "false")
		}
	}
	return nil
}

func inside(status int, name, value string) error {
	return &outbox.Failure{
		Name: retry.InternalServerError, Class: retry.UnknownOutcome,
		Err: fmt.Errorf("the webhook answered %d with %q: %.200s", status, name, value),
	}
}
