package httpevent

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// About holds the data of an event that are not in its HTTP request.
type About struct {
	// API is the ID at the start of the domain. Domain is the host without its port. Account is the owner's account
	// or "anonymous".
	API, Domain, Account string
	// Route is the route key and Stage the stage; both are $default for function URLs.
	Route, Stage string
	// Path is the path including the stage. Parameters holds the route's path parameters.
	Path       string
	Parameters map[string]string
	Variables  map[string]string // of the stage
	Request    string            // the request ID
	At         time.Time
	// Authorization is the authorizer's result for the client; nil if there is no authorizer.
	Authorization any
	// AccessKey is the access key that signed the request; empty if no signature is required.
	AccessKey string
}

// Event is an HTTP request in the payload format 2.0.
type Event struct {
	Version    string            `json:"version"`
	Route      string            `json:"routeKey"`
	Path       string            `json:"rawPath"`
	Query      string            `json:"rawQueryString"`
	Cookies    []string          `json:"cookies,omitempty"`
	Headers    map[string]string `json:"headers"`
	Parameters map[string]string `json:"queryStringParameters,omitempty"`
	Context    Context           `json:"requestContext"`
	InPath     map[string]string `json:"pathParameters,omitempty"`
	Variables  map[string]string `json:"stageVariables,omitempty"`
	Body       *string           `json:"body,omitempty"`
	Base64     bool              `json:"isBase64Encoded"`
}

// Context is an event's request context: where and how the request was received.
type Context struct {
	Account    string `json:"accountId"`
	API        string `json:"apiId"`
	Authorizer any    `json:"authorizer,omitempty"`
	Domain     string `json:"domainName"`
	Prefix     string `json:"domainPrefix"`
	HTTP       HTTP   `json:"http"`
	Request    string `json:"requestId"`
	Route      string `json:"routeKey"`
	Stage      string `json:"stage"`
	Time       string `json:"time"`
	Epoch      int64  `json:"timeEpoch"`
}

// Authorizer identifies who signed a request.
type Authorizer struct {
	IAM IAM `json:"iam"`
}

// IAM identifies the owner of an access key.
type IAM struct {
	AccessKey string `json:"accessKey"`
	Account   string `json:"accountId"`
	Caller    string `json:"callerId"`
	UserARN   string `json:"userArn"`
	User      string `json:"userId"`
}

// HTTP describes a request's request line and client.
type HTTP struct {
	Method   string `json:"method"`
	Path     string `json:"path"`
	Protocol string `json:"protocol"`
	Source   string `json:"sourceIp"`
	Agent    string `json:"userAgent"`
}

// maxBody is the maximum size of a body, in bytes.
const maxBody = 6 << 20

// ErrTooLarge is returned if the body of a request is too large.
var ErrTooLarge = errors.New("the body is too large")

// FromRequest returns the event for a request, as JSON. The error is ErrTooLarge, or the error of reading the body.
func FromRequest(r *http.Request, about *About) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		return nil, ErrTooLarge
	}
	return FromBody(r, body, about)
}

// FromBody returns the event of a request whose body has been read already, as JSON.
func FromBody(r *http.Request, body []byte, about *About) ([]byte, error) {
	source, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		source = r.RemoteAddr
	}
	e := Event{Version: "2.0", Route: about.Route, Path: about.Path, Query: r.URL.RawQuery, Headers: map[string]string{},
		InPath: about.Parameters, Variables: about.Variables,
		Context: Context{Account: about.Account, API: about.API, Domain: about.Domain, Prefix: about.API,
			HTTP: HTTP{r.Method, about.Path, r.Proto, source, r.UserAgent()}, Request: about.Request,
			Route: about.Route, Stage: about.Stage, Time: about.At.UTC().Format("02/Jan/2006:15:04:05 -0700"), Epoch: about.At.UnixMilli()}}
	if about.Authorization != nil {
		e.Context.Authorizer = about.Authorization
	}
	if about.AccessKey != "" {
		e.Context.Authorizer = &Authorizer{IAM{AccessKey: about.AccessKey, Account: about.Account,
			Caller: about.AccessKey, UserARN: "arn:aws:iam::" + about.Account + ":root", User: about.Account}}
	}
	for name, values := range r.Header {
		if name == "Cookie" {
			for _, line := range values {
				for one := range strings.SplitSeq(line, ";") {
					e.Cookies = append(e.Cookies, strings.TrimSpace(one))
				}
			}
			continue
		}
		e.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	e.Headers["host"] = r.Host
	e.Parameters = parameters(r.URL.RawQuery)
	e.Body, e.Base64 = Body(r, body)
	return json.Marshal(e)
}

// Body returns the body of an event: nil if it is empty. If the body is not text, it is encoded in base64 and
// encoded is true.
func Body(r *http.Request, body []byte) (text *string, encoded bool) {
	if len(body) == 0 {
		return nil, false
	}
	if isText(r.Header.Get("Content-Type")) && utf8.Valid(body) {
		return new(string(body)), false
	}
	return new(base64.StdEncoding.EncodeToString(body)), true
}

// parameters returns the parameters of a query; several values of a name are joined by commas.
func parameters(query string) map[string]string {
	values, _ := url.ParseQuery(query) // malformed parts are ignored
	found := make(map[string]string, len(values))
	for name, list := range values {
		found[name] = strings.Join(list, ",")
	}
	return found
}

// isText reports whether a body of this content type is passed as text.
func isText(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return contentType == ""
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml") ||
		media == "application/json" || media == "application/xml" || media == "application/javascript"
}
