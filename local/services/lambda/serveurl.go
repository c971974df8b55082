package lambda

import (
	"errors"
	"net"
	"net/http"
	"strings"

	"stepback/aws"
	"stepback/internal/lazyregexp"
	"stepback/local/services/lambda/functions"
	"stepback/local/services/lambda/httpevent"
	"stepback/tasks/lambda/invocation"
)

const (
	// urlHost follows the ID in the host of a function URL.
	urlHost = "lambda-url."
	// urlPath is an alternative path for function URLs: urlPath + ID + "/…". It is for programs that cannot resolve
	// names below localhost.
	urlPath = "/_stepback/lambda/url/"
)

// urlName matches hosts such as ID.lambda-url.REGION.localhost.
var urlName = lazyregexp.New(`^([a-z0-9]{32})\.lambda-url\.[a-z0-9-]+\.localhost$`)

// IsURLHost reports whether host, without its port, is the host of a function URL.
func IsURLHost(host string) bool { return urlName.MatchString(host) }

// urlOf returns the ID of the function URL to which a request is sent, and the path below it.
func urlOf(r *http.Request) (id, path string, ok bool) {
	host := strings.ToLower(r.Host)
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if m := urlName.FindStringSubmatch(host); m != nil {
		return m[1], r.URL.EscapedPath(), true
	}
	if rest, is := strings.CutPrefix(r.URL.EscapedPath(), urlPath); is {
		id, path, _ := strings.Cut(rest, "/")
		return id, "/" + path, true
	}
	return "", "", false
}

const forbidden = "Forbidden. For troubleshooting Function URL authorization issues, see: " +
	"https://docs.aws.amazon.com/lambda/latest/dg/urls-auth.html"

// serveURL serves a request to a function URL.
func (s *Service) serveURL(w http.ResponseWriter, r *http.Request, id, path string) {
	scope, c, ok := s.functions.FindURL(id)
	if !ok {
		httpevent.Refuse(w, http.StatusNotFound, "There is no function URL of this id here.")
		return
	}
	if c.Cors != nil {
		c.Cors.Allow(w, r)
		if httpevent.Preflight(r) {
			return
		}
	}
	about := &httpevent.About{API: id, Domain: id + "." + urlHost + scope.Region + ".localhost", Account: "anonymous",
		Route: "$default", Stage: "$default", Path: path, Request: aws.NewID(), At: s.functions.Now()}
	if c.AuthType == "AWS_IAM" {
		if about.AccessKey = accessKey(r); about.AccessKey == "" {
			httpevent.Refuse(w, http.StatusForbidden, forbidden)
			return
		}
		about.Account = scope.Account
	}
	event, err := httpevent.FromRequest(r, about)
	if err != nil {
		status := http.StatusBadRequest
		if errors.Is(err, httpevent.ErrTooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		httpevent.Refuse(w, status, err.Error())
		return
	}
	s.answerURL(w, r, scope, c, event)
}

// answerURL invokes the function and writes its response. A streamed response that fails after it has begun is cut off.
func (s *Service) answerURL(w http.ResponseWriter, r *http.Request, scope aws.Scope, c *functions.URLConfig,
	event []byte) {
	in := &invocation.Request{FunctionName: c.Function, Qualifier: c.Qualifier, Payload: event, Valid: true}
	stream := httpevent.NewStream(w)
	if c.Streams() {
		in.Stream = stream
	}
	a, err := s.functions.Invoke(r.Context(), scope, in)
	var refused *aws.Error
	switch {
	case stream.Begun() && (err != nil || a.FunctionError != ""):
		panic(http.ErrAbortHandler)
	case stream.Complete():
	case errors.As(err, &refused):
		httpevent.Refuse(w, refused.HTTPStatus(), refused.Message)
	case err != nil || a.FunctionError != "" || c.Streams():
		httpevent.Refuse(w, http.StatusBadGateway, "Internal Server Error")
	default:
		httpevent.Write(w, a.Payload)
	}
}

// accessKey returns the access key that signed a request, or "" if it is unsigned. The signature is not verified.
func accessKey(r *http.Request) string {
	_, credential, ok := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if !ok {
		credential = r.URL.Query().Get("X-Amz-Credential")
	}
	key, _, _ := strings.Cut(credential, "/")
	return key
}
