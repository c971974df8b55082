package template

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"stepback/asl/jsonvalue"
)

// Suffix marks the members whose values are expressions.
const Suffix = ".$"

// Compile reads a template. The error is a *CompileError.
func Compile(v jsonvalue.Value) (*Template, error) {
	t := &Template{}
	root, err := t.compile(v, "", 0)
	if err != nil {
		return nil, err
	}
	t.root = root
	return t, nil
}

func (t *Template) compile(v jsonvalue.Value, location string, depth int) (part, error) {
	if depth > jsonvalue.MaxDepth {
		return part{}, &CompileError{Location: location, Message: fmt.Sprintf("nesting is deeper than %d levels", jsonvalue.MaxDepth)}
	}
	switch v.Kind() {
	case jsonvalue.Object:
		return t.object(v, location, depth)
	case jsonvalue.Array:
		return t.array(v, location, depth)
	default:
		return part{literal: v}, nil
	}
}

func (t *Template) array(v jsonvalue.Value, location string, depth int) (part, error) {
	p := part{literal: v}
	for i, element := range v.Elements() {
		child, err := t.compile(element, location+"/"+strconv.Itoa(i), depth+1)
		if err != nil {
			return part{}, err
		}
		if !child.isLiteral() {
			p.holes = append(p.holes, hole{i, child})
		}
	}
	return p, nil
}

func (t *Template) object(v jsonvalue.Value, location string, depth int) (part, error) {
	var holes []hole
	b := jsonvalue.NewObject(v.Len())
	for i, key := range v.Keys() {
		at := location + "/" + escapePointer.Replace(key)
		name, isExpression := strings.CutSuffix(key, Suffix)
		if isExpression {
			if _, taken := v.Get(name); taken {
				return part{}, &CompileError{Field: key, Location: at,
					Message: fmt.Sprintf("The field '%s' is given twice: as '%s' and as '%s'", name, name, key)}
			}
		}
		child, err := t.member(key, v.At(i), at, depth, isExpression)
		if err != nil {
			return part{}, err
		}
		if !child.isLiteral() {
			holes = append(holes, hole{i, child})
		}
		b.Set(name, v.At(i))
	}
	if len(holes) == 0 {
		return part{literal: v}, nil
	}
	return part{literal: b.Value(), holes: holes}, nil
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

func (t *Template) member(key string, v jsonvalue.Value, location string, depth int, isExpression bool) (part, error) {
	if !isExpression {
		return t.compile(v, location, depth+1)
	}
	if v.Kind() != jsonvalue.String {
		return part{}, &CompileError{Field: key, Location: location, Message: notAnExpression(key)}
	}
	e, err := CompileExpression(key, v.Text())
	if err != nil {
		if located, ok := errors.AsType[*CompileError](err); ok {
			located.Location = location
		}
		return part{}, err
	}
	t.expressions = append(t.expressions, e)
	return part{expression: e}, nil
}
