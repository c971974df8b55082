package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// Named calls the operations of one service by name, with Go values as documents. It is for our own programs that
// call a few operations of a service, because the SDK's typed client would add megabytes to them. It is safe for
// concurrent use.
type Named struct {
	client  *Client
	service *model.Service
	retryer awssdk.Retryer
}

// NewNamed returns a client of a service ("sns", "dynamodb") based on the SDK's configuration. It uses the
// configuration's region, credentials, HTTP client, retryer and endpoints (AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_SNS,
// services of the shared file). If no endpoint is configured, it calls the service's own endpoint in the region.
// FIPS and dual-stack endpoints must be given explicitly.
func NewNamed(ctx context.Context, cfg awssdk.Config, service string) (*Named, error) {
	s, err := model.Find(service)
	if err != nil {
		return nil, err
	}
	endpoint, err := endpointOf(ctx, cfg, s)
	if err != nil {
		return nil, err
	}
	n := &Named{service: s, client: &Client{Endpoint: endpoint, Region: cfg.Region, Credentials: cfg.Credentials}}
	if cfg.HTTPClient != nil {
		n.client.HTTP = &http.Client{Transport: transport{cfg.HTTPClient}}
	}
	n.retryer = retryerOf(cfg, s)
	return n, nil
}

// Once returns the same client without retries, for programs with their own retry rules.
func (n *Named) Once() *Named {
	once := *n
	once.retryer = awssdk.NopRetryer{}
	return &once
}

// Retryer returns the retryer that decides about further attempts; it is never nil.
func (n *Named) Retryer() awssdk.Retryer { return n.retryer }

// Client returns the underlying client, which can call any operation.
func (n *Named) Client() *Client { return n.client }

// Call calls an operation. in is encoded by encoding/json, with the model's member names and bytes in base64; nil
// means an empty input. The response document is decoded into out by encoding/json; nil discards it. Call makes the
// attempts that the retryer allows. It then returns the error of [Client.Call] in a *smithy.OperationError, which
// names service and operation.
func (n *Named) Call(ctx context.Context, operation string, in, out any) error {
	err := n.call(ctx, operation, in, out)
	if err != nil {
		return &smithy.OperationError{ServiceID: n.service.ID, OperationName: operation, Err: err}
	}
	return nil
}

func (n *Named) call(ctx context.Context, operation string, in, out any) error {
	o, err := n.service.Operation(operation)
	if err != nil {
		return err
	}
	r := &Request{Service: n.service, Operation: o}
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		if r.Input, err = jsonvalue.Parse(string(text)); err != nil {
			return err
		}
	}
	c := *n.client
	token := c.token() // the same for all attempts, which is its purpose
	c.Token = func() string { return token }
	answer, err := repeat(ctx, n.retryer, isLongPoll(n.service, operation), func() (*Response,
		error) {
		return c.Call(ctx, r)
	})
	if err != nil {
		return err
	}
	if answer.Body != nil {
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(answer.Output.JSON()), out); err != nil {
		return fmt.Errorf("the answer does not fit: %w", err)
	}
	return nil
}

// transport adapts the SDK's HTTP client to http.RoundTripper.
type transport struct{ client awssdk.HTTPClient }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.client.Do(r) }

// configured is implemented by the SDK's environment and shared configuration, which may contain endpoints.
type configured interface {
	GetServiceBaseEndpoint(ctx context.Context, sdkID string) (string, bool, error)
}

// endpointOf returns the address of a service. It is the address configured for the service, otherwise the one
// configured for all services, otherwise AWS's own.
func endpointOf(ctx context.Context, cfg awssdk.Config, s *model.Service) (string, error) {
	for _, source := range cfg.ConfigSources {
		if c, ok := source.(configured); ok {
			if address, found, err := c.GetServiceBaseEndpoint(ctx, s.ID); err != nil || found {
				return address, err
			}
		}
	}
	if cfg.BaseEndpoint != nil {
		if u, err := url.Parse(*cfg.BaseEndpoint); err != nil || u.Host == "" {
			return "", fmt.Errorf("the endpoint %q is not a URL like http://localhost:4566", *cfg.BaseEndpoint)
		}
		return *cfg.BaseEndpoint, nil
	}
	if cfg.Region == "" {
		return "", fmt.Errorf("no region is set for %s; set AWS_REGION", s.ID)
	}
	return "https://" + s.EndpointPrefix + "." + cfg.Region + "." + aws.Domain(cfg.Region), nil
}
