package endpoint

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"stepback/aws/model"
)

// ControlPath is where the programs of this project talk to a platform.
const ControlPath = "/_stepback/control"

// MetricsPath is where Prometheus finds metrics. It finds them at /metrics, too, which is a bucket of S3 for others.
const MetricsPath = "/_stepback/metrics"

// scrapes reports whether a request is that of a program that collects metrics.
func scrapes(r *http.Request) bool {
	if r.URL.Path == MetricsPath {
		return true
	}
	accepted := r.Header.Get("Accept")
	return r.URL.Path == "/metrics" && r.Method == http.MethodGet && r.Header.Get("Authorization") == "" &&
		(strings.Contains(accepted, "application/openmetrics-text") || strings.Contains(accepted, "text/plain;version="))
}

// ConsolePath is where the console is, for people with browsers.
const ConsolePath = "/_stepback/"

// programs reports whether a path below ConsolePath is for programs.
func programs(path string) bool {
	return path == ControlPath || path == HealthPath || path == MetricsPath || path == InboxPath ||
		strings.HasPrefix(path, InboxPath+"/") || strings.HasPrefix(path, "/_stepback/lambda/") ||
		strings.HasPrefix(path, "/_stepback/cloudformation/")
}

// InboxPath is where programs find the mails that SNS would have sent.
const InboxPath = "/_stepback/inbox"

// browses reports whether a request for the root of the address, where S3 lists its buckets, is that of a person with a
// browser.
func browses(r *http.Request) bool {
	if r.Method != http.MethodGet || r.URL.Path != "/" || r.URL.RawQuery != "" || r.Header.Get("Authorization") != "" ||
		!strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") || strings.HasPrefix(name, "Amz-Sdk-") {
			return false
		}
	}
	return true
}

// Service is one service at the address.
type Service struct {
	// Name is what people call it, such as Step Functions; Signing is its name in signatures, such as states. Services
	// that share it are told apart by Target.
	Name, Signing string
	// Target begins the X-Amz-Target of its operations, before the point; empty for services that have none.
	Target string
	// Claims reports whether a request that names no service is for this one, such as a link in a message; nil means
	// that none is.
	Claims func(*http.Request) bool
	// Host reports whether a name below localhost, without its port, is one of the service's own, such as that of a
	// function's URL: pages of other origins may ask there, as the service says. Nil means that it has none.
	Host func(name string) bool
	// Handler serves it.
	Handler http.Handler
}

// Handler serves the services at one address.
type Handler struct {
	// Services are those that are served. One of them should be S3, which is meant by what names no other.
	Services []Service
	// Control answers requests for ControlPath, which are no service's; nil means that there is none.
	Control http.Handler
	// Metrics answers programs that collect metrics, at MetricsPath; nil means that there are none.
	Metrics http.Handler
	// Console answers people with browsers, below ConsolePath; it judges itself which pages may ask it for what. Nil
	// means that there is none.
	Console http.Handler
	// Hosts are the names by which the address may be called besides those of the loopback interface; "*" allows any.
	Hosts []string
	// Health answers requests for HealthPath.
	Health Health
	// Log is told of every request that is handed on, at level Info; nil means nobody is.
	Log *slog.Logger
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s := h.named(r); s != nil {
		h.logged(s.Signing, s.Handler, w, r)
		return
	}
	if h.Console != nil && h.known(hostName(r.Host)) {
		if r.URL.Path+"/" == ConsolePath || strings.HasPrefix(r.URL.Path, ConsolePath) && !programs(r.URL.Path) {
			h.Console.ServeHTTP(w, r)
			return
		}
		if browses(r) {
			http.Redirect(w, r, ConsolePath, http.StatusFound)
			return
		}
	}
	if reason := h.refusal(r); reason != "" {
		refuse(w, r, http.StatusForbidden, "AccessDeniedException", reason)
		return
	}
	if r.URL.Path == HealthPath || r.URL.Path == LocalStackHealthPath {
		h.Health.ServeHTTP(w, r)
		return
	}
	if h.Metrics != nil && scrapes(r) {
		h.Metrics.ServeHTTP(w, r)
		return
	}
	if r.URL.Path == ControlPath && h.Control != nil {
		h.Control.ServeHTTP(w, r)
		return
	}
	switch service, name := h.find(r); {
	case service == nil:
		refuse(w, r, http.StatusNotImplemented, "NotImplementedException", h.unserved(name))
	case name == s3:
		h.logged(name, service.Handler, w, pathStyle(r))
	default:
		h.logged(name, service.Handler, w, r)
	}
}

// named is the service that has the name by which a request calls this machine; nil for the names that all share.
func (h *Handler) named(r *http.Request) *Service {
	host := hostName(r.Host)
	if !strings.HasSuffix(host, dotLocalhost) {
		return nil
	}
	for i := range h.Services {
		if s := &h.Services[i]; s.Host != nil && s.Host(host) {
			return s
		}
	}
	return nil
}

// unserved says that a service is not here, and by which variables clients find it elsewhere: several where services
// share the name in their signatures.
func (h *Handler) unserved(service string) string {
	const where = "The service %s is not served at this address, which has %s. "
	ids := model.Signed(service)
	if len(ids) == 0 {
		return fmt.Sprintf(where+"Set the client's AWS_ENDPOINT_URL_ variable of that service to where it is.", service, h.names())
	}
	variables := make([]string, len(ids))
	for i, id := range ids {
		variables[i] = model.EndpointVariable(id)
	}
	return fmt.Sprintf(where+"Set %s for the client to where it is.", service, h.names(), strings.Join(variables, " or "))
}

// names are the services that are here, for people.
func (h *Handler) names() string {
	names := make([]string, len(h.Services))
	for i, s := range h.Services {
		names[i] = s.Name
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
