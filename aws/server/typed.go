package server

import (
	"context"
	"encoding/base64"
	"math"
	"reflect"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/jsonvalue"
)

// Handle returns an operation that calls a function over structures. In declares the members of the request that
// the function uses, in fields with the model's names or with JSON tags of these names. A request with any other member
// returns NotImplemented, unless Config.Accepted lists the member. Out is the answer's document, as encoding/json
// encodes it; use Time for times and []byte for bytes. An error that is an *aws.Error is returned to the client; others
// are converted by Config.Failure.
func Handle[In, Out any](f func(context.Context, aws.Scope, *In) (*Out, error)) Operation {
	fields := fieldsOf(reflect.TypeFor[In]())
	return Operation{
		Answer: *new(Out), Reads: *new(In),
		Call: func(ctx context.Context, r *Request) (*Answer, error) {
			in := new(In)
			if err := fields.fill(reflect.ValueOf(in).Elem(), r.Input); err != nil {
				return nil, err
			}
			out, err := f(ctx, r.Scope, in)
			if err != nil {
				return nil, err
			}
			return &Answer{Output: out}, nil
		},
	}
}

// Fill sets the fields of a structure to the members of a checked document, by their JSON tags, like Handle. The
// error is an *aws.Error.
func Fill(structure any, document jsonvalue.Value) error {
	v := reflect.ValueOf(structure).Elem()
	return fieldsOf(v.Type()).fill(v, document)
}

// fields maps the member names of a structure to their fields. Names are case-sensitive: a request's member in
// another spelling is unknown, and ignored.
type fields map[string]field

type field struct {
	index []int
	inner fields // fields of the structure, or of the list's elements; nil for scalars
}

func fieldsOf(t reflect.Type) fields {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == documentType {
		return nil
	}
	found := fields{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.IsExported() && !f.Anonymous {
			name = f.Name
		}
		if name != "" && name != "-" {
			found[name] = field{f.Index, fieldsOf(f.Type)}
		}
	}
	return found
}

// fill sets a structure's members to those of a checked document.
func (f fields) fill(structure reflect.Value, document jsonvalue.Value) error {
	for i, name := range document.Keys() {
		at, ok := f[name]
		value := document.At(i)
		if !ok || value.IsNull() {
			continue
		}
		if err := at.inner.set(structure.FieldByIndex(at.index), value); err != nil {
			return err
		}
	}
	return nil
}

// Real is a number that can be NaN or infinite in requests. Fields of other types reject such values like strings.
type Real float64

var realType = reflect.TypeFor[Real]()

var documentType = reflect.TypeFor[jsonvalue.Value]()

// set sets one member, or one element of a list.
func (f fields) set(to reflect.Value, value jsonvalue.Value) (err error) {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	if to.Type() == documentType {
		to.Set(reflect.ValueOf(value))
		return nil
	}
	ok := false
	switch value.Kind() {
	case jsonvalue.String:
		ok = setText(to, value.Text())
	case jsonvalue.Bool:
		if ok = to.Kind() == reflect.Bool; ok {
			to.SetBool(value.Bool())
		}
	case jsonvalue.Number:
		ok = setNumber(to, value)
	case jsonvalue.Object:
		if to.Kind() == reflect.Map {
			return f.setMap(to, value)
		}
		if ok = to.Kind() == reflect.Struct; ok {
			return f.fill(to, value)
		}
	case jsonvalue.Array:
		if ok = to.Kind() == reflect.Slice; ok {
			return f.setList(to, value.Elements())
		}
	default:
	}
	if !ok {
		return malformed(wrongType(value))
	}
	return nil
}

func setText(to reflect.Value, text string) bool {
	switch {
	case to.Kind() == reflect.String:
		to.SetString(text)
		return true
	case to.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Uint8:
		b, err := base64.StdEncoding.DecodeString(text)
		if err == nil {
			to.SetBytes(b)
		}
		return err == nil
	case to.Type() == realType:
		x, err := strconv.ParseFloat(text, 64) // the check lets only NaN, Infinity and -Infinity through
		to.SetFloat(x)
		return err == nil
	}
	return false
}

func setNumber(to reflect.Value, n jsonvalue.Value) bool {
	if to.CanInt() {
		i, ok := n.Int()
		if !ok || to.OverflowInt(i) {
			return false
		}
		to.SetInt(i)
		return true
	}
	if !to.CanFloat() || math.IsInf(n.Float(), 0) || to.OverflowFloat(n.Float()) {
		return false
	}
	to.SetFloat(n.Float())
	return true
}

func (f fields) setList(to reflect.Value, list []jsonvalue.Value) error {
	to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
	for i, e := range list {
		if e.IsNull() {
			continue
		}
		if err := f.set(to.Index(i), e); err != nil {
			return err
		}
	}
	return nil
}

func (f fields) setMap(to reflect.Value, o jsonvalue.Value) error {
	to.Set(reflect.MakeMapWithSize(to.Type(), o.Len()))
	for i, key := range o.Keys() {
		value := reflect.New(to.Type().Elem()).Elem()
		if err := f.set(value, o.At(i)); err != nil {
			return err
		}
		to.SetMapIndex(reflect.ValueOf(key).Convert(to.Type().Key()), value)
	}
	return nil
}
