package httptask

import (
	"context"
	"net/http"
	"net/url"

	"stepback/engine"
	"stepback/jsonvalue"
)

// Connection holds the authorization and parameters that an EventBridge connection adds to requests.
type Connection struct {
	// Username and Password are used for Basic authorization.
	Username, Password string
	// KeyName and KeyValue are the name and value of an API key header.
	KeyName, KeyValue string
	// OAuth describes how to obtain a token; nil if none is needed.
	OAuth *OAuth
	// Parameters are added to every request.
	Parameters Parameters
}

// OAuth describes a client credentials grant.
type OAuth struct {
	Endpoint, Method       string
	ClientID, ClientSecret string
	Parameters             Parameters
}

// Parameters holds additions to a request.
type Parameters struct{ Header, Query, Body []Parameter }

// Parameter is a name and a value.
type Parameter struct{ Key, Value string }

// Connections looks up connections by ARN.
type Connections interface {
	Find(ctx context.Context, arn string) (*Connection, error)
}

// authorize adds a connection's authorization and parameters to a request.
func (i *Integration) authorize(ctx context.Context, d *description, c *Connection) error {
	switch {
	case c.Username != "":
		r := http.Request{Header: d.header}
		r.SetBasicAuth(c.Username, c.Password)
	case c.KeyName != "":
		d.header.Set(c.KeyName, c.KeyValue)
	case c.OAuth != nil:
		token, err := i.token(ctx, c.OAuth)
		if err != nil {
			return err
		}
		d.header.Set("Authorization", "Bearer "+token)
	}
	for _, p := range c.Parameters.Header {
		d.header.Set(p.Key, p.Value)
	}
	for _, p := range c.Parameters.Query {
		d.query.Set(p.Key, p.Value)
	}
	for _, p := range c.Parameters.Body {
		if !d.hasBody {
			d.body, d.hasBody = jsonvalue.NewObject(1).Value(), true
		}
		if d.body.Kind() == jsonvalue.Object {
			d.body = d.body.With(p.Key, jsonvalue.OfString(p.Value))
		}
	}
	return nil
}

// token requests an access token.
func (i *Integration) token(ctx context.Context, o *OAuth) (string, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil {
		return "", socketError(err)
	}
	grant := jsonvalue.Value{}
	for _, p := range append([]Parameter{
		{"grant_type", "client_credentials"}, {"client_id", o.ClientID}, {"client_secret", o.ClientSecret},
	}, o.Parameters.Body...) {
		grant = grant.With(p.Key, jsonvalue.OfString(p.Value))
	}
	d := &description{
		endpoint: u, method: o.Method, header: http.Header{}, query: url.Values{}, body: grant, hasBody: true,
		encoding: encodeURL,
	}
	for _, p := range o.Parameters.Header {
		d.header.Set(p.Key, p.Value)
	}
	for _, p := range o.Parameters.Query {
		d.query.Set(p.Key, p.Value)
	}
	r, err := d.request(ctx, i.Region)
	if err != nil {
		return "", err
	}
	answer, err := i.exchange(r, nil)
	if err != nil {
		return "", err
	}
	body, _ := answer.Value().Get("ResponseBody")
	token, _ := body.Get("access_token")
	if token.Text() == "" {
		return "", engine.NewFailure("States.TaskFailed", "The authorization endpoint "+u.Host+
			" answered without an access_token.")
	}
	return token.Text(), nil
}
