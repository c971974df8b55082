package events

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
	"stepback/tasks/httptask"
)

// The states of a connection.
const (
	authorized   = "AUTHORIZED"
	deauthorized = "DEAUTHORIZED"
)

// Secrets encrypts the secrets of connections.
type Secrets interface {
	// Encrypt encrypts a value for Decrypt. key is the ID, ARN or alias of a key in the account. about identifies
	// the value's owner; Decrypt requires the same about.
	Encrypt(ctx context.Context, scope aws.Scope, key, about, value string) (string, error)
	Decrypt(ctx context.Context, scope aws.Scope, about, encrypted string) (string, error)
}

// Vault stores the secrets of connections as secrets of Secrets Manager that EventBridge manages.
type Vault interface {
	// Put adds a new version of a secret to a batch; the secret is created if it does not exist. suffix is the end of
	// its ARN, after its name.
	Put(ctx context.Context, b *documents.Batch, scope aws.Scope, name, suffix, key, text string) error
	// Delete adds the deletion of a secret to a batch.
	Delete(b *documents.Batch, scope aws.Scope, name string)
	// Has reports whether a secret exists.
	Has(scope aws.Scope, name string) (bool, error)
}

// usualKey is Secrets Manager's key, with which AWS encrypts the secrets of connections that name no key.
const usualKey = "alias/aws/secretsmanager"

// connection is the stored form of a connection. Its secrets are encrypted, and no operation returns them. Secrets
// Manager has a copy of them (SecretArn).
type connection struct {
	Account, Region, Name, ID string
	Description               string          `json:",omitempty"`
	Kind                      string          // BASIC, API_KEY or OAUTH_CLIENT_CREDENTIALS
	KmsKey                    string          `json:",omitempty"`
	Auth                      json.RawMessage // without secrets
	// AuthParameters including the secrets, encrypted; empty after the connection has been deauthorized
	Sealed                        string
	State                         string
	Created, Modified, Authorized int64 // milliseconds since 1970
}

func (c *connection) scope() aws.Scope { return aws.Scope{Account: c.Account, Region: c.Region} }
func (c *connection) arn() string {
	return c.scope().ARN("events", "connection/"+c.Name+"/"+c.ID)
}
func (c *connection) secretName() string   { return "events!connection/" + c.Name + "/" + c.ID }
func (c *connection) secretSuffix() string { return c.ID[:6] }
func (c *connection) secretARN() string {
	return c.scope().ARN("secretsmanager", "secret:"+c.secretName()+"-"+c.secretSuffix())
}
func (c *connection) key() string { return "connection/" + c.Account + "/" + c.Region + "/" + c.Name }

// authorization holds the AuthParameters of a connection.
type authorization struct {
	Basic *struct{ Username, Password string } `json:"BasicAuthParameters"`
	Key   *struct {
		Name  string `json:"ApiKeyName"`
		Value string `json:"ApiKeyValue"`
	} `json:"ApiKeyAuthParameters"`
	OAuth *struct {
		Client     struct{ ClientID, ClientSecret string } `json:"ClientParameters"`
		Endpoint   string                                  `json:"AuthorizationEndpoint"`
		Method     string                                  `json:"HttpMethod"`
		Parameters additions                               `json:"OAuthHttpParameters"`
	} `json:"OAuthParameters"`
	Parameters additions `json:"InvocationHttpParameters"`
	Private    any       `json:"ConnectivityParameters"`
}

// additions holds the ConnectionHttpParameters.
type additions struct {
	Header []addition `json:"HeaderParameters"`
	Query  []addition `json:"QueryStringParameters"`
	Body   []addition `json:"BodyParameters"`
}

type addition struct{ Key, Value string }

func (a additions) parameters() httptask.Parameters {
	list := func(from []addition) []httptask.Parameter {
		to := make([]httptask.Parameter, 0, len(from))
		for _, p := range from {
			to = append(to, httptask.Parameter(p))
		}
		return to
	}
	return httptask.Parameters{Header: list(a.Header), Query: list(a.Query), Body: list(a.Body)}
}

// seal sets the AuthParameters of a connection, with the secrets encrypted.
func (s *Service) seal(ctx context.Context, c *connection, auth jsonvalue.Value) error {
	if s.o.Secrets == nil {
		return invalid("Connections are not supported here: there are no keys to encrypt their secrets.")
	}
	sealed, err := s.o.Secrets.Encrypt(ctx, c.scope(), cmp.Or(c.KmsKey, usualKey), c.secretARN(), auth.JSON())
	if err != nil {
		return err
	}
	c.Sealed, c.Auth = sealed, json.RawMessage(shown(auth).JSON())
	return nil
}

// open returns the AuthParameters of a connection, including its secrets.
func (s *Service) open(ctx context.Context, c *connection) (string, error) {
	if c.Sealed == "" {
		return string(c.Auth), nil
	}
	if s.o.Secrets == nil {
		return "", invalid("Connection '%s' cannot be used: there are no keys to decrypt its secrets.", c.Name)
	}
	return s.o.Secrets.Decrypt(ctx, c.scope(), c.secretARN(), c.Sealed)
}

// sealAll encrypts the secrets of connections that an earlier version stored in plain text.
func (s *Service) sealAll() error {
	var plain []*connection
	if err := s.table.Scan("connection/", func(_ string, text []byte) error {
		c := &connection{}
		err := json.Unmarshal(text, c)
		if err == nil && c.Sealed == "" && c.State == authorized {
			plain = append(plain, c)
		}
		return err
	}); err != nil || s.o.Secrets == nil {
		return err
	}
	for _, c := range plain {
		auth, err := jsonvalue.Parse(string(c.Auth))
		if err == nil {
			err = s.seal(s.ctx, c, auth)
		}
		if err == nil {
			err = s.keepJSON(c.key(), c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// share puts the secret of each stored connection into Secrets Manager if it is missing there: an earlier version
// stored it only here.
func (s *Service) share() error {
	if s.o.Vault == nil {
		return nil
	}
	var all []*connection
	if err := s.table.Scan("connection/", func(_ string, text []byte) error {
		c := &connection{}
		err := json.Unmarshal(text, c)
		if err == nil && c.Sealed != "" {
			all = append(all, c)
		}
		return err
	}); err != nil {
		return err
	}
	for _, c := range all {
		there, err := s.o.Vault.Has(c.scope(), c.secretName())
		if err == nil && !there {
			err = s.keepConnection(s.ctx, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepConnection stores a connection together with its secret.
func (s *Service) keepConnection(ctx context.Context, c *connection) error {
	text := ""
	if s.o.Vault != nil && c.Sealed != "" {
		opened, err := s.open(ctx, c)
		if err != nil {
			return err
		}
		auth, err := jsonvalue.Parse(opened)
		if err != nil {
			return err
		}
		text = secretOf(auth)
	}
	return s.o.Store.Write(func(b *documents.Batch) error {
		if text != "" {
			if err := s.o.Vault.Put(ctx, b, c.scope(), c.secretName(), c.secretSuffix(), cmp.Or(c.KmsKey, usualKey),
				text); err != nil {
				return err
			}
		}
		return putJSON(b, s.table, c.key(), c)
	})
}

// dropSecret deletes the secret of a connection in a batch.
func (s *Service) dropSecret(b *documents.Batch, c *connection) {
	if s.o.Vault != nil {
		s.o.Vault.Delete(b, c.scope(), c.secretName())
	}
}

// The members of AuthParameters in a connection's secret, in AWS's order.
var secretMembers = []struct{ group, member, name string }{
	{"BasicAuthParameters", "Username", "username"}, {"BasicAuthParameters", "Password", "password"},
	{"ApiKeyAuthParameters", "ApiKeyName", "api_key_name"}, {"ApiKeyAuthParameters", "ApiKeyValue", "api_key_value"},
	{"OAuthParameters", "ClientParameters.ClientID", "client_id"},
	{"OAuthParameters", "ClientParameters.ClientSecret", "client_secret"},
	{"OAuthParameters", "AuthorizationEndpoint", "authorization_endpoint"},
	{"OAuthParameters", "HttpMethod", "http_method"},
	{"OAuthParameters", "OAuthHttpParameters", "oauth_http_parameters"},
	{"", "InvocationHttpParameters", "invocation_http_parameters"},
}

// secretOf returns the value of a connection's secret for its AuthParameters.
func secretOf(auth jsonvalue.Value) string {
	made := jsonvalue.NewObject(len(secretMembers))
	for _, m := range secretMembers {
		at, ok := auth, true
		if m.group != "" {
			at, ok = auth.Get(m.group)
		}
		for step := range strings.SplitSeq(m.member, ".") {
			if ok {
				at, ok = at.Get(step)
			}
		}
		if ok && !at.IsNull() {
			made.Set(m.name, snakeCase(at))
		}
	}
	return made.Value().JSON()
}

// snakeCase returns a value with the keys of its objects in snake case: HeaderParameters becomes header_parameters.
func snakeCase(v jsonvalue.Value) jsonvalue.Value {
	switch v.Kind() {
	case jsonvalue.Array:
		list := make([]jsonvalue.Value, v.Len())
		for i, e := range v.Elements() {
			list[i] = snakeCase(e)
		}
		return jsonvalue.OfArray(list)
	case jsonvalue.Object:
		made := jsonvalue.NewObject(v.Len())
		for i, key := range v.Keys() {
			var b strings.Builder
			for n, r := range key {
				if unicode.IsUpper(r) && n > 0 {
					b.WriteByte('_')
				}
				b.WriteRune(unicode.ToLower(r))
			}
			made.Set(b.String(), snakeCase(v.At(i)))
		}
		return made.Value()
	default:
		return v
	}
}

// requests returns the parameters that the connection adds to requests.
func (s *Service) requests(ctx context.Context, c *connection) (*httptask.Connection, error) {
	var a authorization
	text, err := s.open(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return nil, err
	}
	made := &httptask.Connection{Parameters: a.Parameters.parameters()}
	switch {
	case a.Basic != nil:
		made.Username, made.Password = a.Basic.Username, a.Basic.Password
	case a.Key != nil:
		made.KeyName, made.KeyValue = a.Key.Name, a.Key.Value
	case a.OAuth != nil:
		made.OAuth = &httptask.OAuth{Endpoint: a.OAuth.Endpoint, Method: strings.ToUpper(a.OAuth.Method),
			ClientID: a.OAuth.Client.ClientID, ClientSecret: a.OAuth.Client.ClientSecret,
			Parameters: a.OAuth.Parameters.parameters()}
	}
	return made, nil
}

// secrets are the members of AuthParameters that are never returned.
var secrets = []string{"Password", "ApiKeyValue", "ClientSecret"}

// shown returns AuthParameters as operations return them, without secrets.
func shown(v jsonvalue.Value) jsonvalue.Value {
	switch v.Kind() {
	case jsonvalue.Array:
		list := make([]jsonvalue.Value, v.Len())
		for i, e := range v.Elements() {
			list[i] = shown(e)
		}
		return jsonvalue.OfArray(list)
	case jsonvalue.Object:
		hidden, _ := v.Get("IsValueSecret")
		b := jsonvalue.NewObject(v.Len())
		for i, key := range v.Keys() {
			if !slices.Contains(secrets, key) && (key != "Value" || !hidden.Bool()) {
				b.Set(key, shown(v.At(i)))
			}
		}
		return b.Value()
	default:
		return v
	}
}

// check rejects parameters that do not belong to the kind of authorization.
func (c *connection) check(auth jsonvalue.Value) error {
	member := map[string]string{"BASIC": "BasicAuthParameters", "API_KEY": "ApiKeyAuthParameters",
		"OAUTH_CLIENT_CREDENTIALS": "OAuthParameters"}[c.Kind]
	if _, ok := auth.Get("ConnectivityParameters"); ok {
		return invalid("Parameter ConnectivityParameters is not supported here.")
	}
	if oauth, ok := auth.Get("OAuthParameters"); ok {
		method, _ := oauth.Get("HttpMethod") // AWS ignores its case
		if text := method.Text(); !slices.Contains([]string{"GET", "POST", "PUT"}, strings.ToUpper(text)) {
			return invalid("1 validation error detected: Value '%s' at 'authParameters.oAuthParameters.httpMethod' failed to "+
				"satisfy constraint: Member must satisfy enum value set: [GET, POST, PUT]", text)
		}
	}
	if _, ok := auth.Get(member); !ok {
		return invalid("Authorization parameters for %s are missing: %s.", c.Kind, member)
	}
	return nil
}

// findConnection returns a connection by its name, or a not found error.
func (s *Service) findConnection(scope aws.Scope, name string) (*connection, error) {
	c := &connection{Account: scope.Account, Region: scope.Region, Name: name}
	found, err := getJSON(s.table, c.key(), c)
	if err == nil && !found {
		err = notFound("Failed to describe the connection(s). Connection '%s' does not exist.", name)
	}
	return c, err
}

func getJSON(t *documents.Table, key string, v any) (bool, error) {
	text, found, err := t.Get(key)
	if err != nil || !found {
		return false, err
	}
	return true, json.Unmarshal(text, v)
}

// connectionOfARN returns a connection by its ARN.
func (s *Service) connectionOfARN(arn string) (*connection, error) {
	a, ok := aws.ParseARN(arn)
	name, id, _ := strings.Cut(strings.TrimPrefix(a.Resource, "connection/"), "/")
	if ok {
		if c, err := s.findConnection(a.Scope(), name); err == nil && c.ID == id || err != nil && !isRefusal(err) {
			return c, err
		}
	}
	return nil, notFound("Connection '%s' does not exist.", arn)
}

// Find returns the parameters that the connection with an ARN adds to requests; it implements httptask.Connections.
func (s *Service) Find(ctx context.Context, arn string) (*httptask.Connection, error) {
	c, err := s.connectionOfARN(arn)
	if err != nil {
		return nil, err
	}
	if c.State != authorized {
		return nil, invalid("Connection '%s' is %s.", arn, c.State)
	}
	return s.requests(ctx, c)
}

func (s *Service) keepJSON(key string, v any) error {
	return s.o.Store.Write(func(b *documents.Batch) error { return putJSON(b, s.table, key, v) })
}

func (s *Service) forget(key string) error {
	return s.o.Store.Write(func(b *documents.Batch) error {
		b.Delete(s.table, key)
		return nil
	})
}
