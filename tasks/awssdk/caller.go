package awssdk

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"stepback/asl/jsonvalue"
)

// Caller calls the services for one account and region. It is safe for concurrent use.
type Caller struct {
	Endpoints Endpoints
	// Account and Region are those of the executions. An emulator that tells accounts apart by access keys of twelve
	// digits sees the account; only an address of AWS itself is sent the credentials of the environment.
	Account, Region string

	mu      sync.Mutex
	clients map[clientKey]client
}

// clientKey tells clients apart: each calls one service for one account.
type clientKey struct{ service, account string }

// client is a service's client at one address.
type client struct {
	endpoint Endpoint
	value    reflect.Value
}

// operation is one action, ready to be called.
type operation struct {
	service *Service
	method  reflect.Value
	input   reflect.Type
}

// find looks an action up, to be called for an account. The error says why it cannot be called.
func (c *Caller) find(ctx context.Context, s *Service, action, account string) (*operation, error) {
	v, err := c.client(ctx, s, account)
	if err != nil {
		return nil, err
	}
	m := method(v, upperFirst(action))
	if !m.IsValid() {
		return nil, unsupported(s, action, v)
	}
	return &operation{s, m, m.Type().In(1).Elem()}, nil
}

// method finds what carries an action out in a client; a zero value when there is nothing.
func method(client reflect.Value, name string) reflect.Value {
	if some, ok := client.Interface().(actions); ok {
		return some.find(name)
	}
	m := client.MethodByName(name)
	if m.IsValid() && !isOperation(m.Type(), name) {
		return reflect.Value{}
	}
	return m
}

// unsupported is the error of an action that a client does not have. Of a service that is here in part it names what
// is.
func unsupported(s *Service, action string, client reflect.Value) error {
	why := "The action " + action + " of the service " + s.Name + " is not supported."
	if some, ok := client.Interface().(actions); ok {
		why = strings.TrimSuffix(why, ".") + " here; the actions of " + s.Name + " are " + strings.Join(some.names(),
			", ")
	}
	return &unsupportedError{why}
}

// unsupportedError is a Resource that no client has.
type unsupportedError struct{ why string }

func (e *unsupportedError) Error() string { return e.why }

// isOperation tells actions from the other methods of clients, and from actions whose result is a stream of events.
func isOperation(t reflect.Type, name string) bool {
	const in, out = 3, 2
	if t.NumIn() != in || t.NumOut() != out || t.In(1).Kind() != reflect.Pointer || t.In(1).Elem().Name() != name+
		"Input" {
		return false
	}
	_, stream := t.Out(0).MethodByName("GetStream")
	return !stream
}

// client returns the client of a service at its present address, for an account.
func (c *Caller) client(ctx context.Context, s *Service, account string) (reflect.Value, error) {
	at, err := c.Endpoints.Find(s)
	if err != nil {
		return reflect.Value{}, err
	}
	key := clientKey{s.Name, account}
	c.mu.Lock()
	made, ok := c.clients[key]
	c.mu.Unlock()
	if ok && made.endpoint == at {
		return made.value, nil
	}
	cfg, err := c.config(ctx, at, account)
	if err != nil {
		return reflect.Value{}, err
	}
	v := reflect.ValueOf(s.Client(cfg))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clients == nil {
		c.clients = map[clientKey]client{}
	}
	c.clients[key] = client{at, v}
	return v, nil
}

func (c *Caller) config(ctx context.Context, at Endpoint, account string) (aws.Config, error) {
	cfg := aws.Config{
		Region: c.Region, BaseEndpoint: aws.String(at.URL), HTTPClient: at.Client,
		Retryer:                    func() aws.Retryer { return aws.NopRetryer{} },
		Credentials:                credentials.NewStaticCredentialsProvider(account, "stepback", ""),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		APIOptions:                 []func(*middleware.Stack) error{keepHost},
	}
	if isAWS(at.URL) {
		real, err := config.LoadDefaultConfig(ctx, config.WithRegion(c.Region))
		if err != nil {
			return cfg, fmt.Errorf("no credentials for %s: %w", at.URL, err)
		}
		cfg.Credentials = real.Credentials
	}
	return cfg, nil
}

// keepHost lets no operation put a prefix such as "sync-" before the host of an endpoint that was set.
func keepHost(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("KeepHost",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
			middleware.InitializeOutput, middleware.Metadata, error,
		) {
			return next.HandleInitialize(smithyhttp.DisableEndpointHostPrefix(ctx, true), in)
		}), middleware.Before)
}

// answer is what a service answered.
type answer struct {
	output   jsonvalue.Value
	response *smithyhttp.Response
	request  string // the request's ID
}

// call calls an operation with parameters. The error is a *ParameterError, or one of the SDK.
func (o *operation) call(ctx context.Context, params jsonvalue.Value, look style) (*answer, error) {
	in := reflect.New(o.input)
	d := decoder{service: o.service}
	d.object(in.Elem(), params, "Parameters")
	if len(d.problems) > 0 {
		return nil, &ParameterError{d.problems}
	}
	results := o.method.Call([]reflect.Value{reflect.ValueOf(ctx), in})
	if err, _ := results[1].Interface().(error); err != nil {
		return nil, err
	}
	out := results[0].Elem()
	a := &answer{}
	if metadata, ok := out.FieldByName("ResultMetadata").Interface().(middleware.Metadata); ok {
		a.response, _ = awsmiddleware.GetRawResponse(metadata).(*smithyhttp.Response)
		a.request, _ = awsmiddleware.GetRequestIDMetadata(metadata)
	}
	e := encoder{o.service, look}
	var err error
	a.output, err = e.object(out)
	return a, err
}

// ParameterError says why the parameters of a task cannot be used for its action.
type ParameterError struct {
	// Problems are sentences as Step Functions words them.
	Problems []string
}

// Error implements error.
func (e *ParameterError) Error() string { return fmt.Sprint(e.Problems) }

func isUnsupported(err error) bool {
	var u *unsupportedError
	return errors.As(err, &u)
}
