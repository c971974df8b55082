package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws"
	"stepback/aws/client"
	"stepback/aws/model"
	"stepback/aws/protocoltest"
	"stepback/jsonvalue"
)

// excused lists the cases that a server does not pass, and why.
var excused = map[string]string{
	"rest-json/RestJsonQueryPrecedence":   "the parameter that gives way to another one is not sent",
	"rest-xml/RestXmlQueryPrecedence":     "the parameter that gives way to another one is not sent",
	"rest-json/HttpPrefixHeadersResponse": "a map of all headers has Content-Length as well",
}

// The server reads the requests that botocore's client tests write, and gets their parameters.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, c := range protocoltest.Inputs(t) {
		t.Run(c.File+"/"+c.ID, func(t *testing.T) {
			t.Parallel()
			if why := excused[c.File+"/"+c.ID]; why != "" {
				t.Skip(why)
			}
			if problem := reads(t, &c); problem != "" {
				t.Error(problem)
			}
		})
	}
}

func reads(t *testing.T, c *protocoltest.Case) string {
	var got *Request
	s, err := newService(Config{Operations: map[string]Operation{
		c.Operation.Name: {Reads: WholeInput{}, Call: func(_ context.Context, r *Request) (*Answer, error) {
			got = r
			return nil, errors.New("enough")
		}},
	}, Default: aws.Scope{Account: "000000000000", Region: "us-east-1"}}, c.Service)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, requestOf(t, c))
	if got == nil {
		return "refused: " + w.Body.String()
	}
	in := got.Input
	if len(got.Payload) > 0 {
		in = in.With(c.Operation.Input.Payload.Name, model.OfBlob(got.Payload))
	}
	if !same(withoutGenerated(c.Operation.Input, in, c.Params), c.Params) {
		return "got " + in.JSON() + "\nwant " + c.Params.JSON()
	}
	return ""
}

// withoutGenerated removes what a client adds to the parameters of a case: generated tokens, and the entries that
// servers find in a map of all query parameters.
func withoutGenerated(s *model.Shape, got, params jsonvalue.Value) jsonvalue.Value {
	if s == nil {
		return got
	}
	for _, m := range s.Members {
		v, there := params.Get(m.Name)
		if m.IdempotencyToken && !there {
			got = got.With(m.Name, jsonvalue.Value{})
		}
		if m.Location == model.InQuery && m.Shape.Type == model.Map {
			asked, _ := got.Get(m.Name)
			for _, key := range asked.Keys() {
				if _, ok := v.Get(key); !ok && slices.ContainsFunc(s.Members, func(o *model.Member) bool {
					return o.Location == model.InQuery && wireName(o) == key
				}) {
					asked = asked.With(key, jsonvalue.Value{})
				}
			}
			got = got.With(m.Name, asked)
		}
	}
	return got
}

// kept is a transport that keeps a client's last request.
type kept struct{ r *http.Request }

func (k *kept) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	k.r = httptest.NewRequest(r.Method, r.URL.String(), bytes.NewReader(body))
	k.r.Header = r.Header
	return nil, errors.Join(err, errors.New("kept"))
}

// compressed returns the client's request for a case without a body, which is omitted because it is compressed.
func compressed(c *protocoltest.Case) *http.Request {
	k := &kept{}
	cl := &client.Client{Endpoint: "http://service.test", Region: "us-east-1", Protocol: c.Protocol, GzipFrom: 1,
		HTTP:        &http.Client{Transport: k},
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")}
	r := &client.Request{Service: c.Service, Operation: c.Operation, Input: c.Params}
	if m := c.Operation.Input.Streamed(); m != nil {
		v, _ := c.Params.Get(m.Name)
		if b, err := model.BlobOf(v); err == nil {
			r.Body = bytes.NewReader(b)
		}
	}
	_, _ = cl.Call(context.Background(), r) // the call fails, but the request is kept
	return k.r
}

// requestOf returns the request of a case.
func requestOf(t *testing.T, c *protocoltest.Case) *http.Request {
	t.Helper()
	if strings.HasPrefix(c.ID, "SDKAppe") || strings.HasPrefix(c.ID, "SDKApplied") {
		return compressed(c)
	}
	body := []byte(c.Request.Body)
	if c.Protocol == model.CBOR {
		var err error
		if body, err = base64.StdEncoding.DecodeString(c.Request.Body); err != nil {
			t.Fatal(err)
		}
	}
	method := c.Request.Method
	if method == "" {
		method = c.Operation.Method
	}
	if method == "" {
		method = http.MethodPost
	}
	// A few cases are about addresses, and do not contain the headers that every request has.
	uri := strings.Replace(c.Request.URI, "/custom/", "/", 1)
	r := httptest.NewRequest(method, "http://service.test"+uri, bytes.NewReader(body))
	switch c.Protocol {
	case model.JSON:
		r.Header.Set("Content-Type", mediaJSON+c.Service.JSONVersion)
		r.Header.Set("X-Amz-Target", c.Service.TargetPrefix+"."+c.Operation.Name)
	case model.Query, model.EC2:
		r.Header.Set("Content-Type", mediaForm)
		if c.Request.Body == "" {
			r.Body = io.NopCloser(strings.NewReader("Action=" + c.Operation.Name))
		}
	default:
	}
	for name, value := range c.Request.Headers {
		r.Header.Set(name, value)
	}
	return r
}

// A client reads the responses of botocore's tests as the server writes them.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range protocoltest.Outputs(t) {
		t.Run(c.File+"/"+c.ID, func(t *testing.T) {
			t.Parallel()
			if why := excused[c.File+"/"+c.ID]; why != "" {
				t.Skip(why)
			}
			if problem := writes(t, &c); problem != "" {
				t.Error(problem)
			}
		})
	}
}

// recorded is a transport that returns a handler's recorded response to any request.
type recorded struct{ w *httptest.ResponseRecorder }

func (r recorded) RoundTrip(*http.Request) (*http.Response, error) { return r.w.Result(), nil }

func writes(t *testing.T, c *protocoltest.Case) string {
	s, err := newService(Config{Operations: map[string]Operation{
		c.Operation.Name: {Reads: WholeInput{}, Call: func(context.Context, *Request) (*Answer,
			error) {
			return answerOf(c)
		}},
	}}, c.Service)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	o, err := s.operation(c.Operation.Name)
	if err != nil {
		t.Fatal(err)
	}
	call := &call{service: s, writer: w, request: httptest.NewRequest(http.MethodPost, "/", nil), id: "id",
		codec: s.codecOf(httptest.NewRequest(http.MethodPost, "/", nil)), op: o}
	w.Header().Set("Content-Type", call.codec.contentType(s))
	if c.Protocol == model.CBOR {
		w.Header().Set("Smithy-Protocol", smithyCBOR)
	}
	a, err := answerOf(c)
	out := &reply{status: o.model.Status}
	if err == nil {
		err = call.codec.write(call, a, out)
	}
	if err != nil {
		out = call.refuse(err)
	}
	s.write(w, call.request, out)
	cl := &client.Client{Endpoint: "http://service.test", Region: "us-east-1", Protocol: c.Protocol,
		HTTP:        &http.Client{Transport: recorded{w}},
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")}
	read, err := cl.Call(context.Background(), &client.Request{Service: c.Service, Operation: c.Operation})
	if c.Failed {
		return refused(c, err, w)
	}
	if err != nil {
		return err.Error() + "\n" + w.Body.String()
	}
	got := read.Output
	if read.Body != nil {
		b, err := io.ReadAll(read.Body)
		if err != nil {
			return err.Error()
		}
		if m := c.Operation.Output.Streamed(); len(b) > 0 {
			got = got.With(m.Name, model.OfBlob(b))
		}
	}
	if !same(got, c.Result) {
		return "got " + got.JSON() + "\nwant " + c.Result.JSON() + "\n" + w.Body.String()
	}
	return ""
}

// answerOf returns the answer of a case's operation.
func answerOf(c *protocoltest.Case) (*Answer, error) {
	if c.Failed {
		e := &aws.Error{Code: c.ErrorCode, Message: c.ErrorMessage, Status: c.Response.Status,
			Members: map[string]any{}}
		for i, name := range c.Error.Keys() {
			if !strings.EqualFold(name, "message") {
				e.Members[name] = plainValue(c.Error.At(i))
			}
		}
		return nil, e
	}
	a := &Answer{Output: c.Result}
	if s := c.Operation.Output; s != nil && s.Payload != nil && s.Payload.Shape.Type == model.Blob {
		if v, ok := c.Result.Get(s.Payload.Name); ok {
			b, err := model.BlobOf(v)
			if err != nil {
				return nil, err
			}
			a.Payload = b
		}
	}
	return a, nil
}

// rawDocument is a document that encoding/json writes unchanged.
type rawDocument string

// MarshalJSON implements json.Marshaler.
func (r rawDocument) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func plainValue(v jsonvalue.Value) any { return rawDocument(v.JSON()) }

func refused(c *protocoltest.Case, err error, w *httptest.ResponseRecorder) string {
	var e *client.Error
	switch {
	case !errors.As(err, &e):
		return "no error of the service\n" + w.Body.String()
	case e.Code != c.ErrorCode:
		return "got the code " + e.Code + ", want " + c.ErrorCode
	case c.ErrorMessage != "" && e.Message != c.ErrorMessage:
		return "got the message " + e.Message + ", want " + c.ErrorMessage
	case !same(e.Document, c.Error):
		return "got " + e.Document.JSON() + "\nwant " + c.Error.JSON() + "\n" + w.Body.String()
	}
	return ""
}

// same compares the decoded value with the expected one. A missing value equals null and, because they are often not
// sent, an empty list or map; numbers are equal by value.
func same(got, want jsonvalue.Value) bool {
	empty := func(v jsonvalue.Value) bool {
		if v.Kind() == jsonvalue.Object {
			return !slices.ContainsFunc(v.Elements(), func(e jsonvalue.Value) bool { return !e.IsNull() })
		}
		return v.IsNull() || v.Kind() == jsonvalue.Array && v.Len() == 0
	}
	switch {
	case empty(got) && empty(want):
		return true
	case got.Kind() != want.Kind():
		return false
	case got.Kind() == jsonvalue.Object:
		for i, key := range want.Keys() {
			v, _ := got.Get(key)
			if !same(v, want.At(i)) {
				return false
			}
		}
		for i, key := range got.Keys() {
			if _, ok := want.Get(key); !ok && !empty(got.At(i)) {
				return false
			}
		}
		return true
	case got.Kind() == jsonvalue.Array:
		return slices.EqualFunc(got.Elements(), want.Elements(), same)
	case got.Kind() == jsonvalue.Number:
		return got.Float() == want.Float()
	}
	return jsonvalue.Equal(got, want)
}
