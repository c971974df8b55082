package httptask

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"stepback/jsonvalue"
)

// description is the request that the parameters describe.
type description struct {
	endpoint   *url.URL
	method     string
	connection string // an ARN
	header     http.Header
	query      url.Values
	body       jsonvalue.Value
	hasBody    bool
	encoding   string // NONE or URL_ENCODED
	arrays     string // the ArrayFormat of URL_ENCODED
}

var methods = []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}

// reader collects the reasons why parameters cannot be used.
type reader struct{ problems []string }

func (r *reader) invalid(field string) {
	r.problems = append(r.problems, "The value of the field '"+field+"' has an invalid format")
}

func (r *reader) missing(field string) {
	r.problems = append(r.problems, `The field "`+field+`" is required but was missing`)
}

// describe parses the parameters of an HTTP Task.
func describe(params jsonvalue.Value) (*description, []string) {
	r := &reader{}
	d := &description{header: http.Header{}, query: url.Values{}, encoding: encodeNone, arrays: arraysIndexed}
	for i, key := range params.Keys() {
		v := params.At(i)
		switch key {
		case "ApiEndpoint":
			d.endpoint = r.endpoint(v)
		case "Method":
			d.method = v.Text()
		case "Authentication", "InvocationConfig":
			arn, _ := v.Get("ConnectionArn")
			d.connection = arn.Text()
		case "Headers":
			r.pairs(key, v, d.header.Add)
		case "QueryParameters":
			r.pairs(key, v, d.query.Add)
		case "RequestBody":
			d.body, d.hasBody = v, !v.IsNull()
		case "Transform":
			r.transform(v, d)
		default:
			r.problems = append(r.problems, `The field "`+key+`" is not supported by Step Functions`)
		}
	}
	r.complete(params, d)
	return d, r.problems
}

// complete checks that all required parameters are present.
func (r *reader) complete(params jsonvalue.Value, d *description) {
	if _, ok := params.Get("ApiEndpoint"); !ok {
		r.missing("ApiEndpoint")
	}
	switch {
	case d.method == "":
		r.missing("Method")
	case !slices.Contains(methods, d.method):
		r.invalid("Method")
	}
	if d.connection == "" {
		r.missing("ConnectionArn")
	}
}

// endpoint parses an address. It must use https, except on this machine.
func (r *reader) endpoint(v jsonvalue.Value) *url.URL {
	u, err := url.Parse(v.Text())
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" &&
		(u.Scheme != "http" || !isLoopback(u.Hostname())) {
		r.invalid("ApiEndpoint")
		return nil
	}
	return u
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// pairs parses headers and query parameters, whose values are single values or arrays.
func (r *reader) pairs(field string, v jsonvalue.Value, add func(name, value string)) {
	if v.Kind() != jsonvalue.Object {
		r.invalid(field)
		return
	}
	for i, name := range v.Keys() {
		values := []jsonvalue.Value{v.At(i)}
		if values[0].Kind() == jsonvalue.Array {
			values = values[0].Elements()
		}
		for _, e := range values {
			text, ok := scalar(e)
			if !ok || field == "Headers" && strings.ContainsAny(name+text, "\r\n") {
				r.invalid(field)
				return
			}
			add(name, text)
		}
	}
}

func (r *reader) transform(v jsonvalue.Value, d *description) {
	if e, ok := v.Get("RequestBodyEncoding"); ok {
		d.encoding = e.Text()
	}
	if o, ok := v.Get("RequestEncodingOptions"); ok {
		if f, ok := o.Get("ArrayFormat"); ok {
			d.arrays = f.Text()
		}
	}
	if d.encoding != encodeNone && d.encoding != encodeURL {
		r.invalid("RequestBodyEncoding")
	}
	if !slices.Contains([]string{arraysIndexed, arraysRepeated, arraysCommas, arraysBrackets}, d.arrays) {
		r.invalid("ArrayFormat")
	}
}

// scalar returns the text of a value that is neither an array nor an object.
func scalar(v jsonvalue.Value) (string, bool) {
	switch v.Kind() {
	case jsonvalue.String, jsonvalue.Number:
		return v.Text(), true
	case jsonvalue.Bool, jsonvalue.Null:
		return v.JSON(), true
	default:
		return "", false
	}
}

// textOf returns a string's content, or the JSON text of any other value.
func textOf(v jsonvalue.Value) string {
	if v.Kind() == jsonvalue.String {
		return v.Text()
	}
	return v.JSON()
}
