package sns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"stepback/aws"
	"stepback/internal/outbound"
)

// client returns a client that, like SNS, does not follow redirects.
func (o *Options) client() *http.Client {
	return &http.Client{Transport: o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// post sends a message to an HTTP endpoint. If the endpoint has permanently rejected the message (with a status
// below 500 other than 429), the error is a client-side *aws.Error.
func (s *Service) post(ctx context.Context, m *message, sub *subscription, of terms) error {
	body, raw := m.body(sub.Protocol), sub.raw && m.Type == typeNotification
	if !raw {
		var err error
		if body, err = s.envelope(m, sub); err != nil {
			return err
		}
	}
	u, err := url.Parse(sub.Endpoint)
	if err != nil {
		return invalid("Endpoint %s", sub.Endpoint)
	}
	user := u.User
	u.User = nil
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(body))
	if err != nil {
		return invalid("Endpoint %s", sub.Endpoint)
	}
	if user != nil {
		password, _ := user.Password()
		r.SetBasicAuth(user.Username(), password)
	}
	h := r.Header
	h.Set("Content-Type", of.contentType)
	h.Set("User-Agent", "Amazon Simple Notification Service Agent")
	h.Set("X-Amz-Sns-Message-Type", m.Type)
	h.Set("X-Amz-Sns-Message-Id", m.ID)
	h.Set("X-Amz-Sns-Topic-Arn", m.Topic)
	h.Set("X-Amz-Sns-Subscription-Arn", sub.ARN)
	if raw {
		h.Set("X-Amz-Sns-Rawdelivery", isTrue)
	}
	a, err := s.opts.client().Do(r)
	if refused := outbound.Refused(err); refused != nil { // now and later
		return &aws.Error{Code: "AuthorizationError", Status: http.StatusForbidden, Message: sub.Endpoint + ": " + refused.Error()}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", sub.Endpoint, reason(err))
	}
	defer a.Body.Close()
	const read = 64 << 10 // so that the connection can be reused
	_, _ = io.Copy(io.Discard, io.LimitReader(a.Body, read))
	switch {
	case a.StatusCode < http.StatusMultipleChoices && a.StatusCode >= http.StatusOK:
		return nil
	case a.StatusCode < http.StatusInternalServerError && a.StatusCode != http.StatusTooManyRequests &&
		a.StatusCode >= http.StatusMultipleChoices:
		return &aws.Error{Code: "InvalidParameter", Status: http.StatusBadRequest, Message: sub.Endpoint + " answered " +
			a.Status}
	}
	return fmt.Errorf("%s answered %s", sub.Endpoint, a.Status)
}

// reason returns the cause of a failed request, without the URL, which may contain a password.
func reason(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
