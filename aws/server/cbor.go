package server

import (
	"encoding/base64"
	"math"
	"mime"
	"net/http"
	"strings"

	"github.com/aws/smithy-go/encoding/cbor"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// cborCodec implements Smithy RPC v2 over CBOR.
type cborCodec struct{}

func (cborCodec) contentType(*Service) string { return mediaCBOR }

func (cborCodec) operation(c *call) (string, error) {
	r := c.request
	c.writer.Header().Set("Smithy-Protocol", smithyCBOR)
	unknown := &aws.Error{Code: "UnknownOperationException", Status: http.StatusNotFound}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	const count = 4 // service/NAME/operation/NAME
	if n := len(parts); r.Method != http.MethodPost || r.Header.Get("Smithy-Protocol") != smithyCBOR || n < count ||
		parts[n-count] != "service" || parts[n-2] != "operation" {
		return "", unknown
	}
	name := parts[len(parts)-1]
	if !c.service.model.Has(name) {
		return "", c.service.unknown(name, codeUnknown, http.StatusNotFound)
	}
	if media := r.Header.Get("Content-Type"); media != "" && r.ContentLength != 0 {
		if media, _, err := mime.ParseMediaType(media); err != nil || media != mediaCBOR {
			return "", &aws.Error{Code: codeMalformed, Message: "The content type of a request is " + mediaCBOR + ".",
				Status: http.StatusUnsupportedMediaType}
		}
	}
	return name, nil
}

func (cborCodec) read(c *call, body []byte, to *Request) error {
	to.Input = jsonvalue.NewObject(0).Value()
	if len(body) == 0 || c.op.input == nil {
		return nil
	}
	v, err := cbor.Decode(body)
	if err != nil {
		return malformed("The body could not be read as CBOR: " + err.Error())
	}
	if _, ok := v.(cbor.Map); !ok {
		return malformed("The body is no map")
	}
	to.Input, err = fromCBOR(c.op.input.shape, v)
	return err
}

func (cborCodec) write(c *call, a *Answer, to *reply) error {
	v, err := a.Document()
	if err != nil {
		return err
	}
	if c.op.output == nil {
		return nil
	}
	to.body = cbor.Encode(toCBOR(c.op.output.shape, v))
	return nil
}

func (cborCodec) fail(c *call, f *fault, to *reply) {
	c.writer.Header().Set("Smithy-Protocol", smithyCBOR)
	queryError(c, f)
	said := cbor.Map{}
	if f.shape != nil {
		if m, ok := toCBOR(withMessage(f.shape), f.document()).(cbor.Map); ok {
			said = m
		}
	} else if f.error.Message != "" {
		said["message"] = cbor.String(f.error.Message)
	}
	said["__type"] = cbor.String(f.code)
	to.body = cbor.Encode(said)
}

// fromCBOR converts CBOR to a document. It does not report values that do not match the shape; the later check
// does.
func fromCBOR(s *model.Shape, v cbor.Value) (jsonvalue.Value, error) {
	switch x := v.(type) {
	case *cbor.Nil, *cbor.Undefined:
		return jsonvalue.Value{}, nil
	case cbor.Map:
		b := jsonvalue.NewObject(len(x))
		if s.Type == model.Structure {
			for _, m := range s.Members {
				if e, ok := x[m.Name]; ok {
					made, err := fromCBOR(m.Shape, e)
					if err != nil {
						return made, err
					}
					if !made.IsNull() {
						b.Set(m.Name, made)
					}
				}
			}
			return b.Value(), nil
		}
		if s.Type != model.Map {
			return b.Value(), nil
		}
		for key, e := range x {
			made, err := fromCBOR(s.Element.Shape, e)
			if err != nil {
				return made, err
			}
			if !made.IsNull() || s.Sparse {
				b.Set(key, made)
			}
		}
		return b.Value(), nil
	case cbor.List:
		element := s
		if s.Type == model.List {
			element = s.Element.Shape
		}
		elements := make([]jsonvalue.Value, len(x))
		for i, e := range x {
			made, err := fromCBOR(element, e)
			if err != nil {
				return made, err
			}
			elements[i] = made
		}
		return jsonvalue.OfArray(elements), nil
	default:
		return scalarFromCBOR(s, v)
	}
}

func scalarFromCBOR(s *model.Shape, v cbor.Value) (jsonvalue.Value, error) {
	switch x := v.(type) {
	case cbor.String:
		return jsonvalue.OfString(string(x)), nil
	case cbor.Slice:
		return jsonvalue.OfString(base64.StdEncoding.EncodeToString(x)), nil
	case cbor.Bool:
		return jsonvalue.OfBool(bool(x)), nil
	case *cbor.Tag:
		return fromCBOR(s, x.Value)
	}
	if i, err := cbor.AsInt64(v); err == nil {
		return jsonvalue.OfInt(i), nil
	}
	f, err := cbor.AsFloat64(v)
	switch {
	case err != nil:
		return jsonvalue.Value{}, malformed("A number is too large")
	case math.IsNaN(f):
		return jsonvalue.OfString("NaN"), nil
	case math.IsInf(f, 1):
		return jsonvalue.OfString("Infinity"), nil
	case math.IsInf(f, -1):
		return jsonvalue.OfString("-Infinity"), nil
	}
	return jsonvalue.Parse(trimmed(f))
}

// trimmed formats a number as JSON does.
func trimmed(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return jsonvalue.OfInt(int64(f)).Text()
	}
	return string(appendFloat(nil, f))
}

// toCBOR converts a document to CBOR.
func toCBOR(s *model.Shape, v jsonvalue.Value) cbor.Value {
	switch {
	case v.IsNull():
		return &cbor.Nil{}
	case s.Type == model.Structure && v.Kind() == jsonvalue.Object:
		m := cbor.Map{}
		for _, member := range s.Members {
			if e, ok := v.Get(member.Name); ok && !e.IsNull() {
				m[member.Name] = toCBOR(member.Shape, e)
			}
		}
		return m
	case s.Type == model.Map && v.Kind() == jsonvalue.Object:
		m := cbor.Map{}
		for i, key := range v.Keys() {
			m[key] = toCBOR(s.Element.Shape, v.At(i))
		}
		return m
	case s.Type == model.List && v.Kind() == jsonvalue.Array:
		list := make(cbor.List, v.Len())
		for i, e := range v.Elements() {
			list[i] = toCBOR(s.Element.Shape, e)
		}
		return list
	default:
		return scalarToCBOR(s, v)
	}
}

func scalarToCBOR(s *model.Shape, v jsonvalue.Value) cbor.Value {
	switch s.Type {
	case model.Boolean:
		return cbor.Bool(v.Bool())
	case model.Integer, model.Long:
		i, _ := v.Int()
		return integer(i)
	case model.Float:
		return cbor.Float32(floatOf(v))
	case model.Double:
		return cbor.Float64(floatOf(v))
	case model.Timestamp:
		const epochSeconds = 1
		return &cbor.Tag{ID: epochSeconds, Value: cbor.Float64(v.Float())}
	case model.Blob:
		b, err := model.BlobOf(v)
		if err != nil {
			return cbor.Slice(v.Text())
		}
		return cbor.Slice(b)
	default:
		return cbor.String(v.Text())
	}
}

func integer(i int64) cbor.Value {
	if i < 0 {
		return cbor.NegInt(uint64(-i))
	}
	return cbor.Uint(i)
}

func floatOf(v jsonvalue.Value) float64 {
	switch v.Text() {
	case "NaN":
		return math.NaN()
	case "Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	return v.Float()
}
