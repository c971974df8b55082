package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"stepback/asl/jsonpath"
	"stepback/aws"
	"stepback/internal/outbound"
	"stepback/jsonvalue"
	"stepback/local/services/dispatch"
	"stepback/tasks/httptask"
)

// callTimeout is the maximum response time of an API destination, as on AWS.
const callTimeout = 5 * time.Second

// requestParameters returns the parameters of a request to an API destination, with the event's values filled in.
// It returns an empty text for a bus, which needs none.
func (t *target) requestParameters(e *event) string {
	if t.HTTPParameters == nil || isBus(t.ARN) {
		return ""
	}
	resolved := httpParameters{HeaderParameters: map[string]string{}, QueryStringParameters: map[string]string{}}
	for _, v := range t.HTTPParameters.PathParameterValues {
		resolved.PathParameterValues = append(resolved.PathParameterValues, e.resolve(v))
	}
	for k, v := range t.HTTPParameters.HeaderParameters {
		resolved.HeaderParameters[k] = e.resolve(v)
	}
	for k, v := range t.HTTPParameters.QueryStringParameters {
		resolved.QueryStringParameters[k] = e.resolve(v)
	}
	text, err := json.Marshal(resolved)
	if err != nil {
		return "" // maps of texts can always be encoded
	}
	return string(text)
}

// resolve returns value itself or, if it is a path, the part of the event that it selects.
func (e *event) resolve(value string) string {
	if !strings.HasPrefix(value, "$.") {
		return value
	}
	p, err := jsonpath.Compile(value)
	if err != nil {
		return value
	}
	v, err := p.Select(e.value)
	switch {
	case err != nil:
		return ""
	case v.Kind() == jsonvalue.String:
		return v.Text()
	}
	return v.JSON()
}

// call sends a letter to an API destination.
func (s *Service) call(ctx context.Context, l *dispatch.Letter) error {
	a, _ := aws.ParseARN(l.To)
	name, id, _ := strings.Cut(strings.TrimPrefix(a.Resource, "api-destination/"), "/")
	d, err := s.findDestination(a.Scope(), name)
	if err != nil {
		return err
	}
	if d.ID != id {
		return notFound("An api-destination '%s' does not exist.", l.To)
	}
	connection, err := s.Find(ctx, d.Connection)
	if err != nil {
		return err
	}
	if at := s.rates.slot(d.arn(), d.Rate, l.ID, s.now()); !at.IsZero() {
		return &dispatch.Later{At: at}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := request(ctx, d, connection, l)
	if err != nil {
		return err
	}
	if connection.OAuth != nil {
		token, err := s.token(ctx, d.Connection, connection.OAuth)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	status, _, err := s.exchange(r)
	if status == http.StatusUnauthorized {
		s.tokens.forget(d.Connection)
	}
	return err
}

// request builds the HTTP request for a letter.
func request(ctx context.Context, d *destination, c *httptask.Connection, l *dispatch.Letter) (*http.Request, error) {
	var p httpParameters
	if l.Owner != "" {
		if err := json.Unmarshal([]byte(l.Owner), &p); err != nil {
			return nil, err
		}
	}
	address := d.Endpoint
	for _, v := range p.PathParameterValues {
		address = strings.Replace(address, "*", url.PathEscape(v), 1)
	}
	body := l.Message.Body
	if len(c.Parameters.Body) > 0 {
		if v, err := jsonvalue.Parse(body); err == nil && v.Kind() == jsonvalue.Object {
			for _, b := range c.Parameters.Body {
				v = v.With(b.Key, jsonvalue.OfString(b.Value))
			}
			body = v.JSON()
		}
	}
	r, err := http.NewRequestWithContext(ctx, d.Method, address, strings.NewReader(body))
	if err != nil {
		return nil, invalid("The endpoint of the API destination is not valid.")
	}
	query := r.URL.Query()
	for k, v := range p.QueryStringParameters {
		query.Set(k, v)
	}
	for _, q := range c.Parameters.Query {
		query.Set(q.Key, q.Value)
	}
	r.URL.RawQuery = query.Encode()
	r.Header.Set("User-Agent", "Amazon/EventBridge/ApiDestinations")
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	for k, v := range p.HeaderParameters {
		r.Header.Set(k, v)
	}
	for _, h := range c.Parameters.Header {
		r.Header.Set(h.Key, h.Value)
	}
	switch {
	case c.Username != "":
		r.SetBasicAuth(c.Username, c.Password)
	case c.KeyName != "":
		r.Header.Set(c.KeyName, c.KeyValue)
	}
	return r, nil
}

// token returns an access token from a client credentials grant. The token is cached until it expires.
func (s *Service) token(ctx context.Context, connection string, o *httptask.OAuth) (string, error) {
	if token := s.tokens.get(connection, s.now()); token != "" {
		return token, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {o.ClientID}, "client_secret": {o.ClientSecret}}
	for _, p := range o.Parameters.Body {
		form.Set(p.Key, p.Value)
	}
	method, address, body := o.Method, o.Endpoint, io.Reader(strings.NewReader(form.Encode()))
	if method == http.MethodGet {
		address, body = address+"?"+form.Encode(), http.NoBody
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return "", invalid("The authorization endpoint of the connection is not valid.")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	for _, p := range o.Parameters.Header {
		r.Header.Set(p.Key, p.Value)
	}
	if len(o.Parameters.Query) > 0 {
		query := r.URL.Query()
		for _, p := range o.Parameters.Query {
			query.Set(p.Key, p.Value)
		}
		r.URL.RawQuery = query.Encode()
	}
	_, text, err := s.exchange(r)
	if err != nil {
		return "", err
	}
	var answer struct {
		Token   string `json:"access_token"`
		Expires int64  `json:"expires_in"`
	}
	if json.Unmarshal(text, &answer) != nil || answer.Token == "" {
		return "", &aws.Error{Code: "AuthorizationError", Message: "The authorization endpoint answered without an access_token."}
	}
	const usual, margin = 300, 10
	if answer.Expires == 0 {
		answer.Expires = usual
	}
	s.tokens.put(connection, answer.Token, s.now().Add(time.Duration(answer.Expires-margin)*time.Second))
	return answer.Token, nil
}

// exchange sends a request. The code of the error determines whether the request is retried: AWS retries 401, 407,
// 409, 429 and 5xx.
func (s *Service) exchange(r *http.Request) (status int, body []byte, err error) {
	c := &http.Client{Transport: s.o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := c.Do(r)
	if err != nil {
		var at *url.Error // its text contains the URL, whose query may contain a secret
		if errors.As(err, &at) {
			err = at.Err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return 0, nil, err
		}
		if refused := outbound.Refused(err); refused != nil { // now and later
			return 0, nil, &aws.Error{Code: "TargetRefused", Message: refused.Error(), Status: http.StatusForbidden}
		}
		return 0, nil, &aws.Error{Code: "ConnectionFailure", Message: err.Error(), Status: http.StatusServiceUnavailable}
	}
	defer answer.Body.Close()
	const most = 1 << 20
	body, err = io.ReadAll(io.LimitReader(answer.Body, most))
	if err != nil {
		return answer.StatusCode, nil, &aws.Error{Code: "ConnectionFailure", Message: err.Error(), Status: http.StatusBadGateway}
	}
	switch status := answer.StatusCode; {
	case status < http.StatusMultipleChoices:
		return status, body, nil
	case status == http.StatusUnauthorized, status == http.StatusProxyAuthRequired, status == http.StatusConflict,
		status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		err = &aws.Error{Code: "HttpStatus", Message: fmt.Sprintf("The endpoint answered %d.", status),
			Status: http.StatusServiceUnavailable}
	default:
		err = &aws.Error{Code: "HttpStatus", Message: fmt.Sprintf("The endpoint answered %d.", status)}
	}
	return answer.StatusCode, nil, err
}
