package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// maxAnswer is the maximum size in bytes of a response that is read as a whole. maxError is the maximum size of an
// error response.
const (
	maxAnswer = 32 << 20
	maxError  = 1 << 20
)

// output is an output of an operation that passes its stream on to the caller.
type output struct {
	*model.Value
	body io.ReadCloser
}

// SetPayloadStream implements smithy.StreamingOutput.
func (o *output) SetPayloadStream(r io.ReadCloser) { o.body = r }

// answer reads the response to a call.
func (x *exchange) answer(ctx context.Context, r *http.Response) (*Response, error) {
	a := &Response{Status: r.StatusCode, Header: r.Header, RequestID: x.requestID(r.Header)}
	a.HostID = r.Header.Get("X-Amz-Id-2")
	if r.StatusCode/100 == 2 && x.Operation.Output.Streamed() != nil {
		return a, x.stream(ctx, r, a)
	}
	body, err := x.whole(ctx, r)
	if err != nil {
		return nil, err
	}
	if a.RequestID == "" {
		a.RequestID = requestIDIn(body)
	}
	if a.HostID == "" && x.Service.ID == "S3" {
		a.HostID = elementIn(body, "HostId")
	}
	if x.Service.ID == "S3" && r.StatusCode/100 == 2 && isErrorDocument(body) { // a copy that failed on the way
		r.StatusCode = http.StatusInternalServerError
	}
	if r.StatusCode/100 != 2 {
		return nil, x.decodeError(ctx, r, body, a)
	}
	return a, x.output(ctx, r, body, a)
}

// whole reads a response to its end. It returns an error if the response is truncated.
func (x *exchange) whole(ctx context.Context, r *http.Response) ([]byte, error) {
	defer func() { _ = r.Body.Close() }()
	limit := int64(maxAnswer)
	if r.StatusCode/100 != 2 {
		limit = maxError
	}
	if r.ContentLength > limit && !toHead(r) {
		return nil, x.wrong(r, fmt.Sprintf("it has %d bytes, more than %d", r.ContentLength, limit))
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("the answer broke off: %w", err)
	case int64(len(body)) > limit:
		return nil, x.wrong(r, fmt.Sprintf("it has more than %d bytes", limit))
	}
	return body, nil
}

// toHead reports whether a response is to a HEAD request. Such a response has no body, although Content-Length may
// give the length that the GET response would have.
func toHead(r *http.Response) bool { return r.Request != nil && r.Request.Method == http.MethodHead }

func (x *exchange) wrong(r *http.Response, why string) *AnswerError {
	return &AnswerError{x.Service.Name, x.Operation.Name, r.StatusCode, why}
}

// stream reads a response whose body is a stream.
func (x *exchange) stream(ctx context.Context, r *http.Response, a *Response) error {
	out := &output{Value: x.binding.Output(x.Operation, jsonvalue.Value{})}
	if err := x.deserialize(ctx, r, out); err != nil {
		_ = r.Body.Close()
		return x.wrong(r, why(err))
	}
	a.Output, a.Body = x.completed(out.Value.Value), out.body
	return nil
}

// output decodes a response that was read as a whole.
func (x *exchange) output(ctx context.Context, r *http.Response, body []byte, a *Response) error {
	a.Output = jsonvalue.NewObject(0).Value()
	if x.Operation.Output == nil {
		return nil
	}
	if isHTML(body, x.Operation.Output) {
		return x.wrong(r, "it is HTML: "+excerpt(body))
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	out := x.binding.Output(x.Operation, a.Output)
	if err := x.deserialize(ctx, r, out); err != nil {
		return x.wrong(r, why(err))
	}
	a.Output = x.completed(out.Value)
	if err := x.complete(a.Output); err != nil {
		return x.wrong(r, why(err))
	}
	return nil
}

// completed adds an empty map for each map of headers that had no entries, which would otherwise be absent.
func (x *exchange) completed(v jsonvalue.Value) jsonvalue.Value {
	if v.IsNull() {
		v = jsonvalue.NewObject(0).Value()
	}
	for _, m := range x.Operation.Output.Members {
		if _, there := v.Get(m.Name); m.Location == model.InHeaders && !there {
			v = v.With(m.Name, jsonvalue.NewObject(0).Value())
		}
	}
	return v
}

// isHTML reports whether a response is an HTML page, such as proxies send.
func isHTML(body []byte, shape *model.Shape) bool {
	if shape.Payload != nil && (shape.Payload.Shape.Type == model.Blob || shape.Payload.Shape.Type == model.String) {
		return false
	}
	const enough = 64
	start := strings.ToLower(strings.TrimSpace(string(body[:min(len(body), enough)])))
	return strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html")
}

// deserialize decodes a response. It converts a panic of the protocol's decoder to an error, because that code is
// young.
func (x *exchange) deserialize(ctx context.Context, r *http.Response, out smithy.Deserializable) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be read: %v", p)
		}
	}()
	return x.binding.Client().DeserializeResponse(x.named(ctx), x.binding.Operation(x.Operation), x.registry(),
		&smithyhttp.Response{Response: r}, out)
}

// why returns the underlying problem with a response, without the wrapping messages.
func why(err error) string {
	var value *model.ValueError
	if errors.As(err, &value) {
		return value.Error()
	}
	var d *smithy.DeserializationError
	if errors.As(err, &d) && d.Err != nil {
		return d.Err.Error()
	}
	return err.Error()
}

// excerpt returns the beginning of a response, for a message.
func excerpt(body []byte) string {
	const longest = 200
	text := strings.Join(strings.Fields(string(body[:min(len(body), longest)])), " ")
	if !utf8.ValidString(text) {
		return fmt.Sprintf("%d bytes that are no text", len(body))
	}
	return fmt.Sprintf("%q", text)
}
