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
	// Endpoint is the address, such as http://127.0.0.1:4566 or https://sqs.eu-west-1.amazonaws.com. A path in it
	// is kept. For S3 the bucket is added to the path. It is added to the host instead if the address is AWS's, or
	// contains the label {Bucket}, as in http://{Bucket}.s3.local:9000.
	Endpoint string
	// Region is the region for signatures. If the endpoint is an AWS address that names another region, requests
	// are signed for that region.
	Region string
	// Credentials sign the requests. For an emulator they may be anything.
	Credentials awssdk.CredentialsProvider
	// HTTP sends the requests; nil means http.DefaultClient. It should have no timeout, because the context sets it.
	HTTP *http.Client
	// Protocol is used for services that support it. If a service does not support it, or if it is empty, the
	// service's preferred protocol is used.
	Protocol model.Protocol

	// The following fields are for tests.

	// Token generates idempotency tokens; nil generates random ones.
	Token func() string
	// HostPrefix adds the models' host prefixes to the host of any address. By default, they are added only to
	// AWS's addresses.
	HostPrefix bool
	// GzipFrom is the size in bytes from which a body is compressed, if the model allows it; 0 means 10,240.
	GzipFrom int
	// Now returns the time for signatures; nil means time.Now.
	Now func() time.Time
}

// Request describes one call.
type Request struct {
	Service   *model.Service
	Operation *model.Operation
	// Input is the document of the operation's input; null means an empty one.
	Input jsonvalue.Value
	// Body is the stream member of the input (Shape.Streamed); nil if there is none. It is read twice from its
	// current position: once for the signature and once for sending.
	Body io.ReadSeeker
}

// Response is the response to a call.
type Response struct {
	// Output is the document of the operation's output.
	Output jsonvalue.Value
	// Body is the stream member of the output; nil if there is none. The caller closes it.
	Body io.ReadCloser
	// Status and Header are the HTTP status and header.
	Status int
	Header http.Header
	// RequestID is the service's ID of the request. HostID is S3's second ID. Each is empty if the response has
	// none.
	RequestID, HostID string
}

var signer = v4.NewSigner()

// Call calls an operation. The error is
//
//   - an *Error if the service returned an error,
//   - a *model.ValueError if the input does not match its shape,
//   - an *AnswerError if the response does not match the model,
//   - an *UnsupportedError if the operation cannot be called,
//   - the context's error if the context ended,
//   - and otherwise the error that occurred while sending the request or receiving the response.
//
// The body of an S3 object is read on by range if its connection breaks (package rangedbody).
func (c *Client) Call(ctx context.Context, r *Request) (*Response, error) {
	a, err := c.once(ctx, r)
	if err == nil {
		c.resumable(ctx, r, a)
	}
	return a, err
}

// once is Call without reading on.
func (c *Client) once(ctx context.Context, r *Request) (*Response, error) {
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
	aws      bool // the address is AWS's own
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

// protocol chooses the protocol of a call. It chooses CBOR only if the service has no other, because emulators
// rarely support it.
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

// send sends a request. It returns redirects as responses.
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

// input is an input to be serialized, with its stream if it has one.
type input struct {
	*model.Value
	body io.Reader
}

// GetPayloadStream implements smithy.StreamingInput.
func (i input) GetPayloadStream() io.Reader { return i.body }

// write serializes the request of a call, without address and signature.
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
	if x.binding.Protocol == model.RESTXML && x.bodiless() { // smithy-go would write {} for it, as in JSON
		if request, err = request.SetStream(nil); err != nil {
			return nil, err
		}
		request.ContentLength = 0
		request.Header.Del("Content-Type")
	}
	return request, nil
}

// bodiless reports whether the request has no body because the structure that forms the whole body is absent.
func (x *exchange) bodiless() bool {
	if x.Operation.Input == nil || x.Operation.Input.Payload == nil {
		return false
	}
	m := x.Operation.Input.Payload
	v, _ := x.Input.Get(m.Name)
	return m.Shape.Type == model.Structure && v.IsNull()
}
