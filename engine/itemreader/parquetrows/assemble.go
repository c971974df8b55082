package parquetrows

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"

	"stepback/jsonvalue"
)

// assembler builds rows from the values of their leaf columns. The levels of a value say which of its ancestors are
// present (definition) and which repeated field it continues (repetition).
type assembler struct {
	schema  *field
	columns [][]parquet.Value // the rest of the row, by leaf column
}

var errLevels = errors.New("the file is damaged: the columns of a row do not match")

// object returns a row.
func (a *assembler) object(row parquet.Row) (jsonvalue.Value, error) {
	clear(a.columns)
	row.Range(func(column int, values []parquet.Value) bool {
		a.columns[column] = values
		return true
	})
	v, err := a.content(a.schema)
	if err != nil {
		return v, err
	}
	for _, left := range a.columns {
		if len(left) > 0 {
			return v, errLevels
		}
	}
	return v, nil
}

// value returns the value of a field, which may be absent or repeated.
func (a *assembler) value(f *field) (jsonvalue.Value, error) {
	if f.repeated {
		return a.array(f)
	}
	if f.optional {
		there, err := a.present(f)
		if err != nil || !there {
			return jsonvalue.Value{}, err
		}
	}
	return a.content(f)
}

// present reports whether an optional or repeated field is present, and skips it if it is absent.
func (a *assembler) present(f *field) (bool, error) {
	first := a.columns[f.leaf]
	if len(first) == 0 {
		return false, errLevels
	}
	if first[0].DefinitionLevel() >= f.def {
		return true, nil
	}
	for i := f.leaf; i < f.leaf+f.leaves; i++ {
		if len(a.columns[i]) == 0 {
			return false, errLevels
		}
		a.columns[i] = a.columns[i][1:]
	}
	return false, nil
}

// continues reports whether another element of a repeated field follows.
func (a *assembler) continues(f *field) bool {
	first := a.columns[f.leaf]
	return len(first) > 0 && first[0].RepetitionLevel() == f.rep
}

func (a *assembler) array(f *field) (jsonvalue.Value, error) {
	there, err := a.present(f)
	if err != nil || !there {
		return jsonvalue.OfArray(nil), err
	}
	var elements []jsonvalue.Value
	for {
		v, err := a.content(f)
		if err != nil {
			return v, err
		}
		elements = append(elements, v)
		if !a.continues(f) {
			return jsonvalue.OfArray(elements), nil
		}
	}
}

// content returns the value of a present field, or of one element of a repeated field.
func (a *assembler) content(f *field) (jsonvalue.Value, error) {
	switch f.shape {
	case group:
		return a.members(f)
	case only:
		return a.value(f.children[0])
	case mapping:
		return a.mapped(f.children[0])
	default:
		return a.scalar(f)
	}
}

func (a *assembler) scalar(f *field) (jsonvalue.Value, error) {
	values := a.columns[f.leaf]
	if len(values) == 0 {
		return jsonvalue.Value{}, errLevels
	}
	a.columns[f.leaf] = values[1:]
	if values[0].IsNull() {
		return jsonvalue.Value{}, nil
	}
	v, err := f.decode(values[0])
	if err != nil {
		return v, fmt.Errorf("column %q: %w", f.name, err)
	}
	return v, nil
}

func (a *assembler) members(f *field) (jsonvalue.Value, error) {
	b := jsonvalue.NewObject(len(f.children))
	for _, child := range f.children {
		v, err := a.value(child)
		if err != nil {
			return v, err
		}
		b.Set(child.name, v)
	}
	return b.Value(), nil
}

// mapped builds an object from the repeated pairs of a map. If the map has only keys (a set), the members are null.
func (a *assembler) mapped(pairs *field) (jsonvalue.Value, error) {
	b := jsonvalue.NewObject(0)
	there, err := a.present(pairs)
	if err != nil {
		return b.Value(), err
	}
	for ; there; there = a.continues(pairs) {
		key, err := a.value(pairs.children[0])
		if err != nil {
			return key, err
		}
		var v jsonvalue.Value
		if len(pairs.children) > 1 {
			if v, err = a.value(pairs.children[1]); err != nil {
				return v, err
			}
		}
		b.Set(keyText(key), v)
	}
	return b.Value(), nil
}

func keyText(key jsonvalue.Value) string {
	if key.Kind() == jsonvalue.String {
		return key.Text()
	}
	return key.JSON()
}
