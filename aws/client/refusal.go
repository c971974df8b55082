package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// decodeError decodes an error response of the service. If that fails, it returns an *Error without a code.
func (x *exchange) decodeError(ctx context.Context, r *http.Response, body []byte, a *Response) error {
	e := &Error{Status: a.Status, RequestID: a.RequestID, HostID: a.HostID,
		RetryAfter: aws.ParseRetryAfter(r.Header.Get(aws.RetryAfterHeader))}
	if len(body) == 0 && r.Header.Get("X-Amzn-Errortype") == "" {
		e.Code = strings.ReplaceAll(http.StatusText(a.Status), " ", "")
		return e
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	err := x.deserialize(ctx, r, x.binding.Output(x.Operation, jsonvalue.Value{}))
	var known *modelledError
	var generic *smithy.GenericAPIError
	switch {
	case errors.As(err, &known):
		e.Shape, e.Code = known.shape.Name, known.code(x.binding.Protocol)
		e.Message, e.Document = known.message(), known.value()
	case errors.As(err, &generic) && generic.Code != unknown:
		e.Code, e.Message = generic.Code, generic.Message
		if e.Message == unknown {
			e.Message = ""
		}
	default:
		e.Message = "the answer with status " + http.StatusText(a.Status) + " names no error: " + excerpt(body)
	}
	return e
}

// unknown is the code and the message that smithy-go gives an error without its own.
const unknown = "UnknownError"

// modelledError is a modelled error from a response.
type modelledError struct {
	shape *model.Shape
	read  *model.Value
	// ErrorCodeOverride is set by smithy-go to the code in x-amzn-query-error.
	ErrorCodeOverride *string
}

// Error implements error.
func (t *modelledError) Error() string { return t.shape.Name }

// Deserialize implements smithy.Deserializable. It ignores errors, because an error document that does not match
// its shape completely still reports that error.
func (t *modelledError) Deserialize(d smithy.ShapeDeserializer) error {
	_ = t.read.Deserialize(d)
	return nil
}

func (t *modelledError) code(p model.Protocol) string {
	switch {
	case t.ErrorCodeOverride != nil:
		return *t.ErrorCodeOverride
	case p == model.JSON || p == model.RESTJSON || p == model.CBOR:
		return t.shape.Name
	default:
		return t.shape.Error.Code
	}
}

// value returns the error's document, with only the members in its model.
func (t *modelledError) value() jsonvalue.Value {
	b := jsonvalue.NewObject(t.read.Value.Len())
	for i, key := range t.read.Value.Keys() {
		if t.shape.Member(key) != nil {
			b.Set(key, t.read.Value.At(i))
		}
	}
	return b.Value()
}

func (t *modelledError) message() string {
	for i, key := range t.read.Value.Keys() {
		if strings.EqualFold(key, "message") {
			return t.read.Value.At(i).Text()
		}
	}
	return ""
}

// registries caches the modelled errors of services, by *model.Binding.
var registries sync.Map

// registry returns the modelled errors of the service, by their names and codes.
func (x *exchange) registry() *smithy.TypeRegistry {
	if made, ok := registries.Load(x.binding); ok {
		return made.(*smithy.TypeRegistry)
	}
	entries := map[string]*smithy.TypeRegistryEntry{}
	for _, name := range x.Service.Exceptions() {
		shape := x.Service.Exception(name)
		if shape == nil || shape.Error == nil {
			continue
		}
		plain, schema := shape.WithMessage(x.binding)
		entry := &smithy.TypeRegistryEntry{Schema: schema, New: func() any {
			return &modelledError{shape: shape, read: &model.Value{Shape: plain, Schema: schema}}
		}}
		entries[name] = entry
		if _, taken := entries[shape.Error.Code]; !taken {
			entries[shape.Error.Code] = entry
		}
	}
	made, _ := registries.LoadOrStore(x.binding, &smithy.TypeRegistry{Entries: entries})
	return made.(*smithy.TypeRegistry)
}

// requestID returns the service's ID of a request.
func (x *exchange) requestID(h http.Header) string {
	if id := h.Get("X-Amz-Request-Id"); id != "" && strings.HasPrefix(x.Service.SignatureVersion, "s3") {
		return id
	}
	for _, name := range []string{"X-Amzn-Requestid", "X-Amz-Request-Id", "X-Amz-Requestid", "X-Amz-Cf-Id"} {
		if id := h.Get(name); id != "" {
			return id
		}
	}
	return ""
}

// requestIDIn returns the service's ID of a request from an XML response.
func requestIDIn(body []byte) string {
	return elementIn(body, "RequestId", "RequestID", "requestId")
}

// elementIn returns the text of the first element with one of the names in an XML response.
func elementIn(body []byte, names ...string) string {
	const longest = 128
	for _, name := range names {
		_, rest, found := bytes.Cut(body, []byte("<"+name+">"))
		if text, _, closed := bytes.Cut(rest, []byte("</"+name+">")); found && closed && len(text) <= longest {
			return string(bytes.TrimSpace(text))
		}
	}
	return ""
}

// isErrorDocument reports whether an XML body is an error.
func isErrorDocument(body []byte) bool {
	b := bytes.TrimSpace(body)
	if bytes.HasPrefix(b, []byte("<?")) {
		if _, rest, found := bytes.Cut(b, []byte("?>")); found {
			b = bytes.TrimSpace(rest)
		}
	}
	return bytes.HasPrefix(b, []byte("<Error>")) || bytes.HasPrefix(b, []byte("<Error "))
}
