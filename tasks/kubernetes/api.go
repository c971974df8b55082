package kubernetes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"stepback/engine"
	"stepback/internal/outbound"
)

// API calls the Kubernetes API of clusters.
type API struct {
	// Endpoint returns a base URL that is called instead of the tasks' endpoints, such as that of kubectl proxy. If
	// Endpoint is nil or returns "", the tasks' endpoints are used. Requests to the base URL carry no token.
	Endpoint func() string
	// Token returns the bearer token that identifies the caller to the cluster at an address; nil means that no token
	// is sent.
	Token func(ctx context.Context, address, cluster string) (string, error)
	// Targets refuses addresses of the tasks' endpoints; nil allows all.
	Targets *outbound.Policy
}

// timeout is the time that a cluster may take to respond.
const timeout = 60 * time.Second

// request is a request to a cluster.
type request struct {
	cluster, authority, endpoint string
	method, path, body           string
	query                        url.Values
	kind                         string // content type; empty if there is no body
}

// answer is a cluster's response.
type answer struct {
	code         int
	status, body string
}

// do sends a request. The error is an *engine.Failure if the request fails or the response is not a success.
func (a *API) do(ctx context.Context, r *request) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	h, client, err := a.prepare(ctx, r)
	if err != nil {
		return nil, unsent(err)
	}
	got, err := client.Do(h)
	if err != nil {
		return nil, unsent(err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(got.Body, engine.MaxPayload+1))
	if err != nil {
		return nil, unsent(err)
	}
	result := &answer{got.StatusCode, http.StatusText(got.StatusCode), strings.ToValidUTF8(string(body), "\uFFFD")}
	if got.StatusCode < http.StatusOK || got.StatusCode >= http.StatusMultipleChoices {
		return nil, engine.NewFailure(fmt.Sprintf("EKS.%d", got.StatusCode), result.value().JSON())
	}
	return result, nil
}

// prepare returns the HTTP request and the client that sends it.
func (a *API) prepare(ctx context.Context, r *request) (*http.Request, *http.Client, error) {
	base, client, err := a.server(r)
	if err != nil {
		return nil, nil, err
	}
	address := base.JoinPath(r.path)
	address.RawQuery = r.query.Encode()
	h, err := http.NewRequestWithContext(ctx, r.method, address.String(), strings.NewReader(r.body))
	if err != nil {
		return nil, nil, err
	}
	if r.kind == "" {
		h.Body, h.ContentLength = http.NoBody, 0
	} else {
		h.Header.Set("Content-Type", r.kind)
	}
	h.Header.Set("Accept", "application/json, */*")
	if a.Token == nil || a.instead() != "" {
		return h, client, nil
	}
	token, err := a.Token(ctx, r.endpoint, r.cluster)
	if err != nil {
		return nil, nil, err
	}
	h.Header.Set("Authorization", "Bearer "+token)
	return h, client, nil
}

func (a *API) instead() string {
	if a.Endpoint == nil {
		return ""
	}
	return strings.TrimSpace(a.Endpoint())
}

// server returns the address for a request, and a client that trusts the server there. A cluster is verified with its
// own certificate authority.
func (a *API) server(r *request) (*url.URL, *http.Client, error) {
	if address := a.instead(); address != "" {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			return nil, nil, fmt.Errorf("the endpoint of Kubernetes is %q; give a URL such as http://127.0.0.1:8001",
				address)
		}
		return u, &http.Client{CheckRedirect: stay}, nil
	}
	u, err := url.Parse(r.endpoint)
	if err != nil || u.Host == "" || u.Scheme != "https" {
		return nil, nil, fmt.Errorf("the Endpoint %q is not an https URL", r.endpoint)
	}
	pem, err := base64.StdEncoding.DecodeString(r.authority)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(pem) {
		return nil, nil, errors.New("the CertificateAuthority is not a Base64 certificate")
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true, // each task has its own transport
	}
	if a.Targets != nil {
		a.Targets.Restrict(transport)
	}
	return u, &http.Client{CheckRedirect: stay, Transport: transport}, nil
}

// stay is a redirect policy that follows no redirects, which would send the token elsewhere.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// unsent returns the error for a request without a response.
func unsent(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return engine.NewFailure("EKS.SdkClientException", "Unable to execute HTTP request: "+err.Error())
}
