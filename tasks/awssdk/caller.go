package awssdk

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws/client"
	"stepback/aws/model"
	"stepback/engine"
	"stepback/jsonvalue"
)

// Caller calls the services for one account and region. It is safe for concurrent use.
type Caller struct {
	Endpoints Endpoints
	// Account and Region are those of the executions. An emulator that tells accounts apart by access keys of twelve
	// digits sees the account; only an address of AWS itself is sent the credentials of the environment.
	Account, Region string

	mu          sync.Mutex
	environment aws.CredentialsProvider // read once, when AWS is first called
}

// operation is one action, ready to be called.
type operation struct {
	service *service
	model   *model.Operation
	client  *client.Client
}

// find looks an action up, to be called for an account. The error says why it cannot be called.
func (c *Caller) find(ctx context.Context, s *service, action, account string) (*operation, error) {
	o, err := s.action(action)
	if err != nil {
		return nil, err
	}
	at, err := c.Endpoints.find(s)
	if err != nil {
		return nil, err
	}
	keys, err := c.credentials(ctx, at, account)
	if err != nil {
		return nil, err
	}
	return &operation{s, o, &client.Client{
		Endpoint: at.URL, Region: c.Region, Credentials: keys, HTTP: at.Client, Protocol: spoken(s),
	}}, nil
}

// spoken is the protocol that emulators and AWS both speak, where a service has several: CloudWatch's oldest.
func spoken(s *service) model.Protocol {
	if s.Speaks(model.Query) {
		return model.Query
	}
	return ""
}

// credentials are those for an address: the account's number as a key, but those of the environment for AWS's own.
func (c *Caller) credentials(ctx context.Context, at Endpoint, account string) (aws.CredentialsProvider, error) {
	u, err := at.parse()
	if err != nil || !client.IsAWS(u.Hostname()) {
		if keys, ok := ctx.Value(keysKey{}).(aws.CredentialsProvider); ok {
			return keys, nil
		}
		return credentials.NewStaticCredentialsProvider(account, "stepback", ""), nil
	}
	c.mu.Lock()
	known := c.environment
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	found, err := config.LoadDefaultConfig(ctx, config.WithRegion(c.Region))
	if err != nil {
		return nil, fmt.Errorf("no credentials for %s: %w", at.URL, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.environment == nil {
		c.environment = found.Credentials
	}
	return c.environment, nil
}

// keysKey is the key of WithKeys.
type keysKey struct{}

// WithKeys has calls with this context signed with credentials, those to AWS itself excepted.
func WithKeys(ctx context.Context, keys aws.CredentialsProvider) context.Context {
	return context.WithValue(ctx, keysKey{}, keys)
}

// answer is what a service answered.
type answer struct {
	output  jsonvalue.Value
	status  int
	header  http.Header
	request string // the request's ID
}

// call calls an operation with the parameters of a task. The error is a *ParameterError, a *missingError, or one of
// package client.
func (o *operation) call(ctx context.Context, params jsonvalue.Value, look *style) (*answer, error) {
	p := parameters{service: o.service}
	in := p.input(o.model.Input, params)
	if len(p.problems) > 0 {
		return nil, &ParameterError{p.problems}
	}
	if lacking := absent(o.model.Input, in, ""); len(lacking) > 0 {
		return nil, &missingError{lacking}
	}
	request := &client.Request{Service: o.service.Service, Operation: o.model, Input: in}
	if p.stream != nil {
		request.Body = bytes.NewReader(p.stream)
	}
	r, err := o.client.Call(ctx, request)
	if err != nil {
		return nil, err
	}
	a := &answer{status: r.Status, header: r.Header, request: r.RequestID}
	w := results{service: o.service, style: look}
	a.output = w.object(o.model.Output, r.Output)
	if r.Body != nil {
		text, err := body(r.Body)
		if err != nil {
			return nil, fmt.Errorf("the answer broke off: %w", err)
		}
		a.output = w.with(o.model.Output, a.output, text)
	}
	return a, nil
}

// body reads a streamed member as text, a little further than a result may be long. Bytes that are no text become
// U+FFFD, as in Java.
func body(r io.ReadCloser) (jsonvalue.Value, error) {
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(io.LimitReader(r, engine.MaxPayload+1))
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return jsonvalue.OfString(strings.ToValidUTF8(string([]rune(string(b))), "\uFFFD")), nil
}

// ParameterError says why the parameters of a task cannot be used for its action.
type ParameterError struct {
	// Problems are sentences as Step Functions words them.
	Problems []string
}

// Error implements error.
func (e *ParameterError) Error() string { return fmt.Sprint(e.Problems) }

// missingError says that required members have no value.
type missingError struct{ members []string }

// Error implements error.
func (e *missingError) Error() string { return "missing: " + strings.Join(e.members, ", ") }
