package endpoint

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// refusal returns why a request is refused; empty if it is accepted.
func (h *Handler) refusal(r *http.Request) string {
	host := hostName(r.Host)
	if !h.known(host) {
		return "The Host " + host + " is not a name of this server. Use 127.0.0.1 or localhost."
	}
	if fromPage(r) && !h.acceptsPages(r) {
		return "Requests of web pages are not served."
	}
	return ""
}

// fromPage reports whether a request comes from a web page of another origin.
func fromPage(r *http.Request) bool {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	return origin != "" && !sameOrigin(origin, r.Host) || site == "cross-site" || site == "same-site"
}

// acceptsPages reports whether a request is for a service that decides itself about requests of web pages.
func (h *Handler) acceptsPages(r *http.Request) bool {
	if r.URL.Path == HealthPath || r.URL.Path == LocalStackHealthPath || strings.HasPrefix(r.URL.Path, ConsolePath) ||
		fromScraper(r) {
		return false
	}
	service, _ := h.find(r)
	return service != nil && service.Pages
}

// hostName returns a host without its port and brackets.
func hostName(hostPort string) string {
	if host, _, err := net.SplitHostPort(hostPort); err == nil {
		hostPort = host
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(hostPort, "[]")), ".")
}

// syncPrefix is the prefix that SDKs add to the host for StartSyncExecution and TestState.
const syncPrefix = "sync-"

// known reports whether a host name can only mean this machine: an address of the loopback interface, localhost, or
// a configured name. Each is also accepted with the prefix that some operations of Step Functions use.
func (h *Handler) known(host string) bool {
	host = strings.TrimPrefix(host, syncPrefix)
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, dotLocalhost) || slices.Contains(h.Hosts, host) ||
		slices.Contains(h.Hosts, "*")
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, host)
}

const dotLocalhost = ".localhost"

// pathStyle rewrites an S3 request with the bucket in its host, BUCKET.localhost or BUCKET.s3.localhost, to one with
// the bucket in its path.
func pathStyle(r *http.Request) *http.Request {
	bucket, ok := strings.CutSuffix(hostName(r.Host), dotLocalhost)
	if !ok || bucket == "s3" {
		return r
	}
	bucket = strings.TrimSuffix(bucket, ".s3")
	changed := new(*r)
	changed.URL = new(*r.URL)
	changed.URL.Path = "/" + bucket + r.URL.Path
	if r.URL.RawPath != "" {
		changed.URL.RawPath = "/" + bucket + r.URL.RawPath
	}
	return changed
}
