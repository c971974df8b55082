package httptask

import (
	"cmp"
	"context"
	"strings"

	"stepback/jsonvalue"
)

// AWS calls actions of AWS services. Results have the members' names of AWS SDK integrations.
type AWS interface {
	Call(ctx context.Context, service, action string, params jsonvalue.Value) (jsonvalue.Value, error)
}

// EventBridge looks up connections in EventBridge and their secrets in Secrets Manager.
type EventBridge struct{ AWS AWS }

// Find implements Connections.
func (e EventBridge) Find(ctx context.Context, arn string) (*Connection, error) {
	d, err := e.AWS.Call(ctx, "eventbridge", "describeConnection", one("Name", nameOf(arn)))
	if err != nil {
		return nil, err
	}
	secret := jsonvalue.Value{}
	if id := text(d, "SecretArn"); id != "" {
		kept, err := e.AWS.Call(ctx, "secretsmanager", "getSecretValue", one("SecretId", id))
		if err != nil {
			return nil, err
		}
		if secret, err = jsonvalue.Parse(text(kept, "SecretString")); err != nil {
			secret = jsonvalue.Value{}
		}
	}
	return connectionOf(get(d, "AuthParameters"), secret), nil
}

// nameOf returns the name in arn:aws:events:region:account:connection/NAME/ID.
func nameOf(arn string) string {
	_, rest, ok := strings.Cut(arn, ":connection/")
	if !ok {
		return arn
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// connectionOf returns a connection, given its description and its secret.
func connectionOf(shown, secret jsonvalue.Value) *Connection {
	basic, key, oauth := get(shown, "BasicAuthParameters"), get(shown, "ApiKeyAuthParameters"),
		get(shown, "OAuthParameters")
	c := &Connection{
		Username: cmp.Or(text(secret, "username"), text(basic, "Username")), Password: text(secret, "password"),
		KeyName: cmp.Or(text(secret, "api_key_name"), text(key, "ApiKeyName")), KeyValue: text(secret, "api_key_value"),
	}
	if !oauth.IsNull() {
		c.OAuth = &OAuth{
			Endpoint: text(oauth, "AuthorizationEndpoint"), Method: cmp.Or(text(oauth, "HttpMethod"), "POST"),
			ClientID:     cmp.Or(text(secret, "client_id"), text(get(oauth, "ClientParameters"), "ClientID")),
			ClientSecret: text(secret, "client_secret"),
			Parameters:   parameters(get(oauth, "OAuthHttpParameters"), get(secret, "oauth_http_parameters")),
		}
	}
	c.Parameters = parameters(get(shown, "InvocationHttpParameters"), get(secret, "invocation_http_parameters"))
	return c
}

// parameters returns the additions to requests. Values that the description does not show come from the secret.
func parameters(shown, secret jsonvalue.Value) Parameters {
	return Parameters{
		Header: pairs(shown, secret, "HeaderParameters", "header_parameters"),
		Query:  pairs(shown, secret, "QueryStringParameters", "query_string_parameters"),
		Body:   pairs(shown, secret, "BodyParameters", "body_parameters"),
	}
}

func pairs(shown, secret jsonvalue.Value, name, secretName string) []Parameter {
	var all []Parameter
	seen := map[string]int{}
	for _, v := range append(list(get(shown, name)), list(get(secret, secretName))...) {
		p := Parameter{cmp.Or(text(v, "Key"), text(v, "key")), cmp.Or(text(v, "Value"), text(v, "value"))}
		i, again := seen[p.Key]
		switch {
		case !again:
			seen[p.Key] = len(all)
			all = append(all, p)
		case p.Value != "":
			all[i] = p
		}
	}
	return all
}

func list(v jsonvalue.Value) []jsonvalue.Value {
	if v.Kind() != jsonvalue.Array {
		return nil
	}
	return v.Elements()
}

func get(v jsonvalue.Value, name string) jsonvalue.Value {
	m, _ := v.Get(name)
	return m
}

func text(v jsonvalue.Value, name string) string { return get(v, name).Text() }

func one(name, value string) jsonvalue.Value {
	b := jsonvalue.NewObject(1)
	b.Set(name, jsonvalue.OfString(value))
	return b.Value()
}
