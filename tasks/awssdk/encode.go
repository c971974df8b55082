package awssdk

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	smithydocument "github.com/aws/smithy-go/document"

	"stepback/asl/jsonvalue"
	"stepback/engine/interpreter"
)

// encoder makes the JSON tree of an operation's output.
type encoder struct {
	service *Service
	style   style
}

// errUnreadable says that a result has a part with no JSON form.
var errUnreadable = errors.New("the result has a part that cannot be written as JSON")

// object writes a struct: what is absent is left out.
func (e *encoder) object(v reflect.Value) (jsonvalue.Value, error) {
	t := v.Type()
	b := jsonvalue.NewObject(t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		if !isMember(&f) || e.absent(&f, v.Field(i)) {
			continue
		}
		m, err := e.value(v.Field(i))
		if err != nil {
			return jsonvalue.Value{}, fmt.Errorf("%s: %w", f.Name, err)
		}
		b.Set(e.style.name(f.Name), m)
	}
	return b.Value(), nil
}

// absent reports whether a member is not there. Numbers and booleans that the SDK does not keep by pointer always are.
func (e *encoder) absent(f *reflect.StructField, v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map:
		return v.IsNil() && !slices.Contains(e.service.present, f.Name)
	case reflect.Pointer, reflect.Slice, reflect.Interface:
		return v.IsNil()
	case reflect.String:
		return v.Len() == 0
	default:
		return false
	}
}

func (e *encoder) value(v reflect.Value) (jsonvalue.Value, error) {
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case time.Time:
			return e.style.time(x), nil
		case io.ReadCloser:
			return body(x)
		case smithydocument.Marshaler:
			return document(x)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return jsonvalue.Value{}, nil
		}
		return e.value(v.Elem())
	case reflect.Interface:
		return e.union(v)
	case reflect.Struct:
		return e.object(v)
	case reflect.Slice:
		return e.slice(v)
	case reflect.Map:
		return e.dictionary(v)
	default:
		return scalar(v)
	}
}

func scalar(v reflect.Value) (jsonvalue.Value, error) {
	switch v.Kind() {
	case reflect.String:
		return jsonvalue.OfString(v.String()), nil
	case reflect.Bool:
		return jsonvalue.OfBool(v.Bool()), nil
	case reflect.Int, reflect.Int32, reflect.Int64:
		return jsonvalue.OfInt(v.Int()), nil
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) { // no number of JSON
			return jsonvalue.OfString(nonFinite(f)), nil
		}
		return jsonvalue.OfNumberText(strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())), nil
	default:
		return jsonvalue.Value{}, errUnreadable
	}
}

// nonFinite names a number as the services do.
func nonFinite(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case f > 0:
		return "Infinity"
	default:
		return "-Infinity"
	}
}

func (e *encoder) slice(v reflect.Value) (jsonvalue.Value, error) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return e.blob(v.Bytes()), nil
	}
	elements := make([]jsonvalue.Value, v.Len())
	for i := range elements {
		var err error
		if elements[i], err = e.value(v.Index(i)); err != nil {
			return jsonvalue.Value{}, err
		}
	}
	return jsonvalue.OfArray(elements), nil
}

// dictionary writes a map in the order of its keys.
func (e *encoder) dictionary(v reflect.Value) (jsonvalue.Value, error) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return jsonvalue.CompareUTF16(a.String(), b.String()) })
	b := jsonvalue.NewObject(len(keys))
	for _, k := range keys {
		m, err := e.value(v.MapIndex(k))
		if err != nil {
			return jsonvalue.Value{}, err
		}
		b.Set(k.String(), m)
	}
	return b.Value(), nil
}

// union writes a member of a union as an object with that one member.
func (e *encoder) union(v reflect.Value) (jsonvalue.Value, error) {
	if v.IsNil() {
		return jsonvalue.Value{}, nil
	}
	m := reflect.Indirect(v.Elem())
	name := ""
	if m.Kind() == reflect.Struct {
		name = member(m.Type())
	}
	if name == "" { // a member that this SDK does not know
		return jsonvalue.Value{}, errUnreadable
	}
	inner, err := e.value(m.FieldByName("Value"))
	b := jsonvalue.NewObject(1)
	b.Set(e.style.name(name), inner)
	return b.Value(), err
}

// blob writes bytes: as text where they are text, otherwise, and for DynamoDB always, in Base64.
func (e *encoder) blob(b []byte) jsonvalue.Value {
	if e.service.Name == "dynamodb" || !utf8.Valid(b) {
		return jsonvalue.OfString(base64.StdEncoding.EncodeToString(b))
	}
	return jsonvalue.OfString(string(b))
}

// body reads a streamed member as text, a little further than a result may be long. Bytes that are no text become
// U+FFFD, as in Java.
func body(r io.ReadCloser) (jsonvalue.Value, error) {
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, interpreter.MaxPayload+1))
	if err != nil {
		return jsonvalue.Value{}, err
	}
	if !utf8.Valid(b) {
		return jsonvalue.OfString(string([]rune(string(b)))), nil
	}
	return jsonvalue.OfString(string(b)), nil
}
