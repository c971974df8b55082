package parquetrows

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// maxDepth is the deepest nesting of fields, about as deep as JSON texts may be nested elsewhere in Step Functions.
const maxDepth = 200

// shape is the JSON form that the content of a field takes.
type shape int

const (
	scalar  shape = iota // a value of a leaf column
	group                // an object with the children
	only                 // the value of the only child, for the wrappers of a list's elements
	mapping              // an object from the key and value groups of the only child
)

// field is a node of the schema.
type field struct {
	name     string
	shape    shape
	optional bool
	repeated bool
	def, rep int // definition and repetition level of a value in which the field is present
	children []*field
	leaf     int // the first leaf column below it
	leaves   int // number of leaf columns below it
	decode   decoder
}

var errSchema = errors.New("the footer is damaged: the schema is not a tree")

// newSchema builds the tree from the footer's list of elements, which is in depth-first order, and counts the leaf
// columns.
func newSchema(elements []format.SchemaElement) (root *field, leaves int, err error) {
	b := schemaBuilder{elements: elements}
	if len(elements) == 0 || elements[0].NumChildren.V <= 0 {
		return nil, 0, errors.New("the schema has no columns")
	}
	root, err = b.next(nil, 0)
	if err == nil && len(b.elements) > 0 {
		err = errSchema
	}
	return root, b.leaves, err
}

type schemaBuilder struct {
	elements []format.SchemaElement
	leaves   int
}

// next builds the field of the next element and everything below it.
func (b *schemaBuilder) next(parent *field, depth int) (*field, error) {
	if len(b.elements) == 0 {
		return nil, errSchema
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("its columns are nested more than %d deep", maxDepth)
	}
	e := &b.elements[0]
	b.elements = b.elements[1:]
	f := &field{name: e.Name, leaf: b.leaves}
	if parent != nil {
		f.def, f.rep = parent.def, parent.rep
		f.repetition(e)
	}
	if !e.NumChildren.Valid || e.NumChildren.V == 0 && e.Type.Valid {
		b.leaves++
		f.leaves = 1
		f.decode = newDecoder(e)
		return f, nil
	}
	f.shape = group
	for range e.NumChildren.V {
		child, err := b.next(f, depth+1)
		if err != nil {
			return nil, err
		}
		f.children = append(f.children, child)
	}
	f.leaves = b.leaves - f.leaf
	if f.leaves == 0 {
		return nil, fmt.Errorf("the column %q is a group without columns", f.name)
	}
	f.annotate(e)
	return f, nil
}

func (f *field) repetition(e *format.SchemaElement) {
	switch e.RepetitionType.V {
	case format.Optional:
		f.optional = true
		f.def++
	case format.Repeated:
		f.repeated = true
		f.def++
		f.rep++
	case format.Required:
	}
}

// annotate converts the groups that represent lists and maps. A list is a group around a repeated field. In files
// that follow the format this is a wrapper around the element, in older ones the element itself (Parquet's
// LogicalTypes.md, "Backward-compatibility rules").
func (f *field) annotate(e *format.SchemaElement) {
	if len(f.children) != 1 || !f.children[0].repeated {
		return
	}
	inner := f.children[0]
	switch {
	case isList(e):
		f.shape = only
		if len(inner.children) == 1 && inner.name != "array" && inner.name != f.name+"_tuple" {
			inner.shape = only
		}
	case isMap(e) && inner.shape == group && len(inner.children) <= 2:
		f.shape = mapping
	}
}

func isList(e *format.SchemaElement) bool {
	_, list := e.LogicalType.Value.(*format.ListType)
	return list || e.ConvertedType.Valid && e.ConvertedType.V == deprecated.List
}

func isMap(e *format.SchemaElement) bool {
	_, mapped := e.LogicalType.Value.(*format.MapType)
	return mapped || e.ConvertedType.Valid && (e.ConvertedType.V == deprecated.Map ||
		e.ConvertedType.V == deprecated.MapKeyValue)
}
