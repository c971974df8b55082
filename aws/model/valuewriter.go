package model

import (
	"math"
	"strconv"

	"github.com/aws/smithy-go"

	"stepback/jsonvalue"
)

// writer writes documents. It keeps the first error.
type writer struct {
	out  smithy.ShapeSerializer
	path []step
	why  string
}

// step is one step of the path to a value in a document.
type step struct {
	name  string
	index int
}

func (w *writer) fail(why string) {
	if w.why == "" {
		w.why = why
		w.path = append([]step(nil), w.path...)
	}
}

func (w *writer) err() error {
	if w.why == "" {
		return nil
	}
	return &ValueError{pathText(w.path), w.why}
}

func pathText(path []step) string {
	text := ""
	for _, s := range path {
		switch {
		case s.name == "":
			text += "[" + strconv.Itoa(s.index) + "]"
		case text == "":
			text = s.name
		default:
			text += "." + s.name
		}
	}
	return text
}

func (w *writer) value(shape *Shape, schema *smithy.Schema, v jsonvalue.Value) {
	if w.why != "" {
		return
	}
	switch shape.Type {
	case Structure:
		w.structure(shape, schema, v)
	case List:
		w.list(shape, schema, v)
	case Map:
		w.dictionary(shape, schema, v)
	case Document:
		w.out.WriteDocument(schema, documentOf(v))
	default:
		w.scalar(shape, schema, v)
	}
}

// wants reports whether a value is of the given kind. If not, it records an error.
func (w *writer) wants(v jsonvalue.Value, kind jsonvalue.Kind) bool {
	if v.Kind() == kind {
		return true
	}
	w.fail("expected " + kind.WithArticle() + ", got " + v.Kind().WithArticle())
	return false
}

func (w *writer) structure(shape *Shape, schema *smithy.Schema, v jsonvalue.Value) {
	if !w.wants(v, jsonvalue.Object) {
		return
	}
	w.out.WriteStruct(schema)
	for _, m := range shape.Members {
		e, ok := v.Get(m.Name)
		if !ok || e.IsNull() || m.Streaming && m.Shape.Type == Blob && shape.Payload == m {
			continue // a stream is passed separately from the document
		}
		w.path = append(w.path, step{name: m.Name})
		w.value(m.Shape, schema.Member(m.Name), e)
		if w.why != "" {
			return
		}
		w.path = w.path[:len(w.path)-1]
	}
	w.out.CloseStruct()
}

func (w *writer) list(shape *Shape, schema *smithy.Schema, v jsonvalue.Value) {
	if !w.wants(v, jsonvalue.Array) {
		return
	}
	w.out.WriteList(schema)
	element := schema.ListMember()
	for i, e := range v.Elements() {
		w.path = append(w.path, step{index: i})
		w.part(shape, element, e)
		if w.why != "" {
			return
		}
		w.path = w.path[:len(w.path)-1]
	}
	w.out.CloseList()
}

// part writes an element of a list or a value of a map.
func (w *writer) part(of *Shape, schema *smithy.Schema, v jsonvalue.Value) {
	switch {
	case !v.IsNull() || of.Element.Shape.Type == Document:
		w.value(of.Element.Shape, schema, v)
	default:
		w.out.WriteNil(schema)
	}
}

func (w *writer) dictionary(shape *Shape, schema *smithy.Schema, v jsonvalue.Value) {
	if !w.wants(v, jsonvalue.Object) {
		return
	}
	w.out.WriteMap(schema)
	key, value := schema.MapKey(), schema.MapValue()
	for i, name := range v.Keys() {
		e := v.At(i)
		if e.IsNull() && !shape.Sparse {
			continue
		}
		w.path = append(w.path, step{name: name})
		w.out.WriteKey(key, name)
		w.part(shape, value, e)
		if w.why != "" {
			return
		}
		w.path = w.path[:len(w.path)-1]
	}
	w.out.CloseMap()
}

func (w *writer) scalar(shape *Shape, schema *smithy.Schema, v jsonvalue.Value) {
	switch shape.Type {
	case String:
		if w.wants(v, jsonvalue.String) {
			w.out.WriteString(schema, v.Text())
		}
	case Boolean:
		if w.wants(v, jsonvalue.Bool) {
			w.out.WriteBool(schema, v.Bool())
		}
	case Integer, Long:
		w.integer(shape, schema, v)
	case Float, Double:
		w.float(shape, schema, v)
	case Timestamp:
		t, err := TimeOf(v)
		if err != nil {
			w.fail(err.Error())
			return
		}
		w.out.WriteTime(schema, t)
	case Blob:
		b, err := BlobOf(v)
		if err != nil {
			w.fail(err.Error())
			return
		}
		w.out.WriteBlob(schema, b)
	default:
	}
}

func (w *writer) integer(shape *Shape, schema *smithy.Schema, v jsonvalue.Value) {
	if !w.wants(v, jsonvalue.Number) {
		return
	}
	i, ok := v.Int()
	switch {
	case !ok:
		w.fail("expected a whole number of 64 bits, got " + v.Text())
	case shape.Type == Long:
		w.out.WriteInt64(schema, i)
	case i < math.MinInt32 || i > math.MaxInt32:
		w.fail("expected a whole number of 32 bits, got " + v.Text())
	default:
		w.out.WriteInt32(schema, int32(i))
	}
}

func (w *writer) float(shape *Shape, schema *smithy.Schema, v jsonvalue.Value) {
	f, ok := floatOf(v)
	switch {
	case !ok:
		w.fail("expected a number, got " + v.Kind().WithArticle())
	case shape.Type == Float:
		w.out.WriteFloat32(schema, float32(f))
	default:
		w.out.WriteFloat64(schema, f)
	}
}
