package apigateway

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/internal/lazyregexp"
	"stepback/local/services/lambda/httpevent"
)

const (
	hostSuffix = ".execute-api.localhost"
	// invokePath is an alternative address of APIs, for programs that cannot resolve names below localhost:
	// invokePath + ID + "/STAGE/…".
	invokePath = "/_aws/execute-api/"
	// maxBody is the maximum size of a body, in bytes.
	maxBody = 10 << 20
)

// apiHost extracts the ID from hosts like ID.execute-api.localhost and ID.execute-api.REGION.localhost.
var apiHost = lazyregexp.New(`^([a-z0-9]{10})\.execute-api(?:\.[a-z0-9-]+)?\.localhost$`)

// IsHost reports whether a host, without its port, is the host of an API.
func IsHost(host string) bool { return apiHost.MatchString(host) }

// Invokes reports whether a request calls an API, as opposed to one of API Gateway's own operations.
func Invokes(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, invokePath) || IsHost(hostOf(r))
}

func hostOf(r *http.Request) string {
	host := strings.ToLower(r.Host)
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// calledAPI is an API that is being called, with the stage and the deployment that serve the call.
type calledAPI struct {
	*api
	stage      *stage
	deployment *deployment
	path       string // path without the stage
	full       string // path including the stage
}

// at finds the API and the stage that a request calls: the stage named by the first part of the path, or else the
// default stage.
func (s *Service) at(r *http.Request) (*calledAPI, bool) {
	path := r.URL.EscapedPath()
	var id string
	explicit := false
	if rest, is := strings.CutPrefix(path, invokePath); is {
		id, path, _ = strings.Cut(rest, "/")
		path, explicit = "/"+path, true
	} else if m := apiHost.FindStringSubmatch(hostOf(r)); m != nil {
		id = m[1]
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	a := s.apis[id]
	if a == nil {
		return nil, false
	}
	c := &calledAPI{api: a, path: path, full: path}
	name, rest, _ := strings.Cut(path[1:], "/")
	switch {
	case a.stages[name] != nil:
		c.stage, c.path = a.stages[name], "/"+rest
		if name == defaultStage { // on AWS, it cannot be named in the path
			c.full = c.path
		}
	case explicit && strings.EqualFold(name, "%24default") && a.stages[defaultStage] != nil:
		c.stage, c.path, c.full = a.stages[defaultStage], "/"+rest, "/"+rest
	default:
		c.stage = a.stages[defaultStage]
	}
	if c.stage != nil {
		c.deployment = a.deployments[c.stage.DeploymentID]
	}
	return c, true
}

// answer records the status and size of a response as it is written.
type answer struct {
	http.ResponseWriter
	status int
	size   int64
	wrong  string // value of $context.error.message and $context.integrationErrorMessage
}

// WriteHeader implements http.ResponseWriter.
func (w *answer) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *answer) Write(b []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	n, err := w.ResponseWriter.Write(b)
	w.size += int64(n)
	return n, err
}

// refuse responds with one of the gateway's own messages.
func (w *answer) refuse(status int, message, why string) {
	w.wrong = why
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// an error means that the client has disconnected
	_, _ = io.WriteString(w, `{"message":`+strconv.Quote(message)+`}`)
}

const (
	wordsNotFound    = "Not Found"
	wordsForbidden   = "Forbidden"
	wordsInternal    = "Internal Server Error"
	wordsUnavailable = "Service Unavailable"
	wordsTooLarge    = "Request Entity Too Large"
)

// ServeHTTP answers a request for an API.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := s.o.Now()
	out := &answer{ResponseWriter: w}
	c, ok := s.at(r)
	if !ok || c.DisableExecuteAPIEndpoint && c.stage != nil || c.deployment == nil {
		out.refuse(http.StatusNotFound, wordsNotFound, "")
		return
	}
	q := &clientRequest{Request: r, path: c.full, stage: c.stage, context: map[string]string{
		"accountId": c.Account, "apiId": c.ID, "stage": c.stage.StageName, "requestId": aws.NewID(), "path": c.full,
		"httpMethod": r.Method, "protocol": r.Proto, "identity.sourceIp": sourceOf(r), "identity.userAgent": r.UserAgent(),
		"domainName": s.host(c.api), "domainPrefix": c.ID, "requestTime": began.UTC().Format("02/Jan/2006:15:04:05 -0700"),
		"requestTimeEpoch": strconv.FormatInt(began.UnixMilli(), 10), "awsEndpointRequestId": "-",
	}}
	q.context["extendedRequestId"] = q.context["requestId"]
	out.Header().Set("Apigw-Requestid", q.context["requestId"])
	s.serve(out, q, c) //nolint:contextcheck // it is the context of the request inside
	s.after(out, q, c, began)
}

func sourceOf(r *http.Request) string {
	source, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return source
}

// serve finds the route and calls its integration.
func (s *Service) serve(w *answer, q *clientRequest, c *calledAPI) {
	if c.CorsConfiguration != nil {
		c.CorsConfiguration.headers(q.Header.Get("Origin")).Allow(w, q.Request)
		if httpevent.Preflight(q.Request) {
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	r, variables := c.deployment.find(q.Method, c.path)
	if r == nil {
		w.refuse(http.StatusNotFound, wordsNotFound, "No route matches")
		return
	}
	q.variables = variables
	q.context["routeKey"] = r.RouteKey
	var err error
	if q.body, err = io.ReadAll(io.LimitReader(q.Body, maxBody+1)); err != nil {
		w.refuse(http.StatusBadRequest, "Bad Request", err.Error())
		return
	}
	if len(q.body) > maxBody {
		w.refuse(http.StatusRequestEntityTooLarge, wordsTooLarge, "the body has more than 10 MiB")
		return
	}
	q.Body = io.NopCloser(bytes.NewReader(q.body))
	ctx := q.Context()
	var authorization any
	switch r.AuthorizationType {
	case "AWS_IAM":
		if q.Header.Get("Authorization") == "" && q.URL.Query().Get("X-Amz-Credential") == "" {
			w.refuse(http.StatusForbidden, wordsForbidden, "The request is not signed")
			return
		}
	case "CUSTOM":
		var ok bool
		if authorization, ok = s.authorize(ctx, w, q, c, r); !ok {
			return
		}
	}
	i := c.deployment.Integrations[strings.TrimPrefix(r.Target, "integrations/")]
	if i == nil {
		w.refuse(http.StatusInternalServerError, wordsInternal, "The route has no integration")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(i.TimeoutInMillis)*time.Millisecond)
	defer cancel()
	switch {
	case i.IntegrationSubtype != "":
		s.callService(ctx, w, q, c, i)
	case i.IntegrationType == "AWS_PROXY":
		s.callFunction(ctx, w, q, c, r, i, authorization)
	default:
		s.callServer(ctx, w, q, c, i)
	}
}

// headers returns the CORS rules for a page's origin. A pattern such as https://* matches every origin with that
// scheme.
func (c *cors) headers(origin string) *httpevent.CORS {
	to := &httpevent.CORS{AllowHeaders: c.AllowHeaders, AllowMethods: c.AllowMethods, AllowOrigins: c.AllowOrigins,
		ExposeHeaders: c.ExposeHeaders}
	for _, scheme := range []string{"http://", "https://"} {
		for _, allowed := range c.AllowOrigins {
			if allowed == scheme+"*" && strings.HasPrefix(origin, scheme) {
				to.AllowOrigins = []string{origin}
			}
		}
	}
	if c.AllowCredentials != nil {
		to.AllowCredentials = *c.AllowCredentials
	}
	if c.MaxAge != nil {
		to.MaxAge = *c.MaxAge
	}
	return to
}

// failed responds that an integration did not respond.
func (s *Service) failed(w *answer, c *calledAPI, i *integration, err error) {
	s.o.Log.Warn("an integration of an HTTP API failed", "api", c.ID, "integration", i.ID, "error", err)
	if errors.Is(err, context.DeadlineExceeded) {
		w.refuse(http.StatusServiceUnavailable, wordsUnavailable, "Integration timed out")
		return
	}
	w.refuse(http.StatusInternalServerError, wordsInternal, err.Error())
}

// after counts a response and writes the stage's access log.
func (s *Service) after(w *answer, q *clientRequest, c *calledAPI, began time.Time) {
	took := s.o.Now().Sub(began)
	if s.o.Count != nil {
		count := func(metric, unit string, v float64) {
			s.o.Count(c.scope(), c.ID, c.stage.StageName, metric, unit, v)
		}
		count("Count", "Count", 1)
		count("Latency", "Milliseconds", float64(took.Milliseconds()))
		count("4xx", "Count", one(w.status/100 == 4))
		count("5xx", "Count", one(w.status/100 == 5))
	}
	settings := c.stage.AccessLogSettings
	if settings == nil || settings.DestinationArn == "" || s.o.AccessLog == nil {
		return
	}
	q.context["status"], q.context["responseLength"] = strconv.Itoa(w.status), strconv.FormatInt(w.size, 10)
	q.context["responseLatency"] = strconv.FormatInt(took.Milliseconds(), 10)
	q.context["error.message"], q.context["integrationErrorMessage"] = w.wrong, w.wrong
	line := contextVariable.ReplaceAllStringFunc(settings.Format, func(name string) string {
		return cmp.Or(q.context[strings.TrimPrefix(name, "$context.")], "-")
	})
	to, _ := aws.ParseARN(strings.TrimSuffix(settings.DestinationArn, ":*"))
	if err := s.o.AccessLog(to, c.ID+"/"+c.stage.StageName, line); err != nil {
		s.o.Log.Warn("an access log was not written", "api", c.ID, "log group", settings.DestinationArn, "error", err)
	}
}

var contextVariable = lazyregexp.New(`\$context\.[a-zA-Z0-9._]*[a-zA-Z0-9]`)

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
