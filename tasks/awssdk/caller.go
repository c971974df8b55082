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

// Caller calls services for one account and region. It is safe for concurrent use.
type Caller struct {
	Endpoints Endpoints
	// Account and Region are the account and region of the executions. The account is sent as the access key, which
	// emulators that distinguish accounts by twelve-digit access keys understand; the credentials of the environment
	// are only sent to addresses of AWS itself.
	Account, Region string

	mu          sync.Mutex
	environment aws.CredentialsProvider // read once, with the first call to AWS
}

// operation is an action that is ready to be called.
type operation struct {
	service *service
	model   *model.Operation
	client  *client.Client
}

// find returns an action, ready to be called for an account. The error says why it cannot be called.
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

// spoken returns the protocol to use for a service that has several: the one that both emulators and AWS support,
// such as Query for CloudWatch.
func spoken(s *service) model.Protocol {
	if s.Speaks(model.Query) {
		return model.Query
	}
	return ""
}

// credentials returns the credentials for an address. For AWS itself, they come from the environment. For other
// addresses, the account ID is the access key.
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

// keysKey is the context key of WithKeys.
type keysKey struct{}

// WithKeys returns a context whose calls are signed with the given credentials, except calls to AWS itself.
func WithKeys(ctx context.Context, keys aws.CredentialsProvider) context.Context {
	return context.WithValue(ctx, keysKey{}, keys)
}

// answer is a service's response.
type answer struct {
	output  jsonvalue.Value
	status  int
	header  http.Header
	request string // the request ID
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
			return nil, fmt.Errorf("the response was cut off: %w", err)
		}
		a.output = w.with(o.model.Output, a.output, text)
	}
	return a, nil
}

// body reads a streamed member as text, up to slightly more than the maximum size of a result. Invalid UTF-8 becomes
// U+FFFD, as in Java.
func body(r io.ReadCloser) (jsonvalue.Value, error) {
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(io.LimitReader(r, engine.MaxPayload+1))
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return jsonvalue.OfString(strings.ToValidUTF8(string([]rune(string(b))), "\uFFFD")), nil
}

// ParameterError is returned if the parameters of a task cannot be used for its action.
type ParameterError struct {
	// Problems lists the problems in Step Functions' wording.
	Problems []string
}

// Error implements error.
func (e *ParameterError) Error() string { return fmt.Sprint(e.Problems) }

// missingError is returned if required members have no value.
type missingError struct{ members []string }

// Error implements error.
func (e *missingError) Error() string { return "missing: " + strings.Join(e.members, ", ") }
