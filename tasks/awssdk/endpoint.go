package awssdk

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Endpoint is where a service is called.
type Endpoint struct {
	// URL is the base address. That of S3 may have the label {Bucket} in its host, which the bucket takes the place of.
	URL string
	// Client carries the calls out.
	Client *http.Client
}

// parse reads the address, without the label of a bucket.
func (e *Endpoint) parse() (*url.URL, error) {
	return url.Parse(strings.ReplaceAll(e.URL, "{Bucket}.", ""))
}

// Endpoints say where services are called. They are asked at every call, so that what they are made of may change.
type Endpoints struct {
	// Getenv reads a variable of the environment, as os.Getenv does.
	Getenv func(name string) string
	// Embedded are the services that this process has itself, by their names in a Resource. They are called where no
	// variable says otherwise.
	Embedded map[string]Endpoint
	// Client carries out calls to other processes; nil means http.DefaultClient. It should have no timeout of its own:
	// a task's context ends with its TimeoutSeconds.
	Client *http.Client
}

// find says where a service is called: the variable of Step Functions Local (SQS_ENDPOINT), the two of the AWS SDKs
// (AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL), the embedded service. There is no other: AWS itself is only called at an
// address that somebody has set.
func (e *Endpoints) find(s *service) (Endpoint, error) {
	for _, name := range []string{s.localVariable(), s.environment(), "AWS_ENDPOINT_URL"} {
		address := strings.TrimSpace(e.getenv(name))
		if address == "" {
			continue
		}
		if embedded, ok := e.Embedded[s.Name]; ok && name == "AWS_ENDPOINT_URL" {
			return embedded, nil // the variable is for what is not here
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

// Has reports whether there is an endpoint for a service, named as in a Resource.
func (e *Endpoints) Has(name string) bool {
	s, err := serviceOf(name)
	if err != nil {
		return false
	}
	_, err = e.find(s)
	return err == nil
}

// Embeds reports whether a service, named as in a Resource, is called inside this process.
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
