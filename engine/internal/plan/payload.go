package plan

import (
	"fmt"

	"stepback/asl"
	"stepback/asl/expression"
	"stepback/asl/template"
	"stepback/jsonvalue"
)

// Payload is a field that builds data, compiled in the query language of its state: a payload template in JSONPath, a
// value with expressions in JSONata. Exactly one of Template and Expression is set.
type Payload struct {
	// Field is the field's name in errors, such as Output or ItemReader/Arguments.
	Field      string
	Template   *template.Template
	Expression *expression.Value
}

// dialect compiles fields in the query language of one state.
type dialect asl.QueryLanguage

// payload compiles a field; it returns nil for an absent one.
func (d dialect) payload(field string, v *jsonvalue.Value) (*Payload, error) {
	if v == nil {
		return nil, nil //nolint:nilnil // an absent field compiles to no payload
	}
	if d == dialect(asl.JSONata) {
		e, err := expression.Compile(field, *v)
		if err != nil {
			return nil, err
		}
		return &Payload{Field: field, Expression: e}, nil
	}
	t, err := template.Compile(*v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return &Payload{Field: field, Template: t}, nil
}

// value compiles a field that exists only in JSONata.
func (d dialect) value(field string, v *jsonvalue.Value) (*expression.Value, error) {
	if v == nil {
		return nil, nil //nolint:nilnil // an absent field compiles to no value
	}
	return expression.Compile(field, *v)
}
