package awssdk

import (
	"fmt"
	"reflect"

	smithydocument "github.com/aws/smithy-go/document"

	"stepback/asl/jsonvalue"
)

// documentType is what members of any JSON have in common in all services.
var documentType = reflect.TypeFor[smithydocument.Marshaler]()

// document sets a member that is any JSON.
func (d *decoder) document(into reflect.Value, v jsonvalue.Value, field string) {
	if d.service.document == nil {
		d.problem(field, "is not supported by Step Functions")
		return
	}
	into.Set(reflect.ValueOf(d.service.document(plain(v))))
}

// plain is a value as documents are made of: maps, slices, numbers of any precision.
func plain(v jsonvalue.Value) any {
	switch v.Kind() {
	case jsonvalue.Object:
		m := make(map[string]any, v.Len())
		for i, key := range v.Keys() {
			m[key] = plain(v.At(i))
		}
		return m
	case jsonvalue.Array:
		a := make([]any, v.Len())
		for i, e := range v.Elements() {
			a[i] = plain(e)
		}
		return a
	case jsonvalue.String:
		return v.Text()
	case jsonvalue.Number:
		return smithydocument.Number(v.Text())
	case jsonvalue.Bool:
		return v.Bool()
	default:
		return nil
	}
}

// document reads a member that is any JSON.
func document(m smithydocument.Marshaler) (jsonvalue.Value, error) {
	text, err := m.MarshalSmithyDocument()
	if err != nil {
		return jsonvalue.Value{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return jsonvalue.Parse(string(text))
}
