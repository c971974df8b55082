package client_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws/client"
	"stepback/aws/model"
	"stepback/aws/protocoltest"
	"stepback/jsonvalue"
)

// round is a transport that gives a fixed response and keeps the last request.
type round struct {
	answer  *http.Response
	request *http.Request
	body    []byte
}

func (r *round) RoundTrip(in *http.Request) (*http.Response, error) {
	r.request = in
	if in.Body != nil {
		var err error
		if r.body, err = io.ReadAll(in.Body); err != nil {
			return nil, err
		}
	}
	return r.answer, nil
}

// with returns a transport with a fixed response.
func with(status int, headers map[string]string, body []byte) *round {
	h := http.Header{}
	for name, value := range headers {
		h.Set(name, value)
	}
	return &round{answer: &http.Response{StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}}
}

func caller(r http.RoundTripper, endpoint string) *client.Client {
	if endpoint == "" {
		endpoint = "http://service.test"
	}
	return &client.Client{
		Endpoint: endpoint, Region: "us-east-1", HTTP: &http.Client{Transport: r}, HostPrefix: true, GzipFrom: 1,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		Token:       func() string { return "00000000-0000-4000-8000-000000000000" },
	}
}

// The requests of botocore's protocol tests are written correctly.
func TestRequests(t *testing.T) {
	t.Parallel()
	for _, c := range protocoltest.Inputs(t) {
		t.Run(c.File+"/"+c.ID, func(t *testing.T) {
			t.Parallel()
			r := with(200, nil, nil)
			err := send(caller(r, c.Endpoint), &c)
			if r.request == nil {
				t.Fatal(err)
			}
			if problems := compare(&c, r); len(problems) > 0 {
				t.Errorf("%s\nparams %s", strings.Join(problems, "\n"), c.Params.JSON())
			}
		})
	}
}

func send(cl *client.Client, c *protocoltest.Case) error {
	cl.Protocol = c.Protocol
	request := &client.Request{Service: c.Service, Operation: c.Operation, Input: c.Params}
	if m := c.Operation.Input.Streamed(); m != nil {
		if v, ok := c.Params.Get(m.Name); ok {
			b, err := model.BlobOf(v)
			if err != nil {
				return err
			}
			request.Body = bytes.NewReader(b)
		}
	}
	_, err := cl.Call(context.Background(), request)
	return err
}

// compare lists the differences between a request and the expected one of a case.
func compare(c *protocoltest.Case, r *round) []string {
	var problems []string
	problem := func(what, got, want string) { problems = append(problems, what+" "+got+", want "+want) }
	want := &c.Request
	if want.Method != "" && r.request.Method != want.Method {
		problem("method", r.request.Method, want.Method)
	}
	if uri := r.request.URL.RequestURI(); !sameURI(uri, want.URI) {
		problem("URI", uri, want.URI)
	}
	if want.Host != "" && !strings.HasPrefix(want.Host, r.request.URL.Host) {
		problem("host", r.request.URL.Host, want.Host)
	}
	for name, value := range want.Headers {
		if got := strings.Join(r.request.Header.Values(name), ", "); !sameHeader(got, value) {
			problem("header "+name, got, value)
		}
	}
	for _, name := range want.Required {
		length := name == "Content-Length" && r.request.ContentLength > 0
		if r.request.Header.Get(name) == "" && !length {
			problem("header", name, "to be there")
		}
	}
	for _, name := range want.Forbidden {
		if r.request.Header.Get(name) != "" {
			problem("header", name, "not to be there")
		}
	}
	if want.HasBody && !sameBody(c, r.body, want.Body) {
		problem("body", string(r.body), want.Body)
	}
	return problems
}

func sameHeader(got, want string) bool {
	return strings.ReplaceAll(got, ", ", ",") == strings.ReplaceAll(want, ", ", ",")
}

// sameURI compares the paths, and the queries in any order.
func sameURI(got, want string) bool {
	path, query, _ := strings.Cut(got, "?")
	wantPath, wantQuery, _ := strings.Cut(want, "?")
	a, errA := url.ParseQuery(query)
	b, errB := url.ParseQuery(wantQuery)
	for _, values := range a { // the signer sorts them
		slices.Sort(values)
	}
	for _, values := range b {
		slices.Sort(values)
	}
	return errA == nil && errB == nil && path == wantPath && a.Encode() == b.Encode()
}

func sameBody(c *protocoltest.Case, got []byte, want string) bool {
	switch c.Protocol {
	case model.JSON, model.RESTJSON:
		a, errA := jsonvalue.Parse(string(got))
		b, errB := jsonvalue.Parse(want)
		if errA != nil || errB != nil {
			return string(got) == want || len(got) == 0 && want == "{}" && c.Operation.Input == nil
		}
		return jsonvalue.Equal(a, b)
	case model.Query, model.EC2:
		a, errA := url.ParseQuery(string(got))
		b, errB := url.ParseQuery(want)
		return errA == nil && errB == nil && a.Encode() == b.Encode()
	case model.RESTXML:
		return string(got) == want || canonical(string(got)) == canonical(want)
	default:
		b, err := base64.StdEncoding.DecodeString(want)
		return err == nil && sameCBOR(got, b)
	}
}

// canonical writes XML with the children of every element sorted by their text.
func canonical(text string) string {
	d := xml.NewDecoder(strings.NewReader(text))
	var element func(start xml.StartElement) string
	element = func(start xml.StartElement) string {
		var parts []string
		chars := ""
		for {
			token, err := d.Token()
			if err != nil {
				return "?"
			}
			switch token := token.(type) {
			case xml.StartElement:
				parts = append(parts, element(token))
			case xml.CharData:
				chars += string(token)
			case xml.EndElement:
				slices.Sort(parts)
				if len(parts) > 0 {
					chars = strings.TrimSpace(chars)
				}
				head := start.Name.Space + " " + start.Name.Local
				var attributes []string
				for _, a := range start.Attr {
					if a.Name.Local == "xmlns" { // the namespace is part of the elements' names
						continue
					}
					attributes = append(attributes, a.Name.Space+" "+a.Name.Local+"="+a.Value)
				}
				slices.Sort(attributes)
				return "<" + head + strings.Join(attributes, ";") + ">" + chars + strings.Join(parts, "") + "</>"
			}
		}
	}
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if start, ok := token.(xml.StartElement); ok {
			return element(start)
		}
	}
}

// The responses of botocore's protocol tests are decoded correctly.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range protocoltest.Outputs(t) {
		t.Run(c.File+"/"+c.ID, func(t *testing.T) {
			t.Parallel()
			if problem := receive(&c); problem != "" {
				t.Error(problem)
			}
		})
	}
}

func receive(c *protocoltest.Case) string {
	cl := caller(with(c.Response.Status, c.Response.Headers, c.Response.Body), c.Endpoint)
	cl.Protocol = c.Protocol
	a, err := cl.Call(context.Background(), &client.Request{Service: c.Service, Operation: c.Operation})
	if c.Failed {
		return refused(c, err)
	}
	if err != nil {
		return err.Error()
	}
	got := a.Output
	if a.Body != nil {
		b, err := io.ReadAll(a.Body)
		if err != nil {
			return err.Error()
		}
		if m := c.Operation.Output.Streamed(); len(b) > 0 {
			got = got.With(m.Name, model.OfBlob(b))
		}
	}
	if !same(got, c.Result) {
		return "got " + got.JSON() + ", want " + c.Result.JSON()
	}
	return ""
}

func refused(c *protocoltest.Case, err error) string {
	var e *client.Error
	if !errors.As(err, &e) {
		return "got " + err.Error() + ", want " + c.ErrorCode
	}
	if e.Code != c.ErrorCode {
		return "got the code " + e.Code + ", want " + c.ErrorCode
	}
	if c.ErrorMessage != "" && e.Message != c.ErrorMessage {
		return "got the message " + e.Message + ", want " + c.ErrorMessage
	}
	if !same(e.Document, c.Error) {
		return "got " + e.Document.JSON() + ", want " + c.Error.JSON()
	}
	return ""
}

// same compares the decoded value with the expected one: a missing value equals null, and numbers are equal by value.
func same(got, want jsonvalue.Value) bool {
	switch {
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
			if _, ok := want.Get(key); !ok && !got.At(i).IsNull() {
				return false
			}
		}
		return true
	case got.Kind() == jsonvalue.Array:
		return got.Len() == want.Len() && !slices.ContainsFunc(indexes(got.Len()), func(i int) bool {
			return !same(got.At(i), want.At(i))
		})
	case got.Kind() == jsonvalue.Number:
		return got.Float() == want.Float()
	}
	return jsonvalue.Equal(got, want)
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
