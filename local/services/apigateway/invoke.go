package apigateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

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

// place returns a route as the SourceArn of functions' permissions spells it, such as GET/pets/{id}. method is the
// method of the request.
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
