package httptask

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stepback/engine"
	"stepback/jsonvalue"
)

// Gateway performs apigateway:invoke: requests to an API of API Gateway.
type Gateway struct {
	// Endpoint returns the base URL of requests. The Host header names the API, so that an emulator can find it. If
	// Endpoint is nil or returns "", only APIs on this machine can be called. An API on AWS is called only if
	// Endpoint returns its URL.
	Endpoint func() string
	// Sign signs requests with the AuthType IAM_ROLE; nil leaves them unsigned.
	Sign func(ctx context.Context, r *http.Request, body string) error
	// Transport sends the requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
}

// The values of AuthType.
const (
	authNone = "NO_AUTH"
	authRole = "IAM_ROLE"
)

// call is the request that the parameters of apigateway:invoke describe.
type call struct {
	host, method, stage, path, auth, body string
	hasBody                               bool
	header                                http.Header
	query                                 url.Values
}

// CheckParameters implements engine.ParameterChecker.
func (g *Gateway) CheckParameters(t *engine.Task) error {
	params, err := t.Value()
	if err != nil {
		return err
	}
	if _, problems := describeCall(params); len(problems) > 0 {
		return unusable(t.Parameters, problems)
	}
	return nil
}

// Invoke implements engine.Integration.
func (g *Gateway) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	params, err := t.Value()
	if err != nil {
		return nil, err
	}
	c, problems := describeCall(params)
	if len(problems) > 0 {
		return nil, unusable(t.Parameters, problems)
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	r, err := g.request(ctx, c)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: g.Transport, CheckRedirect: stay}
	answer, err := client.Do(r)
	if err != nil {
		return nil, engine.NewFailure("ApiGateway.SdkClientException", "Unable to execute HTTP request: "+
			cause(err))
	}
	defer answer.Body.Close()
	return g.result(answer)
}

// request returns the HTTP request for a call.
func (g *Gateway) request(ctx context.Context, c *call) (*http.Request, error) {
	base, err := g.base(c)
	if err != nil {
		return nil, err
	}
	base = base.JoinPath(c.stage, c.path)
	base.RawQuery = c.query.Encode()
	r, err := http.NewRequestWithContext(ctx, c.method, base.String(), strings.NewReader(c.body))
	if err != nil {
		return nil, engine.NewFailure("ApiGateway.SdkClientException", cause(err))
	}
	if !c.hasBody {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	r.Header, r.Host = c.header, c.host
	if c.hasBody && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.auth == authRole && g.Sign != nil {
		return r, g.Sign(ctx, r, c.body)
	}
	return r, nil
}

// base returns the base URL of an API.
func (g *Gateway) base(c *call) (*url.URL, error) {
	if g.Endpoint != nil {
		if address := strings.TrimSpace(g.Endpoint()); address != "" {
			u, err := url.Parse(address)
			if err != nil || u.Host == "" {
				return nil, engine.NewFailure(engine.StatesTaskFailed, "the endpoint of API Gateway is "+
					strconv.Quote(address)+"; give a URL")
			}
			return u, nil
		}
	}
	u := &url.URL{Scheme: "http", Host: c.host}
	if !isLoopback(u.Hostname()) {
		return nil, engine.NewFailure("ApiGateway.SdkClientException",
			"no endpoint for API Gateway is configured; set APIGATEWAY_ENDPOINT to the URL at which "+c.host+
				" is called")
	}
	return u, nil
}

// result converts a response to the task's result, or to an error named after the status.
func (g *Gateway) result(r *http.Response) (engine.Result, error) {
	text, err := bodyOf(r)
	if err != nil {
		return nil, engine.NewFailure("ApiGateway.SdkClientException", "Unable to execute HTTP request: "+
			cause(err))
	}
	if r.StatusCode < http.StatusOK || r.StatusCode >= http.StatusMultipleChoices {
		return nil, engine.NewFailure("ApiGateway."+strconv.Itoa(r.StatusCode), shortened(text))
	}
	return parts(r, headers(r.Header, gatewayHeader), text), nil
}

// gatewayHeader returns a header's name in API Gateway's spelling, such as Content-Type or x-amzn-RequestId.
func gatewayHeader(name string) string {
	switch {
	case strings.EqualFold(name, "x-amzn-requestid"):
		return "x-amzn-RequestId"
	case strings.HasPrefix(name, "X-"):
		return strings.ToLower(name)
	default:
		return name
	}
}

// describeCall parses the parameters of apigateway:invoke.
func describeCall(params jsonvalue.Value) (*call, []string) {
	r := &reader{}
	c := &call{header: http.Header{}, query: url.Values{}, auth: authNone}
	for i, key := range params.Keys() {
		v := params.At(i)
		switch key {
		case "ApiEndpoint":
			c.host = r.host(v)
		case "Method":
			c.method = v.Text()
		case "Stage":
			c.stage = v.Text()
		case "Path":
			c.path = v.Text()
		case "AuthType":
			c.auth = r.auth(v)
		case "Headers":
			r.listed(key, v, c.header.Add)
			r.permitted(c.header)
		case "QueryParameters":
			r.listed(key, v, c.query.Add)
		case "RequestBody":
			c.body, c.hasBody = textOf(v), !v.IsNull()
		case "AllowNullValues": // nulls are always kept
		default:
			r.problems = append(r.problems, `The field "`+key+`" is not supported by Step Functions`)
		}
	}
	if _, ok := params.Get("ApiEndpoint"); !ok {
		r.missing("ApiEndpoint")
	}
	switch {
	case c.method == "":
		r.missing("Method")
	case !slices.Contains(methods, c.method):
		r.invalid("Method")
	}
	return c, r.problems
}

// host parses an API's host, which has no scheme and no path.
func (r *reader) host(v jsonvalue.Value) string {
	u, err := url.Parse("//" + v.Text())
	if err != nil || u.Host == "" || u.Host != v.Text() {
		r.invalid("ApiEndpoint")
	}
	return v.Text()
}

func (r *reader) auth(v jsonvalue.Value) string {
	if !slices.Contains([]string{authNone, authRole, "RESOURCE_POLICY"}, v.Text()) {
		r.invalid("AuthType")
	}
	return v.Text()
}

// listed parses headers and query parameters whose values are always arrays.
func (r *reader) listed(field string, v jsonvalue.Value, add func(name, value string)) {
	if v.IsNull() {
		return
	}
	for i := range v.Keys() {
		if v.At(i).Kind() != jsonvalue.Array {
			r.invalid(field)
			return
		}
	}
	r.pairs(field, v, add)
}

// permitted rejects the headers that Step Functions sets itself, and hop-by-hop headers.
func (r *reader) permitted(h http.Header) {
	refused := []string{
		"Authorization", "Connection", "Content-Md5", "Expect", "Host", "Max-Forwards", "Proxy-Authenticate", "Server",
		"Te",
		"Transfer-Encoding", "Trailer", "Upgrade", "Via", "Www-Authenticate",
	}
	for name := range h {
		if slices.Contains(refused, name) || strings.HasPrefix(name, "X-Forwarded") ||
			strings.HasPrefix(name, "X-Amz") {
			r.invalid("Headers")
			return
		}
	}
}
