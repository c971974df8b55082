// Package protocoltest contains the protocol tests of botocore (August 2026, Apache-2.0): 367 requests to write and
// 365 responses to read, in all AWS protocols. They are for tests of clients and servers. cases.zip holds them with
// their licence and a README. The package is for tests only.
package protocoltest

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/aws/model/botocore"
	"stepback/jsonvalue"
)

//go:embed cases.zip
var archive []byte

// Case is one test case: a request or a response. Its strings are copied from botocore's case. Documents are as
// described in package model.
type Case struct {
	// File is the protocol's file, such as rest-json. ID is the case's name in it.
	File, ID  string
	Protocol  model.Protocol
	Service   *model.Service
	Operation *model.Operation

	// Endpoint is the address of the service, for a request. Params is the request's input.
	Endpoint string
	Params   jsonvalue.Value
	Request  Request

	// Response is the response to read. Result is the output expected from it. An error has its code, message and
	// members instead.
	Response                Response
	Result                  jsonvalue.Value
	Failed                  bool
	ErrorCode, ErrorMessage string
	Error                   jsonvalue.Value
}

// Request is the expected request for an input.
type Request struct {
	Method, URI, Host string
	Headers           map[string]string
	// Required lists headers that must be present, with any value. Forbidden lists headers that must be absent.
	Required, Forbidden []string
	// Body is the expected body if HasBody is true. For CBOR it is encoded in Base64.
	Body    string
	HasBody bool
}

// Response is a response of a service.
type Response struct {
	Status  int
	Headers map[string]string
	Body    []byte
}

// Inputs returns the cases with requests to write.
func Inputs(t testing.TB) []Case {
	t.Helper()
	return cases(t, "input")
}

// Outputs returns the cases with responses to read.
func Outputs(t testing.TB) []Case {
	t.Helper()
	return cases(t, "output")
}

func cases(t testing.TB, folder string) []Case {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var all []Case
	for _, f := range z.File {
		if path.Dir(f.Name) != folder || path.Ext(f.Name) != ".json" {
			continue
		}
		name := strings.TrimSuffix(path.Base(f.Name), ".json")
		for _, suite := range parsed(t, f).Elements() {
			tests := member(suite, "cases")
			for _, c := range tests.Elements() {
				made, err := read(suite, c)
				if err != nil {
					t.Fatalf("%s %s: %v", f.Name, made.ID, err)
				}
				made.File = name
				all = append(all, made)
			}
		}
	}
	return all
}

func parsed(t testing.TB, f *zip.File) jsonvalue.Value {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonvalue.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func member(v jsonvalue.Value, name string) jsonvalue.Value {
	m, _ := v.Get(name)
	return m
}

func read(suite, c jsonvalue.Value) (Case, error) {
	given := member(c, "given")
	name := member(given, "name").Text()
	metadata := member(suite, "metadata").With("serviceId", jsonvalue.OfString("Test"))
	made := Case{ID: member(c, "id").Text(), Endpoint: member(suite, "clientEndpoint").Text()}
	var empty jsonvalue.Value
	source := empty.With("metadata", metadata).With("operations", empty.With(name, given)).
		With("shapes", member(suite, "shapes"))
	_, file, err := botocore.Convert(source.JSON())
	if err != nil {
		return made, err
	}
	if made.Service, err = model.Parse("test", file); err != nil {
		return made, err
	}
	if made.Operation, err = made.Service.Operation(name); err != nil {
		return made, err
	}
	made.Protocol = made.Service.Protocols[0]
	made.Params = Document(made.Operation.Input, member(c, "params"))
	made.Request = request(member(c, "serialized"))
	made.Result = Document(made.Operation.Output, member(c, "result"))
	made.ErrorCode, made.ErrorMessage = member(c, "errorCode").Text(), member(c, "errorMessage").Text()
	_, made.Failed = c.Get("errorCode")
	made.Error = member(c, "error")
	if shape := made.thrown(); shape != nil {
		made.Error = Document(shape, made.Error)
	}
	made.Response, err = made.response(member(c, "response"))
	return made, err
}

func (c *Case) thrown() *model.Shape {
	if len(c.Operation.Errors) == 0 {
		return nil
	}
	return c.Operation.Errors[0]
}

func request(v jsonvalue.Value) Request {
	body, has := v.Get("body")
	return Request{
		Method: member(v, "method").Text(), URI: member(v, "uri").Text(), Host: member(v, "host").Text(),
		Headers: texts(member(v, "headers")), Required: list(member(v, "requireHeaders")),
		Forbidden: list(member(v, "forbidHeaders")), Body: body.Text(), HasBody: has,
	}
}

func (c *Case) response(v jsonvalue.Value) (Response, error) {
	status, _ := member(v, "status_code").Int()
	r := Response{Status: int(status), Headers: texts(member(v, "headers")), Body: []byte(member(v, "body").Text())}
	if c.Protocol != model.CBOR {
		return r, nil
	}
	body, err := base64.StdEncoding.DecodeString(string(r.Body))
	if err != nil {
		return r, fmt.Errorf("the body: %w", err)
	}
	r.Body = body
	return r, nil
}

func texts(v jsonvalue.Value) map[string]string {
	m := map[string]string{}
	for i, key := range v.Keys() {
		m[key] = v.At(i).Text()
	}
	return m
}

func list(v jsonvalue.Value) []string {
	names := make([]string, 0, v.Len())
	for _, e := range v.Elements() {
		names = append(names, e.Text())
	}
	return names
}

// Document converts a document from a case's notation. In that notation bytes are text, and there may be members
// that the shape does not have.
func Document(s *model.Shape, v jsonvalue.Value) jsonvalue.Value {
	if s == nil {
		return jsonvalue.NewObject(0).Value()
	}
	switch {
	case v.IsNull():
		return v
	case s.Type == model.Structure && v.Kind() == jsonvalue.Object:
		b := jsonvalue.NewObject(v.Len())
		for i, key := range v.Keys() {
			e := v.At(i)
			if m := s.Member(key); m != nil {
				e = Document(m.Shape, e)
			}
			b.Set(key, e)
		}
		return b.Value()
	case s.Type == model.Map && v.Kind() == jsonvalue.Object:
		b := jsonvalue.NewObject(v.Len())
		for i, key := range v.Keys() {
			b.Set(key, Document(s.Element.Shape, v.At(i)))
		}
		return b.Value()
	case s.Type == model.List && v.Kind() == jsonvalue.Array:
		elements := slices.Clone(v.Elements())
		for i, e := range elements {
			elements[i] = Document(s.Element.Shape, e)
		}
		return jsonvalue.OfArray(elements)
	case s.Type == model.Blob:
		return model.OfBlob([]byte(v.Text()))
	}
	return v
}
