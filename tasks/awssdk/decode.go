package awssdk

import (
	"encoding/base64"
	"io"
	"reflect"
	"strings"
	"time"

	"stepback/asl/jsonvalue"
)

// decoder fills the input of an operation from a task's parameters.
type decoder struct {
	service *Service
	// problems are the reasons why the parameters cannot be used.
	problems []string
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	readerType = reflect.TypeFor[io.Reader]()
)

func (d *decoder) problem(field, why string) {
	d.problems = append(d.problems, `The field "`+field+`" `+why)
}

func (d *decoder) mistyped(field, want string) {
	d.problems = append(d.problems, "The value for the field '"+field+"' must be "+want)
}

// object fills a struct. Null members are left out, as the SDK for Java does.
func (d *decoder) object(into reflect.Value, v jsonvalue.Value, field string) {
	if v.Kind() != jsonvalue.Object {
		d.mistyped(field, "an OBJECT")
		return
	}
	for i, key := range v.Keys() {
		at, ok := known.field(into.Type(), key)
		if !ok {
			d.problem(key, "is not supported by Step Functions")
			continue
		}
		d.value(into.Field(at), v.At(i), key)
	}
}

// value sets one member.
func (d *decoder) value(into reflect.Value, v jsonvalue.Value, field string) {
	if v.IsNull() {
		return
	}
	t := into.Type()
	switch t {
	case timeType:
		d.time(into, v, field)
		return
	case readerType: // the JSON text of any value: a string keeps its quotes
		into.Set(reflect.ValueOf(strings.NewReader(v.JSON())))
		return
	}
	if t.Kind() == reflect.Interface && t.Implements(documentType) {
		d.document(into, v, field)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		p := reflect.New(t.Elem())
		d.value(p.Elem(), v, field)
		into.Set(p)
	case reflect.Struct:
		d.object(into, v, field)
	case reflect.Slice:
		d.slice(into, v, field)
	case reflect.Map:
		d.dictionary(into, v, field)
	case reflect.Interface:
		d.union(into, v, field)
	default:
		d.scalar(into, v, field)
	}
}

func (d *decoder) slice(into reflect.Value, v jsonvalue.Value, field string) {
	if into.Type().Elem().Kind() == reflect.Uint8 {
		into.SetBytes(d.blob(v))
		return
	}
	if v.Kind() != jsonvalue.Array {
		d.mistyped(field, "a LIST")
		return
	}
	s := reflect.MakeSlice(into.Type(), v.Len(), v.Len())
	for i, e := range v.Elements() {
		d.value(s.Index(i), e, field)
	}
	into.Set(s)
}

func (d *decoder) dictionary(into reflect.Value, v jsonvalue.Value, field string) {
	if v.Kind() != jsonvalue.Object {
		d.mistyped(field, "a MAP")
		return
	}
	m := reflect.MakeMapWithSize(into.Type(), v.Len())
	for i, key := range v.Keys() {
		e := reflect.New(into.Type().Elem()).Elem()
		d.value(e, v.At(i), key)
		m.SetMapIndex(reflect.ValueOf(key).Convert(into.Type().Key()), e)
	}
	into.Set(m)
}

// union sets a member of union type: an object with the one member that is meant.
func (d *decoder) union(into reflect.Value, v jsonvalue.Value, field string) {
	keys := v.Keys()
	if len(keys) != 1 {
		d.problem(field, "must have exactly one member")
		return
	}
	t, ok := d.service.union(into.Type(), keys[0])
	if !ok {
		d.problem(keys[0], "is not supported by Step Functions")
		return
	}
	p := reflect.New(t)
	d.value(p.Elem().FieldByName("Value"), v.At(0), keys[0])
	into.Set(p)
}

func (d *decoder) scalar(into reflect.Value, v jsonvalue.Value, field string) {
	switch into.Kind() {
	case reflect.String:
		if k := v.Kind(); k == jsonvalue.Number || k == jsonvalue.Bool {
			d.mistyped(field, "a STRING")
			return
		}
		into.SetString(textOf(v))
	case reflect.Bool:
		if v.Kind() != jsonvalue.Bool {
			d.mistyped(field, "a BOOLEAN")
			return
		}
		into.SetBool(v.Bool())
	case reflect.Int32, reflect.Int64, reflect.Int:
		i, ok := v.Int()
		if !ok || into.OverflowInt(i) {
			d.mistyped(field, "an INTEGER")
			return
		}
		into.SetInt(i)
	case reflect.Float32, reflect.Float64:
		if v.Kind() != jsonvalue.Number {
			d.mistyped(field, "a NUMBER")
			return
		}
		into.SetFloat(v.Float())
	default:
		d.problem(field, "is not supported by Step Functions")
	}
}

// time reads a timestamp: an ISO 8601 text, or a number of seconds since 1970.
func (d *decoder) time(into reflect.Value, v jsonvalue.Value, field string) {
	if v.Kind() == jsonvalue.Number {
		const millis = 1000
		into.Set(reflect.ValueOf(time.UnixMilli(int64(v.Float() * millis)).UTC()))
		return
	}
	t, err := time.Parse(time.RFC3339Nano, v.Text())
	if err != nil {
		d.mistyped(field, "a TIMESTAMP")
		return
	}
	into.Set(reflect.ValueOf(t))
}

// blob reads bytes: text stands for its UTF-8 bytes, but DynamoDB's binaries are Base64, as its results are.
func (d *decoder) blob(v jsonvalue.Value) []byte {
	text := textOf(v)
	if d.service.Name == "dynamodb" {
		if b, err := base64.StdEncoding.DecodeString(text); err == nil {
			return b
		}
	}
	return []byte(text)
}

// textOf is a string's content; anything else is sent as its JSON text.
func textOf(v jsonvalue.Value) string {
	if v.Kind() == jsonvalue.String {
		return v.Text()
	}
	return v.JSON()
}
