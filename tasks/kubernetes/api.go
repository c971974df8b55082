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
)

// API is the Kubernetes API of clusters.
type API struct {
	// Endpoint is the base URL that is called instead of those of tasks, such as that of kubectl proxy; nil, or an
	// empty URL, means none. It is called without a token.
	Endpoint func() string
	// Token makes the bearer token by which a cluster at an address knows its caller; nil means that there is none.
	Token func(ctx context.Context, address, cluster string) (string, error)
}

// timeout is how long a cluster may take to answer.
const timeout = 60 * time.Second

// request is one request to a cluster.
type request struct {
	cluster, authority, endpoint string
	method, path, body           string
	query                        url.Values
	kind                         string // the body's type; empty without a body
}

// answer is what a cluster answered.
type answer struct {
	code         int
	status, body string
}

// do sends a request. The error is a *engine.Failure: of the request, or of an answer that is no success.
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

// prepare makes the HTTP request, and what sends it.
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

// server is where a request goes, and a client that trusts that server: a cluster by its own certificate authority.
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
		return nil, nil, fmt.Errorf("the Endpoint %q is no https URL", r.endpoint)
	}
	pem, err := base64.StdEncoding.DecodeString(r.authority)
	pool := x509.NewCertPool()
	if err != nil || !pool.AppendCertsFromPEM(pem) {
		return nil, nil, errors.New("the CertificateAuthority is no certificate in Base64")
	}
	return u, &http.Client{CheckRedirect: stay, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true, // each task has a transport of its own
	}}, nil
}

// stay follows no redirect, which would take the token elsewhere.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// unsent is the failure of a request that got no answer.
func unsent(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return engine.NewFailure("EKS.SdkClientException", "Unable to execute HTTP request: "+err.Error())
}
