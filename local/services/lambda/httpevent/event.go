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

// About is what an event says besides its request.
type About struct {
	// API is the id that begins the domain, Domain the host without its port, Account whose it is, or anonymous.
	API, Domain, Account string
	// Route is the key of the route, Stage the stage; both are $default for function URLs.
	Route, Stage string
	// Path is the path with the stage, Parameters those of the route's path.
	Path       string
	Parameters map[string]string
	Variables  map[string]string // of the stage
	Request    string            // the id of the request
	At         time.Time
	// Authorization is what an authorizer said of the client; nil when there is none.
	Authorization any
	// AccessKey is the one that the request is signed with; empty when nobody asked for a signature.
	AccessKey string
}

// Event is a request in the payload format 2.0.
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

// Context is what an event says of where its request came in.
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

// Authorizer says who has signed a request.
type Authorizer struct {
	IAM IAM `json:"iam"`
}

// IAM is whose an access key is.
type IAM struct {
	AccessKey string `json:"accessKey"`
	Account   string `json:"accountId"`
	Caller    string `json:"callerId"`
	UserARN   string `json:"userArn"`
	User      string `json:"userId"`
}

// HTTP is what a request says before its headers.
type HTTP struct {
	Method   string `json:"method"`
	Path     string `json:"path"`
	Protocol string `json:"protocol"`
	Source   string `json:"sourceIp"`
	Agent    string `json:"userAgent"`
}

// maxBody is the size of a body, in bytes.
const maxBody = 6 << 20

// ErrTooLarge is the error of a request whose body is too large.
var ErrTooLarge = errors.New("the body is too large")

// FromRequest makes the event of a request, as JSON. The error is ErrTooLarge, or that of reading the body.
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

// FromBody makes the event of a request whose body has been read, as JSON.
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

// Body is the body of an event: nil when there is none, in base64 when it is no text.
func Body(r *http.Request, body []byte) (text *string, encoded bool) {
	if len(body) == 0 {
		return nil, false
	}
	if isText(r.Header.Get("Content-Type")) && utf8.Valid(body) {
		return new(string(body)), false
	}
	return new(base64.StdEncoding.EncodeToString(body)), true
}

// parameters are those of a query; several of a name are joined by commas.
func parameters(query string) map[string]string {
	values, _ := url.ParseQuery(query) // what cannot be read is left out
	found := make(map[string]string, len(values))
	for name, list := range values {
		found[name] = strings.Join(list, ",")
	}
	return found
}

// isText reports whether bodies of a media type are text in an event.
func isText(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return contentType == ""
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml") ||
		media == "application/json" || media == "application/xml" || media == "application/javascript"
}
