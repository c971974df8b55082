package awssdk

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Endpoint is an address at which a service is called.
type Endpoint struct {
	// URL is the base address. For S3, its host may contain the label {Bucket}, which is replaced by the bucket's
	// name.
	URL string
	// Client is the HTTP client for the calls.
	Client *http.Client
}

// parse parses URL after removing the label {Bucket}.
func (e *Endpoint) parse() (*url.URL, error) {
	return url.Parse(strings.ReplaceAll(e.URL, "{Bucket}.", ""))
}

// Endpoints determines where services are called. It is consulted for every call, so its sources may change.
type Endpoints struct {
	// Getenv returns an environment variable, as os.Getenv does.
	Getenv func(name string) string
	// Embedded holds the services that run in this process, by their names in a Resource. They are used unless a
	// variable names another endpoint.
	Embedded map[string]Endpoint
	// Client is used for calls to other processes; nil means http.DefaultClient. It should have no timeout: a task's
	// context ends after its TimeoutSeconds.
	Client *http.Client
}

// find returns the endpoint of a service: from the variable of Step Functions Local (SQS_ENDPOINT), from one of the
// AWS SDKs' variables (AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL), or the embedded service. There is no other default:
// AWS itself is called only at an explicitly configured address.
func (e *Endpoints) find(s *service) (Endpoint, error) {
	for _, name := range []string{s.localVariable(), s.environment(), "AWS_ENDPOINT_URL"} {
		address := strings.TrimSpace(e.getenv(name))
		if address == "" {
			continue
		}
		if embedded, ok := e.Embedded[s.Name]; ok && name == "AWS_ENDPOINT_URL" {
			return embedded, nil // AWS_ENDPOINT_URL applies only to services that are not embedded
		}
		at := Endpoint{URL: address, Client: e.client()}
		if u, err := at.parse(); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return Endpoint{}, fmt.Errorf("%s is %q; give a URL such as http://127.0.0.1:4566", name, address)
		}
		return at, nil
	}
	if embedded, ok := e.Embedded[s.Name]; ok {
		return embedded, nil
	}
	return Endpoint{}, fmt.Errorf("no endpoint for %s is configured; set %s or %s to its URL", s.ID, s.localVariable(),
		s.environment())
}

// Has reports whether there is an endpoint for a service. name is the service's name in a Resource.
func (e *Endpoints) Has(name string) bool {
	s, err := serviceOf(name)
	if err != nil {
		return false
	}
	_, err = e.find(s)
	return err == nil
}

// Embeds reports whether a service is called within this process. name is the service's name in a Resource.
func (e *Endpoints) Embeds(name string) bool {
	s, err := serviceOf(name)
	if err != nil {
		return false
	}
	at, err := e.find(s)
	return err == nil && at == e.Embedded[name]
}

func (e *Endpoints) getenv(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

func (e *Endpoints) client() *http.Client {
	if e.Client == nil {
		return http.DefaultClient
	}
	return e.Client
}
