package endpoint

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"stepback/aws/model"
)

// ControlPath is the path where the programs of this project talk to a platform.
const ControlPath = "/_stepback/control"

// MetricsPath is the path where Prometheus finds metrics. It also finds them at /metrics, which is an S3 bucket for
// other clients.
const MetricsPath = "/_stepback/metrics"

// fromScraper reports whether a request comes from a program that collects metrics.
func fromScraper(r *http.Request) bool {
	if r.URL.Path == MetricsPath {
		return true
	}
	accepted := r.Header.Get("Accept")
	return r.URL.Path == "/metrics" && r.Method == http.MethodGet && r.Header.Get("Authorization") == "" &&
		(strings.Contains(accepted, "application/openmetrics-text") || strings.Contains(accepted, "text/plain;version="))
}

// ConsolePath is the path of the console, for browsers.
const ConsolePath = "/_stepback/"

// forPrograms reports whether a path below ConsolePath is for programs.
func forPrograms(path string) bool {
	return path == ControlPath || path == HealthPath || path == MetricsPath || path == inboxPath ||
		strings.HasPrefix(path, inboxPath+"/") || strings.HasPrefix(path, "/_stepback/lambda/") ||
		strings.HasPrefix(path, "/_stepback/cloudformation/")
}

// inboxPath is the path where programs find the emails that SNS would have sent.
const inboxPath = "/_stepback/inbox"

// fromBrowser reports whether a request for the root of the address, where S3 lists its buckets, comes from a browser.
func fromBrowser(r *http.Request) bool {
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
	// Name is the service's display name, such as Step Functions. Signing is its name in signatures, such as states;
	// services that share it are distinguished by Target.
	Name, Signing string
	// Target is the part of its operations' X-Amz-Target before the dot; empty for services that have none.
	Target string
	// Claims reports whether a request that names no service, such as a link in a message, is for this one; nil means
	// none is.
	Claims func(*http.Request) bool
	// Host reports whether a name below localhost, without its port, belongs to the service, such as that of a
	// function's URL. Pages of other origins may send requests to it, as far as the service permits. Nil means that
	// it has no such names.
	Host func(name string) bool
	// Pages means that the service decides itself which requests of web pages of other origins it serves, as S3 does by
	// the CORS rules of a bucket. Such requests to other services are refused.
	Pages bool
	// Handler handles its requests.
	Handler http.Handler
}

// Handler serves the services at one address.
type Handler struct {
	// Services are the services at the address. One of them should be S3, which receives the requests that name no
	// other.
	Services []Service
	// Control handles requests for ControlPath, which belong to no service; nil means that there is none.
	Control http.Handler
	// Metrics handles requests of programs that collect metrics, at MetricsPath; nil means that there are none.
	Metrics http.Handler
	// Console handles requests of browsers, below ConsolePath; it decides itself which pages may request what. Nil
	// means that there is no console.
	Console http.Handler
	// Hosts are the permitted host names besides those of the loopback interface; "*" permits any.
	Hosts []string
	// Health returns what requests for HealthPath are answered.
	Health func() Health
	// Log receives every forwarded request, at level Info; nil drops them.
	Log *slog.Logger
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s := h.byHost(r); s != nil {
		h.logged(s.Signing, s.Handler, w, r)
		return
	}
	if h.Console != nil && h.known(hostName(r.Host)) {
		if r.URL.Path+"/" == ConsolePath || strings.HasPrefix(r.URL.Path, ConsolePath) && !forPrograms(r.URL.Path) {
			h.Console.ServeHTTP(w, r)
			return
		}
		if fromBrowser(r) {
			http.Redirect(w, r, ConsolePath, http.StatusFound)
			return
		}
	}
	if reason := h.refusal(r); reason != "" {
		refuse(w, r, http.StatusForbidden, "AccessDeniedException", reason)
		return
	}
	if r.URL.Path == HealthPath || r.URL.Path == LocalStackHealthPath {
		h.Health().ServeHTTP(w, r)
		return
	}
	if h.Metrics != nil && fromScraper(r) {
		h.Metrics.ServeHTTP(w, r)
		return
	}
	if r.URL.Path == ControlPath && h.Control != nil {
		h.Control.ServeHTTP(w, r)
		return
	}
	switch service, name := h.find(r); {
	case service == nil:
		refuse(w, r, http.StatusNotImplemented, "NotImplementedException", h.unservedMessage(name))
	case name == s3:
		h.logged(name, service.Handler, w, pathStyle(r))
	default:
		h.logged(name, service.Handler, w, r)
	}
}

// byHost returns the service that a request's host name belongs to; nil for names shared by all services.
func (h *Handler) byHost(r *http.Request) *Service {
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

// unservedMessage returns the message that a service is not served here, and the variables by which clients find it
// elsewhere: several if services share the name in their signatures.
func (h *Handler) unservedMessage(service string) string {
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

// names returns the display names of the services here.
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
