package kubernetes

import (
	"context"
	"net/http"
	"slices"

	"stepback/engine"
	"stepback/jsonvalue"
)

// Call performs eks:call.
type Call struct{ API *API }

var methods = []string{
	http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut,
}

// Invoke implements engine.Integration.
func (c Call) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	params, err := t.Value()
	if err != nil {
		return nil, err
	}
	p := parameters{params: params}
	r := p.cluster()
	r.method, r.path, r.query = p.text("Method", true), p.text("Path", true), p.lists("QueryParameters", params)
	if r.method != "" && !slices.Contains(methods, r.method) {
		p.invalid("Method")
	}
	if body, ok := params.Get("RequestBody"); ok && !body.IsNull() {
		r.body, r.kind = content(body), contentType(r.method, body)
	}
	p.only("ClusterName", "CertificateAuthority", "Endpoint", "Method", "Path", "QueryParameters", "RequestBody")
	if err := p.err(t); err != nil {
		return nil, err
	}
	a, err := c.API.do(ctx, r)
	if err != nil {
		return nil, err
	}
	return engine.ValueResult(a.value()), nil
}

// contentType returns the content type of a request, which is JSON. For a PATCH, it says whether the body is a list
// of operations or an object to merge.
func contentType(method string, body jsonvalue.Value) string {
	switch {
	case method != http.MethodPatch:
		return "application/json"
	case body.Kind() == jsonvalue.Array:
		return "application/json-patch+json"
	default:
		return "application/merge-patch+json"
	}
}

// content returns a string's content, or the JSON text of any other value.
func content(v jsonvalue.Value) string {
	if v.Kind() == jsonvalue.String {
		return v.Text()
	}
	return v.JSON()
}

// value returns a response in the form used in results and causes.
func (a *answer) value() jsonvalue.Value {
	const members = 3
	b := jsonvalue.NewObject(members)
	b.Set("ResponseBody", parsed(a.body))
	b.Set("StatusCode", jsonvalue.OfInt(int64(a.code)))
	b.Set("StatusText", jsonvalue.OfString(a.status))
	return b.Value()
}

// parsed returns the value of JSON text, or other text as a string.
func parsed(text string) jsonvalue.Value {
	if v, err := jsonvalue.Parse(text); err == nil {
		return v
	}
	return jsonvalue.OfString(text)
}
