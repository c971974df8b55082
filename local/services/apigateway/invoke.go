package apigateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/local/services/delivery"
	"stepback/local/services/lambda/httpevent"
	"stepback/tasks/lambda/invocation"
)

// callFunction responds with the result of a function.
func (s *Service) callFunction(ctx context.Context, w *answer, q *clientRequest, c *calledAPI, r *route, i *integration,
	authorization any) {
	uri := embeddedExpression.ReplaceAllStringFunc(i.IntegrationURI, func(e string) string {
		v, _ := q.look(e[2 : len(e)-1])
		return textOf(v)
	})
	event, err := s.event(q, c, r, i.PayloadFormatVersion, authorization)
	if err != nil {
		s.failed(w, c, i, err)
		return
	}
	payload, err := s.invoke(ctx, uri, c.sender(c.stage.StageName+"/"+r.place(q.Method), i.CredentialsArn), event)
	if err != nil {
		s.failed(w, c, i, err)
		return
	}
	if i.PayloadFormatVersion == format1 {
		payload, err = fromFormat1(w.Header(), payload)
		if err != nil {
			s.failed(w, c, i, err)
			return
		}
	}
	shown := shape(w, q, c, i)
	if !httpevent.Understood(payload) {
		w.refuse(http.StatusInternalServerError, wordsInternal, "The answer of the function is not in the form that API Gateway expects")
		return
	}
	httpevent.Write(shown, payload)
}

// invoke invokes the function of a URI and waits for its result.
func (s *Service) invoke(ctx context.Context, uri string, from delivery.Sender, event []byte) ([]byte, error) {
	arn, ok := functionOf(uri)
	if !ok {
		return nil, fmt.Errorf("%s names no function", uri)
	}
	if s.o.Targets != nil {
		if err := s.o.Targets.AllowedFor(ctx, from, arn.String()); err != nil {
			return nil, err
		}
	}
	name, qualifier, _ := strings.Cut(strings.TrimPrefix(arn.Resource, "function:"), ":")
	a, err := s.o.Functions.Invoke(ctx, arn.Scope(), &invocation.Request{FunctionName: name, Qualifier: qualifier,
		Payload: event, Valid: true})
	if err != nil {
		return nil, err
	}
	if a.FunctionError != "" {
		return nil, fmt.Errorf("the function %s failed: %s", name, a.Payload)
	}
	return a.Payload, nil
}

// sender returns the identity with which this service calls targets of an API; what is the route, as stage, method
// and path.
func (c *calledAPI) sender(what, role string) delivery.Sender {
	return delivery.Sender{Service: "apigateway.amazonaws.com", Source: c.scope().ARN("execute-api", c.ID+"/"+what), Role: role}
}

// place returns a route as it appears in functions' permissions for a request method: GET/pets/{id}.
func (r *route) place(method string) string {
	_, path, ok := strings.Cut(r.RouteKey, " ")
	if !ok {
		return r.RouteKey
	}
	return method + path
}

// event builds a function's event for a request.
func (s *Service) event(q *clientRequest, c *calledAPI, r *route, format string, authorization any) ([]byte, error) {
	at := time.UnixMilli(number(q.context["requestTimeEpoch"]))
	if format == format1 {
		return s.event1(q, c, r, authorization)
	}
	about := &httpevent.About{API: c.ID, Domain: q.context["domainName"], Account: c.Account, Route: r.RouteKey,
		Stage: c.stage.StageName, Path: unescaped(q.path), Parameters: q.variables, Variables: c.stage.StageVariables,
		Request: q.context["requestId"], At: at, Authorization: authorization}
	if r.AuthorizationType == "AWS_IAM" {
		about.AccessKey = accessKey(q.Request)
	}
	return httpevent.FromBody(q.Request, q.body, about)
}

func accessKey(r *http.Request) string {
	_, credential, ok := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if !ok {
		credential = r.URL.Query().Get("X-Amz-Credential")
	}
	key, _, _ := strings.Cut(credential, "/")
	return key
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // our own text
	return n
}

func unescaped(path string) string {
	if text, err := url.PathUnescape(path); err == nil {
		return text
	}
	return path
}

// event1 builds an event in the payload format 1.0.
func (s *Service) event1(q *clientRequest, c *calledAPI, r *route, authorization any) ([]byte, error) {
	headers, allHeaders := map[string]string{}, map[string][]string{}
	for name, values := range q.Header {
		headers[name], allHeaders[name] = values[len(values)-1], values
	}
	headers["Host"], allHeaders["Host"] = q.Host, []string{q.Host}
	query := map[string]string{}
	for name, values := range q.URL.Query() {
		query[name] = values[len(values)-1]
	}
	resource := r.RouteKey
	if _, path, ok := strings.Cut(resource, " "); ok {
		resource = path
	}
	body, encoded := httpevent.Body(q.Request, q.body)
	context := map[string]any{"accountId": c.Account, "apiId": c.ID, "domainName": q.context["domainName"],
		"domainPrefix": c.ID, "extendedRequestId": q.context["requestId"], "httpMethod": q.Method,
		"identity": map[string]any{"accessKey": nil, "accountId": nil, "caller": nil, "cognitoAmr": nil,
			"cognitoAuthenticationProvider": nil, "cognitoAuthenticationType": nil, "cognitoIdentityId": nil,
			"cognitoIdentityPoolId": nil, "principalOrgId": nil, "sourceIp": q.context["identity.sourceIp"], "user": nil,
			"userAgent": q.UserAgent(), "userArn": nil},
		"path": unescaped(q.path), "protocol": q.Proto, "requestId": q.context["requestId"],
		"requestTime": q.context["requestTime"], "requestTimeEpoch": number(q.context["requestTimeEpoch"]),
		"resourceId": nil, "resourcePath": resource, "stage": c.stage.StageName}
	if authorization != nil {
		context["authorizer"] = authorization
	}
	return json.Marshal(map[string]any{"version": format1, "resource": resource, "path": unescaped(q.path),
		"httpMethod": q.Method, "headers": headers, "multiValueHeaders": allHeaders,
		"queryStringParameters": orNull(query), "multiValueQueryStringParameters": orNull(q.URL.Query()),
		"requestContext": context, "pathParameters": orNull(q.variables), "stageVariables": orNull(c.stage.StageVariables),
		"body": body, "isBase64Encoded": encoded})
}

func orNull[M ~map[string]V, V any](m M) any {
	if len(m) == 0 {
		return nil
	}
	return m
}

// fromFormat1 converts a function's result from format 1.0 to 2.0, and adds its headers with multiple values to h.
func fromFormat1(h http.Header, payload []byte) ([]byte, error) {
	var returned struct {
		Status json.RawMessage     `json:"statusCode"`
		Many   map[string][]string `json:"multiValueHeaders"`
	}
	if err := json.Unmarshal(payload, &returned); err != nil || returned.Status == nil {
		return nil, errors.New("the function's answer has no statusCode, as the payload format 1.0 wants one")
	}
	for name, values := range returned.Many {
		for _, v := range values {
			h.Add(name, v)
		}
	}
	return payload, nil
}

// callService calls an operation of a service.
func (s *Service) callService(ctx context.Context, w *answer, q *clientRequest, c *calledAPI, i *integration) {
	of := subtypes[i.IntegrationSubtype]
	in := q.parameters(i)
	for _, name := range of.required {
		if in[name] == nil {
			w.refuse(http.StatusBadRequest, "Bad Request", "Parameter: "+name+" could not be resolved")
			return
		}
	}
	if of.of != nil {
		in = of.of(in)
	}
	scope := c.scope()
	if region := i.RequestParameters["Region"]; region != "" {
		scope.Region = region
	}
	var out json.RawMessage
	err := s.o.API(scope, i.CredentialsArn).Call(ctx, of.service, of.operation, in, &out)
	shown := shape(w, q, c, i)
	shown.Header().Set("Content-Type", "application/json")
	var refused smithy.APIError
	switch {
	case err == nil:
		_, _ = shown.Write(out)
	case errors.As(err, &refused):
		status := http.StatusBadRequest
		if refused.ErrorFault() == smithy.FaultServer {
			status = http.StatusInternalServerError
		}
		w.wrong = refused.ErrorMessage()
		body, _ := json.Marshal(map[string]string{"__type": refused.ErrorCode(), "message": refused.ErrorMessage()})
		shown.WriteHeader(status)
		_, _ = shown.Write(body)
	default:
		s.failed(w, c, i, err)
	}
}

// callServer forwards a request to an HTTP server.
func (s *Service) callServer(ctx context.Context, w *answer, q *clientRequest, c *calledAPI, i *integration) {
	target := i.IntegrationURI
	for name, value := range q.variables {
		target = strings.NewReplacer("{"+name+"}", escapedPath(value), "{"+name+"+}", escapedPath(value)).Replace(target)
	}
	u, err := url.Parse(target)
	if err != nil {
		w.refuse(http.StatusInternalServerError, wordsInternal, err.Error())
		return
	}
	query := q.URL.Query()
	for name, values := range u.Query() {
		query[name] = values
	}
	header := q.Header.Clone()
	for name, expression := range i.RequestParameters {
		action, of, _ := strings.Cut(name, ":")
		kind, what, _ := strings.Cut(of, ".")
		v, _ := q.evaluate(expression)
		text := textOf(v)
		switch kind {
		case "header":
			edit(action, text, func() { header.Del(what) }, func() { header.Add(what, text) })
		case "querystring":
			edit(action, text, func() { query.Del(what) }, func() { query.Add(what, text) })
		case "path":
			u.Path, u.RawPath = text, ""
		}
	}
	u.RawQuery = query.Encode()
	method := i.IntegrationMethod
	if method == "ANY" {
		method = q.Method
	}
	//nolint:gosec // the owner of the API says where its requests go
	out, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(string(q.body)))
	if err != nil {
		w.refuse(http.StatusInternalServerError, wordsInternal, err.Error())
		return
	}
	for _, hop := range []string{"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Connection"} {
		header.Del(hop)
	}
	header.Set("Forwarded", fmt.Sprintf("by=127.0.0.1;for=%s;host=%s;proto=http", sourceOf(q.Request), q.Host))
	out.Header = header
	response, err := s.o.Proxy.RoundTrip(out)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			w.refuse(http.StatusServiceUnavailable, wordsUnavailable, "Integration timed out")
			return
		}
		w.refuse(http.StatusServiceUnavailable, wordsUnavailable, err.Error())
		return
	}
	defer response.Body.Close()
	shown := shape(w, q, c, i)
	for name, values := range response.Header {
		if name != "Connection" && name != "Transfer-Encoding" && name != "Keep-Alive" {
			shown.Header()[name] = values
		}
	}
	shown.WriteHeader(response.StatusCode)
	_, _ = io.Copy(shown, io.LimitReader(response.Body, maxBody)) // an error means that the client has disconnected
}

// escapedPath escapes a value for a path, except for its slashes.
func escapedPath(text string) string { return strings.ReplaceAll(url.PathEscape(text), "%2F", "/") }

// edit appends, overwrites or removes a header or a parameter.
func edit(action, text string, remove, add func()) {
	if action == "remove" || action == "overwrite" {
		remove()
	}
	if action != "remove" && text != "" {
		add()
	}
}

// shaped is a response whose status and headers are changed by an integration's response parameters.
type shaped struct {
	*answer
	q *clientRequest
	i *integration
	// cors holds the gateway's CORS headers, which replace the function's; nil if there are none.
	cors http.Header
	done bool
}

func shape(w *answer, q *clientRequest, c *calledAPI, i *integration) *shaped {
	to := &shaped{answer: w, q: q, i: i}
	if c.CorsConfiguration != nil {
		to.cors = crossOrigin(w.Header())
	}
	return to
}

// crossOrigin returns the CORS headers among h.
func crossOrigin(h http.Header) http.Header {
	found := http.Header{}
	for name, values := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			found[name] = slices.Clone(values)
		}
	}
	return found
}

// WriteHeader implements http.ResponseWriter.
func (w *shaped) WriteHeader(status int) {
	if w.done {
		return
	}
	w.done = true
	for name, expression := range w.i.ResponseParameters[strconv.Itoa(status)] {
		v, _ := w.q.evaluate(expression)
		action, of, _ := strings.Cut(name, ":")
		if of == "statuscode" {
			if n, err := strconv.Atoi(textOf(v)); err == nil && n >= 200 && n <= 599 {
				status = n
			}
			continue
		}
		header, text := strings.TrimPrefix(of, "header."), textOf(v)
		edit(action, text, func() { w.Header().Del(header) }, func() { w.Header().Add(header, text) })
	}
	if w.cors != nil {
		for name := range crossOrigin(w.Header()) {
			w.Header().Del(name)
		}
		maps.Copy(w.Header(), w.cors)
	}
	w.answer.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *shaped) Write(b []byte) (int, error) {
	if !w.done {
		w.WriteHeader(http.StatusOK)
	}
	return w.answer.Write(b)
}

// authorize calls the function of a route's authorizer. The context that it returns about the client is passed to the
// integration.
func (s *Service) authorize(ctx context.Context, w *answer, q *clientRequest, c *calledAPI, r *route) (context any, ok bool) {
	z := c.deployment.Authorizers[r.AuthorizerID]
	if z == nil {
		w.refuse(http.StatusInternalServerError, wordsInternal, "The authorizer is not there")
		return nil, false
	}
	identity := []string{}
	for _, source := range z.IdentitySource {
		v, found := q.evaluate(source)
		if !found || textOf(v) == "" {
			w.refuse(http.StatusUnauthorized, "Unauthorized", "The identity source "+source+" is missing")
			return nil, false
		}
		identity = append(identity, textOf(v))
	}
	event, err := s.authorizerEvent(q, c, r, z, identity)
	if err != nil {
		w.refuse(http.StatusInternalServerError, wordsInternal, err.Error())
		return nil, false
	}
	payload, err := s.invoke(ctx, z.AuthorizerURI, c.sender("authorizers/"+r.AuthorizerID, z.AuthorizerCredentialsArn), event)
	if err != nil {
		s.o.Log.Warn("the authorizer of an HTTP API failed", "api", c.ID, "authorizer", z.Name, "error", err)
		w.refuse(http.StatusInternalServerError, wordsInternal, err.Error())
		return nil, false
	}
	var said struct {
		IsAuthorized   *bool           `json:"isAuthorized"`
		Context        map[string]any  `json:"context"`
		PrincipalID    string          `json:"principalId"`
		PolicyDocument *policyDocument `json:"policyDocument"`
	}
	if err := json.Unmarshal(payload, &said); err != nil {
		w.refuse(http.StatusInternalServerError, wordsInternal, "The authorizer's answer: "+err.Error())
		return nil, false
	}
	allowed := said.PolicyDocument.allows(executeARN(c, q, r))
	if z.EnableSimpleResponses {
		allowed = said.IsAuthorized != nil && *said.IsAuthorized
	}
	if !allowed {
		w.refuse(http.StatusForbidden, wordsForbidden, "The authorizer has refused the request")
		return nil, false
	}
	if z.AuthorizerPayloadFormatVersion == format1 {
		if said.Context == nil {
			said.Context = map[string]any{}
		}
		said.Context["principalId"] = said.PrincipalID
		return said.Context, true
	}
	return map[string]any{"lambda": said.Context}, true
}

// executeARN returns the ARN to which an authorizer's policy refers.
func executeARN(c *calledAPI, q *clientRequest, r *route) string {
	path := c.path
	if r.RouteKey == defaultRoute {
		return c.scope().ARN("execute-api", c.ID+"/"+c.stage.StageName+"/$default")
	}
	return c.scope().ARN("execute-api", c.ID+"/"+c.stage.StageName+"/"+q.Method+path)
}

// authorizerEvent builds the event for an authorizer's function: the event of an integration, with the caller's
// identity.
func (s *Service) authorizerEvent(q *clientRequest, c *calledAPI, r *route, z *authorizer, identity []string) ([]byte, error) {
	text, err := s.event(q, c, r, z.AuthorizerPayloadFormatVersion, nil)
	if err != nil {
		return nil, err
	}
	var event map[string]any
	if err := json.Unmarshal(text, &event); err != nil {
		return nil, err
	}
	delete(event, "body")
	delete(event, "isBase64Encoded")
	event["type"] = "REQUEST"
	if z.AuthorizerPayloadFormatVersion == format1 {
		event["methodArn"] = executeARN(c, q, r)
		event["identitySource"] = strings.Join(identity, ",")
		event["authorizationToken"] = strings.Join(identity, ",")
	} else {
		event["routeArn"] = executeARN(c, q, r)
		event["identitySource"] = identity
	}
	return json.Marshal(event)
}

// policyDocument is the policy returned by an authorizer.
type policyDocument struct {
	Statement []struct {
		Effect   string
		Action   oneOrMore
		Resource oneOrMore
	}
}

type oneOrMore []string

// UnmarshalJSON implements json.Unmarshaler.
func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}

// allows reports whether a policy allows calling a resource: a statement allows it and none denies it.
func (p *policyDocument) allows(resource string) bool {
	if p == nil {
		return false
	}
	allowed := false
	for _, st := range p.Statement {
		if !st.Action.fit("execute-api:Invoke") || !st.Resource.fit(resource) {
			continue
		}
		if st.Effect != "Allow" {
			return false
		}
		allowed = true
	}
	return allowed
}

func (o oneOrMore) fit(text string) bool {
	for _, pattern := range o {
		if aws.Matches(pattern, text) {
			return true
		}
	}
	return false
}
