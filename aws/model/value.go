package model

import (
	"github.com/aws/smithy-go"

	"stepback/jsonvalue"
)

// Value is a document of a shape together with the schema that says how it looks on the wire. It implements
// smithy.Serializable and smithy.Deserializable.
type Value struct {
	Shape  *Shape
	Schema *smithy.Schema
	// Value is the document, as the package comment describes it.
	Value jsonvalue.Value
	// Err is why the document could not be written, a *ValueError; Serialize cannot return it.
	Err error
}

// ValueError says that a document is not of its shape, or that what was read is not.
type ValueError struct {
	// Path leads to the place: Item.id.N, Entries[2].
	Path string
	// Why is what is wrong there.
	Why string
}

// Error implements error.
func (e *ValueError) Error() string {
	if e.Path == "" {
		return e.Why
	}
	return e.Path + ": " + e.Why
}

// Serialize implements smithy.Serializable. What the shape does not have is left out. Where the document is not of the
// shape, nothing is written, and Err says why.
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

// Deserialize implements smithy.Deserializable: it replaces the document with what it reads. Members are in the order
// of Shape.Listed. The error is a *ValueError.
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
