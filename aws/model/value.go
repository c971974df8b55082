package model

import (
	"github.com/aws/smithy-go"

	"stepback/jsonvalue"
)

// Value is a document of a shape together with the schema of its wire format. It implements smithy.Serializable and
// smithy.Deserializable.
type Value struct {
	Shape  *Shape
	Schema *smithy.Schema
	// Value is the document, as the package comment describes it.
	Value jsonvalue.Value
	// Err is the *ValueError for which the document could not be written. Serialize cannot return an error.
	Err error
}

// ValueError reports that a document, or decoded data, does not match its shape.
type ValueError struct {
	// Path is the path of the value: Item.id.N, Entries[2].
	Path string
	// Why describes the problem.
	Why string
}

// Error implements error.
func (e *ValueError) Error() string {
	if e.Path == "" {
		return e.Why
	}
	return e.Path + ": " + e.Why
}

// Serialize implements smithy.Serializable. Members that the shape does not have are omitted. If the document does
// not match the shape, nothing is written, and Err has the reason.
func (v *Value) Serialize(s smithy.ShapeSerializer) {
	if v.Shape == nil {
		return
	}
	if v.Value.IsNull() {
		v.Value = jsonvalue.NewObject(0).Value()
	}
	w := writer{out: s}
	w.value(v.Shape, v.Schema, v.Value)
	v.Err = w.err()
}

// Deserialize implements smithy.Deserializable. It replaces the document by the decoded one, with members in the
// order of Shape.Listed. The error is a *ValueError.
func (v *Value) Deserialize(d smithy.ShapeDeserializer) error {
	if v.Shape == nil {
		return nil
	}
	r := reader{in: d}
	read, err := r.value(v.Shape, v.Schema)
	if err != nil {
		return r.failure(err)
	}
	v.Value = read
	return nil
}
