package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// Client calls services at one address. It is safe for concurrent use.
type Client struct {
	// Endpoint is the address: http://127.0.0.1:4566, https://sqs.eu-west-1.amazonaws.com. A path is kept. S3 is called
	// with the bucket in the path; in the host where that is an address of AWS, or where it has the label {Bucket}, as
	// http://{Bucket}.s3.local:9000 has.
	Endpoint string
	// Region is that of signatures. An address of AWS that names another region is signed for that one.
	Region string
	// Credentials sign the requests. Those of an emulator may be anything.
	Credentials awssdk.CredentialsProvider
	// HTTP carries the calls out; nil is http.DefaultClient. It should have no timeout of its own: the context has.
	HTTP *http.Client
	// Protocol is spoken to services that speak it; others, and the zero value, get the one that they prefer.
	Protocol model.Protocol

	// The following are for tests.

	// Token makes idempotency tokens; nil makes random ones.
	Token func() string
	// HostPrefix puts the prefixes of the models before the host of any address; without it, of AWS's own only.
	HostPrefix bool
	// GzipFrom is how many bytes a body must have to be compressed, where the model allows it; 0 is 10,240.
	GzipFrom int
	// Now is the time of signatures; nil is time.Now.
	Now func() time.Time
}

// Request is one call.
type Request struct {
	Service   *model.Service
	Operation *model.Operation
	// Input is the document of the operation's input; null is an empty one.
	Input jsonvalue.Value
	// Body is the member of the input that is a stream (Shape.Streamed); nil for none. It is read twice, from where it
	// stands: once to be signed, once to be sent.
	Body io.ReadSeeker
}

// Response is the answer to a call.
type Response struct {
	// Output is the document of the operation's output.
	Output jsonvalue.Value
	// Body is the member of the output that is a stream; nil where there is none. The caller closes it.
	Body io.ReadCloser
	// Status and Header are those of HTTP.
	Status int
	Header http.Header
	// RequestID is how the service calls the request, HostID S3's second name for it; empty when they were not told.
	RequestID, HostID string
}

var signer = v4.NewSigner()

// Call calls an operation. The error is
//
//   - an *Error where the service refused,
//   - a *model.ValueError where the input is not of its shape,
//   - an *AnswerError where the answer is not what the model says,
//   - an *UnsupportedError where the operation cannot be called,
//   - that of the context when it is done,
//   - and otherwise what kept the request from being sent or answered.
func (c *Client) Call(ctx context.Context, r *Request) (*Response, error) {
	if r.Operation.EventStream() {
		return nil, &UnsupportedError{r.Service.Name, r.Operation.Name, "sends or answers a stream of events"}
	}
	x, err := c.exchange(r)
	if err != nil {
		return nil, err
	}
	request, err := x.request(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := x.send(request) //nolint:bodyclose // answer closes it, or hands it to the caller
	if err != nil {
		return nil, err
	}
	return x.answer(ctx, answer)
}

// exchange is one call under way.
type exchange struct {
	*Client
	*Request
	binding  *model.Binding
	endpoint *url.URL
	aws      bool // the address is one of AWS's own
	bucket   string
}

func (c *Client) exchange(r *Request) (*exchange, error) {
	x := &exchange{Client: c, Request: r, binding: r.Service.Bind(c.protocol(r.Service))}
	var err error
	x.endpoint, x.bucket, err = c.address(r)
	if err != nil {
		return nil, err
	}
	x.aws = IsAWS(x.endpoint.Hostname())
	return x, nil
}

// protocol chooses what is spoken. CBOR is not chosen where there is another protocol: emulators rarely speak it.
func (c *Client) protocol(s *model.Service) model.Protocol {
	if c.Protocol != "" && s.Speaks(c.Protocol) {
		return c.Protocol
	}
	for _, p := range s.Protocols {
		if p != model.CBOR {
			return p
		}
	}
	return s.Protocols[0]
}

// send sends a request. Redirects are answers.
func (x *exchange) send(r *http.Request) (*http.Response, error) {
	client := http.DefaultClient
	if x.HTTP != nil {
		client = x.HTTP
	}
	if client.CheckRedirect == nil {
		direct := *client
		direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		client = &direct
	}
	return client.Do(r)
}

func (x *exchange) named(ctx context.Context) context.Context {
	return middleware.WithOperationName(ctx, x.Operation.Name)
}

// input is the input as it is written: with its stream, if it has one.
type input struct {
	*model.Value
	body io.Reader
}

// GetPayloadStream implements smithy.StreamingInput.
func (i input) GetPayloadStream() io.Reader { return i.body }

// write writes the request of a call, without address and signature.
func (x *exchange) write(ctx context.Context) (*smithyhttp.Request, error) {
	request, _ := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	schema := x.binding.Operation(x.Operation)
	in := x.binding.Input(x.Operation, x.filled())
	var err error
	if x.Operation.Input.Streamed() != nil && x.Body != nil {
		err = x.binding.Client().SerializeRequest(x.named(ctx), schema, input{in, x.Body}, request)
	} else {
		err = x.binding.Client().SerializeRequest(x.named(ctx), schema, in, request)
	}
	if in.Err != nil {
		return nil, in.Err
	}
	if err != nil {
		return nil, &model.ValueError{Why: err.Error()}
	}
	if x.binding.Protocol == model.RESTXML && x.bodiless() { // for which smithy-go writes the {} of JSON
		if request, err = request.SetStream(nil); err != nil {
			return nil, err
		}
		request.ContentLength = 0
		request.Header.Del("Content-Type")
	}
	return request, nil
}

// bodiless reports whether the structure that is the whole body of the request is absent.
func (x *exchange) bodiless() bool {
	if x.Operation.Input == nil || x.Operation.Input.Payload == nil {
		return false
	}
	m := x.Operation.Input.Payload
	v, _ := x.Input.Get(m.Name)
	return m.Shape.Type == model.Structure && v.IsNull()
}
