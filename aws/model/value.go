package model

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/aws/smithy-go"

	"stepback/asl/jsonvalue"
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

// writer writes documents. It keeps the first thing that is wrong.
type writer struct {
	out  smithy.ShapeSerializer
	path []step
	why  string
}

// step is one step of the path to a place in a document.
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

// wants reports whether a value is of a kind, and keeps that it is not.
func (w *writer) wants(v jsonvalue.Value, kind jsonvalue.Kind) bool {
	if v.Kind() == kind {
		return true
	}
	w.fail("expected " + article(kind) + ", got " + article(v.Kind()))
	return false
}

func article(k jsonvalue.Kind) string {
	switch k {
	case jsonvalue.Null:
		return "null"
	case jsonvalue.Array, jsonvalue.Object:
		return "an " + k.String()
	default:
		return "a " + k.String()
	}
}

func (w *writer) structure(shape *Shape, schema *smithy.Schema, v jsonvalue.Value) {
	if !w.wants(v, jsonvalue.Object) {
		return
	}
	w.out.WriteStruct(schema)
	for _, m := range shape.Members {
		e, ok := v.Get(m.Name)
		if !ok || e.IsNull() || m.Streaming && m.Shape.Type == Blob && shape.Payload == m {
			continue // a stream is handed over beside the document
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
		w.fail("expected a number, got " + article(v.Kind()))
	case shape.Type == Float:
		w.out.WriteFloat32(schema, float32(f))
	default:
		w.out.WriteFloat64(schema, f)
	}
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

// maxNesting is how deeply what is read may nest.
const maxNesting = 512

// reader reads documents.
type reader struct {
	in    smithy.ShapeDeserializer
	path  []step
	depth int
}

func (r *reader) failure(err error) error { return &ValueError{pathText(r.path), err.Error()} }

func (r *reader) value(shape *Shape, schema *smithy.Schema) (jsonvalue.Value, error) {
	if r.depth == maxNesting {
		return jsonvalue.Value{}, fmt.Errorf("it nests more than %d deep", maxNesting)
	}
	r.depth++
	defer func() { r.depth-- }()
	switch shape.Type {
	case Structure:
		return r.structure(shape, schema)
	case List:
		return r.list(shape, schema)
	case Map:
		return r.dictionary(schema, shape)
	default:
		return r.scalar(shape, schema)
	}
}

// structure reads the members in whatever order they come.
func (r *reader) structure(shape *Shape, schema *smithy.Schema) (jsonvalue.Value, error) {
	found := make([]jsonvalue.Value, 0, len(shape.listed))
	var few [8]string
	names := few[:0]
	put := func(name string, v jsonvalue.Value) {
		for i, n := range names {
			if n == name {
				found[i] = v
				return
			}
		}
		names, found = append(names, name), append(found, v)
	}
	err := smithy.ReadStruct(r.in, schema, func(ms *smithy.Schema) error {
		name := ms.MemberName()
		m := shape.Member(name)
		if m == nil {
			return fmt.Errorf("the schema has a member %s that the shape does not have", name)
		}
		r.path = append(r.path, step{name: name})
		v, there, err := r.member(shape, m, ms)
		if err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
		if there {
			put(name, v)
		}
		return nil
	})
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return ordered(shape, names, found), nil
}

// ordered makes an object whose members are in the order of Shape.Listed.
func ordered(shape *Shape, names []string, values []jsonvalue.Value) jsonvalue.Value {
	b := jsonvalue.NewObject(len(names))
	if len(names) == 1 {
		b.Set(names[0], values[0])
		return b.Value()
	}
	for _, m := range shape.listed {
		for i, name := range names {
			if name == m.Name {
				b.Set(name, values[i])
				break
			}
		}
	}
	return b.Value()
}

func (r *reader) member(of *Shape, m *Member, schema *smithy.Schema) (v jsonvalue.Value, there bool, err error) {
	if m.Streaming && m.Shape.Type == Blob { // handed over beside the document
		return v, false, nil
	}
	if m.Location == InBody && (of.Payload != m || m.Shape.compound()) { // else there is no null
		if null, err := r.in.ReadNil(schema); null || err != nil {
			return v, false, err
		}
	}
	v, err = r.value(m.Shape, schema)
	return v, err == nil, err
}

func (r *reader) list(shape *Shape, schema *smithy.Schema) (jsonvalue.Value, error) {
	elements := []jsonvalue.Value{}
	element := schema.ListMember()
	err := smithy.ReadList(r.in, schema, func() error {
		r.path = append(r.path, step{index: len(elements)})
		if null, err := r.in.ReadNil(element); null || err != nil {
			if err == nil && shape.Sparse {
				elements = append(elements, jsonvalue.Value{})
			}
			r.path = r.path[:len(r.path)-1]
			return err
		}
		v, err := r.value(shape.Element.Shape, element)
		if err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
		elements = append(elements, v)
		return nil
	})
	return jsonvalue.OfArray(elements), err
}

func (r *reader) dictionary(schema *smithy.Schema, shape *Shape) (jsonvalue.Value, error) {
	entries := map[string]jsonvalue.Value{}
	value := schema.MapValue()
	err := smithy.ReadMap(r.in, schema, func(key string) error {
		r.path = append(r.path, step{name: key})
		null, err := r.in.ReadNil(value)
		if err != nil {
			return err
		}
		var v jsonvalue.Value
		if !null {
			if v, err = r.value(shape.Element.Shape, value); err != nil {
				return err
			}
		}
		r.path = r.path[:len(r.path)-1]
		if !null || shape.Sparse {
			entries[key] = v
		}
		return nil
	})
	return sorted(entries), err
}

func (r *reader) scalar(shape *Shape, schema *smithy.Schema) (jsonvalue.Value, error) {
	switch shape.Type {
	case String:
		var s string
		err := r.in.ReadString(schema, &s)
		return jsonvalue.OfString(s), err
	case Boolean:
		var b bool
		err := r.in.ReadBool(schema, &b)
		return jsonvalue.OfBool(b), err
	case Integer:
		var i int32
		err := r.in.ReadInt32(schema, &i)
		return jsonvalue.OfInt(int64(i)), err
	case Long:
		var i int64
		err := r.in.ReadInt64(schema, &i)
		return jsonvalue.OfInt(i), err
	case Float:
		var f float32
		err := r.in.ReadFloat32(schema, &f)
		return ofFloat(float64(f), 32), err
	case Double:
		var f float64
		err := r.in.ReadFloat64(schema, &f)
		return ofFloat(f, 64), err
	default:
		return r.special(shape, schema)
	}
}

func (r *reader) special(shape *Shape, schema *smithy.Schema) (jsonvalue.Value, error) {
	switch shape.Type {
	case Timestamp:
		var t time.Time
		err := r.in.ReadTime(schema, &t)
		return OfTime(t), err
	case Blob:
		var b []byte
		err := r.in.ReadBlob(schema, &b)
		return OfBlob(b), err
	default:
		return r.document(schema)
	}
}
