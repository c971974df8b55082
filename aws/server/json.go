package server

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// jsonCodec implements AWS JSON 1.0 and 1.1.
type jsonCodec struct{}

func (jsonCodec) contentType(s *Service) string { return s.mediaJSON }

func (j jsonCodec) operation(c *call) (string, error) {
	r, s := c.request, c.service
	media := r.Header.Get("Content-Type")
	if media != j.contentType(s) { // it has parameters, or other letters
		media, _, _ = mime.ParseMediaType(media)
	}
	target, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if r.Method != http.MethodPost || media != j.contentType(s) || target != s.model.TargetPrefix {
		return "", s.wrongProtocol(r)
	}
	return name, nil
}

func (jsonCodec) read(c *call, body []byte, to *Request) (err error) {
	if c.op.input == nil {
		to.Input, err = parseObject(body)
		return err
	}
	if to.Input, err = parseObject(body); err == nil && !c.op.input.plain {
		to.Input, err = fromJSON(c.op.input.shape, to.Input)
	}
	return err
}

// parseObject parses a body as a single JSON object. Of members with the same name, the last one counts.
func parseObject(body []byte) (jsonvalue.Value, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return jsonvalue.NewObject(0).Value(), nil
	}
	if !utf8.Valid(body) { // invalid UTF-8 would be read as something else
		return jsonvalue.Value{}, &unreadable{"it is not UTF-8"}
	}
	v, err := jsonvalue.Parse(string(body))
	if err != nil {
		return v, &unreadable{err.Error()}
	}
	if v.Kind() != jsonvalue.Object {
		return v, malformed(structureFound)
	}
	return v, nil
}

func (jsonCodec) write(c *call, a *Answer, to *reply) (err error) {
	if c.op.output == nil {
		if !c.service.cfg.Compress {
			to.body = []byte("{}")
		}
		return nil
	}
	if c.op.output.plain {
		to.body, err = a.text()
		return err
	}
	v, err := a.Document()
	if err == nil {
		to.body = toJSON(nil, c.op.output.shape, v, inAll)
	}
	return err
}

func (jsonCodec) fail(c *call, f *fault, to *reply) {
	queryError(c, f)
	to.body = errorJSON(f, f.typed(c.service.cfg.ErrorNamespace))
}

// queryError sends an error's Query code in a header, for clients of a service that once used the Query protocol.
func queryError(c *call, f *fault) {
	if c.service.model.QueryCompatible {
		c.writer.Header().Set("X-Amzn-Query-Error", f.query+";"+f.sender())
	}
}

// errorJSON returns the body of an error. kind is its __type; empty for a body without one.
func errorJSON(f *fault, kind string) []byte {
	b := jsonvalue.NewObject(1)
	if kind != "" {
		b.Set("__type", jsonvalue.OfString(kind))
	}
	document := f.document()
	if f.shape != nil {
		if wire, err := jsonvalue.Parse(string(toJSON(nil, withMessage(f.shape), document, inBody))); err == nil {
			document = wire
		}
	}
	for i, name := range document.Keys() {
		b.Set(name, document.At(i))
	}
	return b.Value().AppendJSON(nil)
}

// withMessage returns an error's shape, extended by the members that any error may have.
func withMessage(s *model.Shape) *model.Shape {
	text := &model.Shape{Type: model.String}
	made := &model.Shape{Name: s.Name, Type: s.Type, Members: s.Members[:len(s.Members):len(s.Members)]}
	for _, name := range []string{"message", "Message", "reason", "Reason"} {
		if s.Member(name) == nil {
			made.Members = append(made.Members, &model.Member{Name: name, Shape: text})
		}
	}
	return made
}

// fromJSON converts JSON to a document: members get the model's names, times become seconds. Values that do not match
// the shape are left unchanged, for the check to reject; members that the shape does not have are omitted.
func fromJSON(s *model.Shape, v jsonvalue.Value) (jsonvalue.Value, error) {
	if v.IsNull() {
		return v, nil
	}
	switch {
	case s.Type == model.Structure && v.Kind() == jsonvalue.Object:
		b := jsonvalue.NewObject(v.Len())
		for _, m := range s.Members {
			e, ok := v.Get(wireName(m))
			if !ok || e.IsNull() || m.Location != model.InBody {
				continue
			}
			made, err := fromJSON(m.Shape, e)
			if err != nil {
				return made, err
			}
			b.Set(m.Name, made)
		}
		return b.Value(), nil
	case s.Type == model.List && v.Kind() == jsonvalue.Array:
		elements := make([]jsonvalue.Value, 0, v.Len())
		for _, e := range v.Elements() {
			made, err := fromJSON(s.Element.Shape, e)
			if err != nil {
				return made, err
			}
			elements = append(elements, made)
		}
		return jsonvalue.OfArray(elements), nil
	case s.Type == model.Map && v.Kind() == jsonvalue.Object:
		b := jsonvalue.NewObject(v.Len())
		for i, key := range v.Keys() {
			if v.At(i).IsNull() && !s.Sparse {
				continue
			}
			made, err := fromJSON(s.Element.Shape, v.At(i))
			if err != nil {
				return made, err
			}
			b.Set(key, made)
		}
		return b.Value(), nil
	case s.Type == model.Timestamp && v.Kind() == jsonvalue.String:
		return timeFrom(v.Text(), s.TimestampFormat)
	}
	return v, nil
}

func wireName(m *model.Member) string {
	if m.LocationName != "" {
		return m.LocationName
	}
	return m.Name
}

// place selects which members of a structure are written.
type place bool

const (
	inBody place = false // only members in the body
	inAll  place = true  // all members: the protocol has only a body
)

// toJSON appends the JSON of a document. Members that the shape does not have are omitted.
func toJSON(dst []byte, s *model.Shape, v jsonvalue.Value, p place) []byte {
	switch {
	case v.IsNull():
		return append(dst, "null"...)
	case s.Type == model.Structure && v.Kind() == jsonvalue.Object:
		dst = append(dst, '{')
		first := true
		for _, m := range s.Members {
			e, ok := v.Get(m.Name)
			if !ok || e.IsNull() || p == inBody && outside(m) {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(jsonvalue.AppendQuoted(dst, wireName(m)), ':')
			dst = toJSON(dst, m.Shape, e, inAll)
		}
		return append(dst, '}')
	case s.Type == model.List && v.Kind() == jsonvalue.Array:
		dst = append(dst, '[')
		for i, e := range v.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = toJSON(dst, s.Element.Shape, e, inAll)
		}
		return append(dst, ']')
	case s.Type == model.Map && v.Kind() == jsonvalue.Object:
		dst = append(dst, '{')
		for i, key := range v.Keys() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsonvalue.AppendQuoted(dst, key), ':')
			dst = toJSON(dst, s.Element.Shape, v.At(i), inAll)
		}
		return append(dst, '}')
	case s.Type == model.Timestamp:
		if t, err := model.TimeOf(v); err == nil && s.TimestampFormat != "" &&
			s.TimestampFormat != model.UnixTimestamp {
			return jsonvalue.AppendQuoted(dst, timeText(t, s.TimestampFormat))
		}
	case (s.Type == model.Double || s.Type == model.Float) && v.Kind() == jsonvalue.Number:
		at := len(dst)
		if dst = v.AppendJSON(dst); !bytes.ContainsAny(dst[at:], ".eE") {
			dst = append(dst, ".0"...) // as AWS writes whole numbers of these types
		}
		return dst
	}
	return v.AppendJSON(dst)
}

// timeText formats a time.
func timeText(t time.Time, format model.TimestampFormat) string {
	switch format {
	case model.RFC822:
		return t.UTC().Format(http.TimeFormat)
	case model.UnixTimestamp:
		return model.OfTime(t).Text()
	default:
		return t.UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
	}
}

// timeFrom parses a time into a document; without a format, any is accepted.
func timeFrom(text string, format model.TimestampFormat) (jsonvalue.Value, error) {
	if format == model.UnixTimestamp || format == "" {
		if v, err := jsonvalue.Parse(text); err == nil && v.Kind() == jsonvalue.Number {
			if t, err := model.TimeOf(v); err == nil {
				return model.OfTime(t), nil
			}
		}
	}
	for _, layout := range []string{time.RFC3339Nano, http.TimeFormat, time.RFC1123Z,
		"Mon, 02 Jan 2006 15:04:05.999999999 MST", "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return model.OfTime(t), nil
		}
	}
	return jsonvalue.Value{}, malformed("STRING_VALUE can not be converted to a Timestamp")
}
