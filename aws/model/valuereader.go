package model

import (
	"fmt"
	"time"

	"github.com/aws/smithy-go"

	"stepback/jsonvalue"
)

// maxNesting limits the nesting of decoded data.
const maxNesting = 512

// reader decodes documents.
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

// structure decodes a structure, whose members may come in any order.
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

// ordered returns an object with its members in the order of Shape.Listed.
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
	if m.Streaming && m.Shape.Type == Blob { // passed separately from the document
		return v, false, nil
	}
	if m.Location == InBody && (of.Payload != m || m.Shape.compound()) { // otherwise null does not exist
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
