package server

import (
	"bytes"
	"encoding/base64"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// restCodec implements REST with JSON or XML bodies.
type restCodec struct{ xml bool }

func (r restCodec) contentType(*Service) string {
	if r.xml {
		return mediaXML
	}
	return mediaREST
}

func (r restCodec) operation(c *call) (string, error) {
	name, labels, ok := c.service.router.find(c.request)
	if !ok {
		return "", &aws.Error{
			Code: "UnknownOperationException", Status: http.StatusNotFound,
			Message: c.request.Method + " " + c.request.URL.Path + " is no operation of " + c.service.model.ID + ".",
		}
	}
	c.labels = labels
	return name, nil
}

func (r restCodec) read(c *call, body []byte, to *Request) error {
	to.Input = jsonvalue.NewObject(0).Value()
	if c.op.input == nil {
		return nil
	}
	s := c.op.input.shape
	in, err := r.body(c.op.input, body, to)
	if err != nil {
		return err
	}
	b := jsonvalue.NewObject(len(s.Members))
	query := c.request.URL.Query()
	for _, m := range s.Members {
		v, err := r.located(c, m, query, in)
		if err != nil {
			return err
		}
		if !v.IsNull() {
			b.Set(m.Name, v)
		}
	}
	to.Input = b.Value()
	return nil
}

// located reads a member from its location: the path, the query or a header.
func (r restCodec) located(c *call, m *model.Member, query url.Values, in jsonvalue.Value) (jsonvalue.Value, error) {
	switch m.Location {
	case model.InPath:
		if text, ok := c.labels[m.Name]; ok {
			return fromText(m.Shape, text, "")
		}
	case model.InQuery:
		return fromQuery(m, query)
	case model.InHeader:
		return fromHeader(m, c.request.Header)
	case model.InHeaders:
		return fromHeaders(m, c.request.Header)
	default:
		v, _ := in.Get(m.Name)
		return v, nil
	}
	return jsonvalue.Value{}, nil
}

func fromQuery(m *model.Member, query url.Values) (jsonvalue.Value, error) {
	switch m.Shape.Type {
	case model.List:
		values, ok := query[wireName(m)]
		if !ok {
			return jsonvalue.Value{}, nil
		}
		return listFromTexts(m.Shape, values, "")
	case model.Map:
		b := jsonvalue.NewObject(0)
		// all query parameters, including those of other members, as in Smithy
		for _, name := range slices.Sorted(keysOf(query)) {
			v := jsonvalue.OfString(query.Get(name))
			if e := m.Shape.Element.Shape; e.Type == model.List {
				list, err := listFromTexts(e, query[name], "")
				if err != nil {
					return list, err
				}
				v = list
			}
			b.Set(name, v)
		}
		return b.Value(), nil
	default:
		if !query.Has(wireName(m)) {
			return jsonvalue.Value{}, nil
		}
		return fromText(m.Shape, query.Get(wireName(m)), "")
	}
}

func keysOf[T any](m map[string]T) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func listFromTexts(s *model.Shape, texts []string, format model.TimestampFormat) (jsonvalue.Value, error) {
	elements := make([]jsonvalue.Value, len(texts))
	for i, t := range texts {
		v, err := fromText(s.Element.Shape, t, format)
		if err != nil {
			return v, err
		}
		elements[i] = v
	}
	return jsonvalue.OfArray(elements), nil
}

func fromHeader(m *model.Member, h http.Header) (jsonvalue.Value, error) {
	values := h.Values(wireName(m))
	if len(values) == 0 {
		return jsonvalue.Value{}, nil
	}
	text := strings.Join(values, ",")
	switch {
	case m.JSONValue:
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return jsonvalue.Value{}, malformed("The header " + wireName(m) + " is not Base64")
		}
		return jsonvalue.OfString(string(b)), nil
	case m.Shape.Type == model.List:
		return listFromTexts(m.Shape, listInHeader(text, m.Shape.Element.Shape), model.RFC822)
	}
	return fromText(m.Shape, text, model.RFC822)
}

// listInHeader splits a list at its commas, except those in quotes and in dates.
func listInHeader(text string, element *model.Shape) []string {
	var list []string
	perElement := 1
	if element.Type == model.Timestamp && (element.TimestampFormat == "" || element.TimestampFormat == model.RFC822) {
		perElement = 2 // Mon, 02 Jan 2006 …
	}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if text[0] == '"' && element.Type == model.String {
			var b strings.Builder
			i := 1
			for ; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' && i+1 < len(text) {
					i++
				}
				b.WriteByte(text[i])
			}
			list = append(list, b.String())
			_, text, _ = strings.Cut(text[min(i+1, len(text)):], ",")
			continue
		}
		at := 0
		for range perElement {
			next := strings.IndexByte(text[at:], ',')
			if next < 0 {
				at = len(text) + 1
				break
			}
			at += next + 1
		}
		list = append(list, strings.TrimSpace(text[:at-1]))
		text = text[min(at, len(text)):]
	}
	return list
}

// fromHeaders reads the headers whose names begin with the member's prefix.
func fromHeaders(m *model.Member, h http.Header) (jsonvalue.Value, error) {
	b := jsonvalue.NewObject(0)
	for _, name := range slices.Sorted(keysOf(map[string][]string(h))) {
		if len(name) >= len(m.LocationName) && strings.EqualFold(name[:len(m.LocationName)], m.LocationName) {
			b.Set(strings.ToLower(name[len(m.LocationName):]), jsonvalue.OfString(strings.Join(h[name], ",")))
		}
	}
	v := b.Value()
	if v.Len() == 0 {
		return jsonvalue.Value{}, nil
	}
	return v, nil
}

// body decodes the members in the body.
func (r restCodec) body(p *plan, body []byte, to *Request) (jsonvalue.Value, error) {
	var in jsonvalue.Value
	m := p.shape.Payload
	switch {
	case p.payload != nil:
		to.Payload = body
		return in, nil
	case m != nil && m.Shape.Type == model.String:
		if len(body) == 0 {
			return in, nil
		}
		return in.With(m.Name, jsonvalue.OfString(string(body))), nil
	case len(bytes.TrimSpace(body)) == 0:
		return in, nil
	case m != nil:
		v, err := r.document(m.Shape, body)
		return in.With(m.Name, v), err
	default:
		return r.document(p.shape, body)
	}
}

func (r restCodec) document(s *model.Shape, body []byte) (jsonvalue.Value, error) {
	if r.xml {
		root, err := parseXML(body)
		if err != nil {
			return jsonvalue.Value{}, &aws.Error{Code: "MalformedXML",
				Message: "The XML you provided was not well-formed: " +
					err.Error()}
		}
		return fromXML(s, root)
	}
	if s.Type == model.Document {
		v, err := jsonvalue.Parse(string(body))
		if err != nil {
			return v, &unreadable{err.Error()}
		}
		return v, nil
	}
	v, err := parseObject(body)
	if err != nil {
		return v, &unreadable{err.Error()}
	}
	return fromJSON(s, v)
}

func (r restCodec) write(c *call, a *Answer, to *reply) error {
	if c.op.output == nil {
		return nil
	}
	v, err := a.Document()
	if err != nil {
		return err
	}
	h := c.writer.Header()
	bindHeaders(h, c.op.output.shape, v, to)
	if c.op.output.payload != nil {
		to.body = a.Payload
		if h.Get("Content-Type") == "" || !headerOf(c.op.output.shape, "Content-Type") {
			h.Set("Content-Type", mediaBytes)
		}
		return nil
	}
	to.body = r.encode(c, c.op.output.shape, v)
	return nil
}

// headerOf reports whether one of the members of a structure is a header.
func headerOf(s *model.Shape, name string) bool {
	return slices.ContainsFunc(s.Members, func(m *model.Member) bool {
		return m.Location == model.InHeader && strings.EqualFold(wireName(m), name)
	})
}

// encode encodes the members in the body.
func (r restCodec) encode(c *call, s *model.Shape, v jsonvalue.Value) []byte {
	m := s.Payload
	some := slices.ContainsFunc(s.Members, func(m *model.Member) bool { return !outside(m) })
	switch {
	case m != nil:
		e, ok := v.Get(m.Name)
		switch {
		case !ok || e.IsNull():
			return nil
		case m.Shape.Type == model.String:
			c.writer.Header().Set("Content-Type", "text/plain")
			return []byte(e.Text())
		case r.xml:
			var x xmlWriter
			name := m.LocationName
			if name == "" || name == m.Name && name[0] >= 'a' {
				name = m.Shape.ElementName()
			}
			x.value(name, m, e)
			return x.bytes()
		default:
			return toJSON(nil, m.Shape, e, inAll)
		}
	case !some:
		return nil
	case r.xml:
		name, uri := c.op.model.OutputElement()
		if uri == "" {
			uri = c.service.model.XMLNamespace
		}
		var x xmlWriter
		x.start(name, append([]attribute{{"xmlns", uri}}, attributesOf(s, v)...)...)
		x.members(s, v)
		x.end(name)
		return x.bytes()
	default:
		return toJSON(nil, s, v, inBody)
	}
}

// bindHeaders writes the members that are in headers or the status.
func bindHeaders(h http.Header, s *model.Shape, v jsonvalue.Value, to *reply) {
	for _, m := range s.Members {
		e, ok := v.Get(m.Name)
		if !ok || e.IsNull() {
			continue
		}
		switch m.Location {
		case model.InHeader:
			h.Set(wireName(m), headerText(m, e))
		case model.InHeaders:
			for i, key := range e.Keys() {
				h.Set(m.LocationName+key, e.At(i).Text())
			}
		case model.InStatus:
			if n, ok := e.Int(); ok && n >= 100 && n < 1000 {
				to.status = int(n)
			}
		default:
		}
	}
}

func headerText(m *model.Member, v jsonvalue.Value) string {
	switch {
	case m.JSONValue:
		return base64.StdEncoding.EncodeToString([]byte(v.Text()))
	case m.Shape.Type == model.List:
		parts := make([]string, v.Len())
		for i, e := range v.Elements() {
			parts[i] = toText(m.Shape.Element.Shape, e, model.RFC822)
			if m.Shape.Element.Shape.Type == model.String && strings.ContainsAny(parts[i], `",`) {
				parts[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(parts[i]) + `"`
			}
		}
		return strings.Join(parts, ", ")
	default:
		return toText(m.Shape, v, model.RFC822)
	}
}

func (r restCodec) fail(c *call, f *fault, to *reply) {
	h := c.writer.Header()
	if f.shape != nil {
		bindHeaders(h, f.shape, f.document(), &reply{})
	}
	if !r.xml {
		h.Set("X-Amzn-Errortype", f.code)
		to.body = errorJSON(f, "")
		return
	}
	if c.request.Method == http.MethodHead || f.status == http.StatusNotModified {
		return
	}
	var x xmlWriter
	bare := c.service.model.ID == "S3" // its errors have no surrounding element
	if !bare {
		x.start("ErrorResponse", attribute{"xmlns", c.service.model.XMLNamespace})
	}
	x.start("Error")
	if !bare {
		x.text("Type", f.sender())
	}
	x.fault(f)
	if bare {
		x.text("RequestId", c.id)
	}
	x.end("Error")
	if !bare {
		x.text("RequestId", c.id)
		x.end("ErrorResponse")
	}
	to.body = x.bytes()
}

// appendFloat appends a number as JSON does.
func appendFloat(dst []byte, f float64) []byte {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}
