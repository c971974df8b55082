package awsjson

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"unicode/utf8"

	"stepback/aws"
)

// Operation is one operation of a service.
type Operation struct {
	// Members describe the request.
	Members []Member
	// Answer is a zero value of the answer's type; it and Members are what can be compared with the service's model.
	Answer any

	call func(ctx context.Context, scope aws.Scope, request map[string]any) (any, error)
}

// Handle makes an operation of a function. Members describe its request, which is decoded into an In, a structure of
// the members that the function looks at, with their names in JSON tags; the result is encoded as JSON. An error that
// is an *aws.Error goes to the client, any other as an InternalFailure.
func Handle[In, Out any](members []Member, f func(context.Context, aws.Scope, *In) (*Out, error)) Operation {
	fields := fieldsOf(reflect.TypeFor[In]())
	return Operation{members, *new(Out), func(ctx context.Context, scope aws.Scope, request map[string]any) (any, error) {
		in := new(In)
		if err := fields.fill(reflect.ValueOf(in).Elem(), request); err != nil {
			return nil, err
		}
		return f(ctx, scope, in)
	}}
}

// maxBody is how large the body of a request may be: a member that may be as large as MaxBody has room for its escapes.
func (o *Operation) maxBody() int64 {
	const escaped = 4 * MaxBody
	for i := range o.Members {
		if m := &o.Members[i]; m.Kind == String && m.Max >= MaxBody {
			return escaped
		}
	}
	return MaxBody
}

// run checks a request and carries it out. A broken constraint has a code of the service.
func (o *Operation) run(ctx context.Context, scope aws.Scope, body []byte, invalid string) (any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	request, err := decode(body)
	if err != nil {
		return nil, err
	}
	if err := Check(o.Members, request); err != nil {
		if err.Code == codeInvalid {
			err.Code = invalid
		}
		return nil, err
	}
	return o.call(ctx, scope, request)
}

// decode reads the one JSON object that a request's body is. Of members of the same name the last one counts.
func decode(body []byte) (map[string]any, error) {
	if !utf8.Valid(body) { // what is not would be read as something else
		return nil, malformed("")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var request any
	err := d.Decode(&request)
	if err == nil {
		if _, e := d.Token(); !errors.Is(e, io.EOF) {
			err = errors.New("more than one value")
		}
	}
	if err != nil {
		return nil, malformed("")
	}
	o, ok := request.(map[string]any)
	if !ok {
		return nil, malformed("Start of structure or map found where not expected.")
	}
	return o, nil
}
