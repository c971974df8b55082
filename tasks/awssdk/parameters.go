package awssdk

import (
	"encoding/base64"
	"math"
	"strconv"
	"time"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// parameters converts a task's parameters to the input of an operation.
type parameters struct {
	service *service
	stream  []byte // the streamed member; nil if there is none
	// problems lists the reasons why the parameters cannot be used.
	problems []string
}

func (p *parameters) problem(field, why string) {
	p.problems = append(p.problems, `The field "`+field+`" `+why)
}

func (p *parameters) mistyped(field, want string) jsonvalue.Value {
	p.problems = append(p.problems, "The value for the field '"+field+"' must be "+want)
	return jsonvalue.Value{}
}

// input returns the whole input. s is nil for operations without input.
func (p *parameters) input(s *model.Shape, v jsonvalue.Value) jsonvalue.Value {
	if s == nil {
		s = &model.Shape{}
	}
	return p.object(s, v, "Parameters")
}

// object converts a structure. Null members are omitted, as in the SDK for Java.
func (p *parameters) object(s *model.Shape, v jsonvalue.Value, field string) jsonvalue.Value {
	if v.Kind() != jsonvalue.Object {
		return p.mistyped(field, "an OBJECT")
	}
	if s.Union && v.Len() != 1 {
		p.problem(field, "must have exactly one member")
		return v
	}
	b := jsonvalue.NewObject(v.Len())
	for i, key := range v.Keys() {
		m := known.find(s, key)
		if m == nil {
			p.problem(key, "is not supported by Step Functions")
			continue
		}
		e := v.At(i)
		switch {
		case e.IsNull():
		case s.Payload == m && m.Streaming && m.Shape.Type == model.Blob:
			p.stream = []byte(e.JSON()) // any value is sent as JSON text: a string keeps its quotes
			b.Set(m.Name, model.OfBlob(p.stream))
		default:
			b.Set(m.Name, p.value(m.Shape, e, key))
		}
	}
	return b.Value()
}

// value converts a value that is not null.
func (p *parameters) value(s *model.Shape, v jsonvalue.Value, field string) jsonvalue.Value {
	switch s.Type {
	case model.Structure:
		return p.object(s, v, field)
	case model.List:
		return p.list(s, v, field)
	case model.Map:
		return p.dictionary(s, v, field)
	case model.Timestamp:
		return p.time(v, field)
	case model.Blob:
		return p.blob(v)
	case model.Document:
		return v
	default:
		return p.scalar(s, v, field)
	}
}

func (p *parameters) list(s *model.Shape, v jsonvalue.Value, field string) jsonvalue.Value {
	if v.Kind() != jsonvalue.Array {
		return p.mistyped(field, "a LIST")
	}
	elements := make([]jsonvalue.Value, v.Len())
	for i, e := range v.Elements() {
		if e.IsNull() && !s.Sparse {
			e = empty(s.Element.Shape)
		}
		if !e.IsNull() {
			elements[i] = p.value(s.Element.Shape, e, field)
		}
	}
	return jsonvalue.OfArray(elements)
}

// empty returns the value that replaces null in a list whose elements cannot be null.
func empty(s *model.Shape) jsonvalue.Value {
	switch s.Type {
	case model.String, model.Blob:
		return jsonvalue.OfString("")
	case model.Structure, model.Map:
		return jsonvalue.NewObject(0).Value()
	case model.List:
		return jsonvalue.OfArray(nil)
	case model.Boolean:
		return jsonvalue.OfBool(false)
	default:
		return jsonvalue.OfInt(0)
	}
}

func (p *parameters) dictionary(s *model.Shape, v jsonvalue.Value, field string) jsonvalue.Value {
	if v.Kind() != jsonvalue.Object {
		return p.mistyped(field, "a MAP")
	}
	b := jsonvalue.NewObject(v.Len())
	for i, key := range v.Keys() {
		e := v.At(i)
		if !e.IsNull() {
			e = p.value(s.Element.Shape, e, key)
		} else if !s.Sparse {
			continue
		}
		b.Set(key, e)
	}
	return b.Value()
}

func (p *parameters) scalar(s *model.Shape, v jsonvalue.Value, field string) jsonvalue.Value {
	switch s.Type {
	case model.String:
		if k := v.Kind(); k == jsonvalue.Number || k == jsonvalue.Bool {
			return p.mistyped(field, "a STRING")
		}
		return jsonvalue.OfString(textOf(v))
	case model.Boolean:
		if v.Kind() != jsonvalue.Bool {
			return p.mistyped(field, "a BOOLEAN")
		}
		return v
	case model.Integer, model.Long:
		i, ok := v.Int()
		if !ok || s.Type == model.Integer && (i < math.MinInt32 || i > math.MaxInt32) {
			return p.mistyped(field, "an INTEGER")
		}
		return jsonvalue.OfInt(i)
	default:
		if v.Kind() != jsonvalue.Number {
			return p.mistyped(field, "a NUMBER")
		}
		return v
	}
}

// time converts a timestamp: an ISO 8601 text, or a number of seconds since 1970.
func (p *parameters) time(v jsonvalue.Value, field string) jsonvalue.Value {
	if v.Kind() == jsonvalue.Number {
		if _, err := model.TimeOf(v); err != nil {
			return p.mistyped(field, "a TIMESTAMP")
		}
		return v
	}
	t, err := time.Parse(time.RFC3339Nano, v.Text())
	if err != nil {
		return p.mistyped(field, "a TIMESTAMP")
	}
	return model.OfTime(t)
}

// blob converts bytes. Text is sent as its UTF-8 bytes. For DynamoDB, bytes are in Base64, as in its results.
func (p *parameters) blob(v jsonvalue.Value) jsonvalue.Value {
	text := textOf(v)
	if p.service.base64 {
		if _, err := base64.StdEncoding.DecodeString(text); err == nil {
			return jsonvalue.OfString(text)
		}
	}
	return model.OfBlob([]byte(text))
}

// textOf returns a string's content, or the JSON text of any other value.
func textOf(v jsonvalue.Value) string {
	if v.Kind() == jsonvalue.String {
		return v.Text()
	}
	return v.JSON()
}

// absent returns the paths of the required members that an input lacks, such as MessageBody or
// entries.1.member.source.
func absent(s *model.Shape, v jsonvalue.Value, path string) []string {
	if s == nil {
		return nil
	}
	var lacking []string
	switch s.Type {
	case model.Structure:
		for _, m := range s.Members {
			e, there := v.Get(m.Name)
			switch {
			case !there && m.Required && !m.IdempotencyToken:
				lacking = append(lacking, path+pathName(path, m.Name))
			case there:
				lacking = append(lacking, absent(m.Shape, e, path+pathName(path, m.Name)+".")...)
			}
		}
	case model.List:
		for i, e := range v.Elements() {
			lacking = append(lacking, absent(s.Element.Shape, e, path+strconv.Itoa(i+1)+".member.")...)
		}
	case model.Map:
		for i, key := range v.Keys() {
			lacking = append(lacking, absent(s.Element.Shape, v.At(i), path+key+".member.")...)
		}
	default:
	}
	return lacking
}

// pathName returns a member's name in a path. At the top level, names are spelled as in parameters; below it, as in
// services' messages.
func pathName(path, name string) string {
	if path == "" {
		return upperFirst(name)
	}
	return lowerFirst(name)
}
