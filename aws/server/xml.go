package server

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// attribute is an attribute of an element; it is not written if its value is empty.
type attribute struct{ name, value string }

// xmlWriter writes XML.
type xmlWriter struct {
	ec2 bool // lists are not flattened in EC2's format: <set><item>…
	b   bytes.Buffer
}

func (x *xmlWriter) bytes() []byte { return append([]byte(xml.Header), x.b.Bytes()...) }

func (x *xmlWriter) start(name string, attributes ...attribute) {
	x.b.WriteByte('<')
	x.b.WriteString(name)
	for _, a := range attributes {
		if a.value == "" {
			continue
		}
		x.b.WriteString(" " + a.name + `="`)
		escape(&x.b, a.value)
		x.b.WriteByte('"')
	}
	x.b.WriteByte('>')
}

func (x *xmlWriter) end(name string) {
	x.b.WriteString("</")
	x.b.WriteString(name)
	x.b.WriteByte('>')
}

// empty writes an element without content.
func (x *xmlWriter) empty(name string) { x.b.WriteString("<" + name + "/>") }

func (x *xmlWriter) text(name, text string) {
	x.start(name)
	escape(&x.b, text)
	x.end(name)
}

// escape writes text for an element or an attribute.
func escape(b *bytes.Buffer, text string) {
	_ = xml.EscapeText(b, []byte(text)) // writing to a buffer cannot fail
}

// namespaceAttribute returns the attribute that binds the namespace of a member's element.
func namespaceAttribute(prefix, uri string) attribute {
	if prefix != "" {
		return attribute{"xmlns:" + prefix, uri}
	}
	return attribute{"xmlns", uri}
}

// members writes the members of a structure that are elements.
func (x *xmlWriter) members(s *model.Shape, v jsonvalue.Value) {
	for _, m := range s.Members {
		e, ok := v.Get(m.Name)
		if !ok || e.IsNull() || outside(m) || m.Attribute() {
			continue
		}
		x.member(m, e)
	}
}

func (x *xmlWriter) member(m *model.Member, v jsonvalue.Value) {
	name := wireName(m)
	if m.Flat() && m.Shape.Type == model.List {
		name = flatName(m)
		for _, e := range v.Elements() {
			x.value(name, m.Shape.Element, e)
		}
		return
	}
	if m.Flat() && m.Shape.Type == model.Map {
		x.entries(name, m.Shape, v)
		return
	}
	x.value(name, m, v)
}

// attributesOf returns the members of a structure that are attributes of its element.
func attributesOf(s *model.Shape, v jsonvalue.Value) []attribute {
	var attributes []attribute
	for _, a := range s.Members {
		if e, ok := v.Get(a.Name); ok && a.Attribute() && !e.IsNull() {
			attributes = append(attributes, attribute{wireName(a), toText(a.Shape, e, model.ISO8601)})
		}
	}
	return attributes
}

// flatName returns the name of a list's elements if no element surrounds the list.
func flatName(m *model.Member) string {
	if n := m.Shape.Element.LocationName; n != "" && m.LocationName == "" && m.Shape.Flattened {
		return n
	}
	return wireName(m)
}

// outside reports whether a member of a response is outside of its body.
func outside(m *model.Member) bool {
	return m.Location == model.InHeader || m.Location == model.InHeaders || m.Location == model.InStatus
}

// value writes the element of a member, a list or a map.
func (x *xmlWriter) value(name string, m *model.Member, v jsonvalue.Value) {
	s := m.Shape
	attributes := []attribute{namespaceAttribute(m.Namespace())}
	switch s.Type {
	case model.Structure:
		x.start(name, append(attributes, attributesOf(s, v)...)...)
		x.members(s, v)
	case model.List:
		x.start(name, attributes...)
		element := "member"
		if n := s.Element.LocationName; n != "" {
			element = n
		}
		for _, e := range v.Elements() {
			x.value(element, s.Element, e)
		}
	case model.Map:
		x.start(name, attributes...)
		x.entries("entry", s, v)
	default:
		x.start(name, attributes...)
		escape(&x.b, toText(s, v, model.ISO8601))
	}
	x.end(name)
}

func (x *xmlWriter) entries(name string, s *model.Shape, v jsonvalue.Value) {
	key, value := "key", "value"
	if n := s.Key.LocationName; n != "" {
		key = n
	}
	if n := s.Element.LocationName; n != "" {
		value = n
	}
	for i, k := range v.Keys() {
		x.start(name)
		x.text(key, k)
		x.value(value, s.Element, v.At(i))
		x.end(name)
	}
}

// fault writes the contents of an error.
func (x *xmlWriter) fault(f *fault) {
	x.text("Code", f.query)
	x.text("Message", f.error.Message)
	if f.shape == nil {
		return
	}
	v := f.document()
	for _, m := range f.shape.Members {
		if e, ok := v.Get(m.Name); ok && !e.IsNull() && !outside(m) &&
			!strings.EqualFold(m.Name, "message") && m.Name != "Type" {
			x.member(m, e)
		}
	}
}

// node is a parsed element.
type node struct {
	name       string
	attributes []xml.Attr
	text       string
	children   []*node
}

// maxXMLDepth limits the nesting of elements.
const maxXMLDepth = 500

// parseXML parses a body as a single element.
func parseXML(body []byte) (*node, error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	for {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		if start, ok := token.(xml.StartElement); ok {
			root, err := element(d, start, 0)
			if err != nil {
				return nil, err
			}
			return root, rest(d)
		}
	}
}

// rest returns an error if anything follows the element.
func rest(d *xml.Decoder) error {
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, ok := token.(xml.StartElement); ok {
			return errors.New("more than one element")
		}
	}
}

func element(d *xml.Decoder, start xml.StartElement, depth int) (*node, error) {
	if depth == maxXMLDepth {
		return nil, errors.New("it nests too deeply")
	}
	n := &node{name: start.Name.Local, attributes: start.Attr}
	var text strings.Builder
	for {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			c, err := element(d, t, depth+1)
			if err != nil {
				return nil, err
			}
			n.children = append(n.children, c)
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			n.text = text.String()
			return n, nil
		}
	}
}

func (n *node) named(name string) []*node {
	var found []*node
	for _, c := range n.children {
		if c.name == name {
			found = append(found, c)
		}
	}
	return found
}

// fromXML converts an element to a document.
func fromXML(s *model.Shape, n *node) (jsonvalue.Value, error) {
	switch s.Type {
	case model.Structure:
		return structureFromXML(s, n)
	case model.List:
		name := "member"
		if l := s.Element.LocationName; l != "" {
			name = l
		}
		return listFromXML(s, n.named(name))
	case model.Map:
		return mapFromXML(s, n.named("entry"))
	default:
		return fromText(s, n.text, "")
	}
}

func structureFromXML(s *model.Shape, n *node) (jsonvalue.Value, error) {
	b := jsonvalue.NewObject(len(s.Members))
	for _, m := range s.Members {
		if m.Location != model.InBody {
			continue
		}
		v, there, err := memberFromXML(m, n)
		if err != nil {
			return v, err
		}
		if there {
			b.Set(m.Name, v)
		}
	}
	return b.Value(), nil
}

func memberFromXML(m *model.Member, n *node) (v jsonvalue.Value, there bool, err error) {
	name := wireName(m)
	if m.Attribute() {
		_, local, _ := strings.Cut(":"+name, ":")
		if i := strings.LastIndexByte(local, ':'); i >= 0 {
			local = local[i+1:]
		}
		for _, a := range n.attributes {
			if a.Name.Local == local {
				v, err = fromText(m.Shape, a.Value, "")
				return v, true, err
			}
		}
		return v, false, nil
	}
	if m.Flat() && m.Shape.Type == model.List {
		name = flatName(m)
	}
	found := n.named(name)
	switch {
	case len(found) == 0:
		return v, false, nil
	case m.Flat() && m.Shape.Type == model.List:
		v, err = listFromXML(m.Shape, found)
	case m.Flat() && m.Shape.Type == model.Map:
		v, err = mapFromXML(m.Shape, found)
	default:
		v, err = fromXML(m.Shape, found[len(found)-1])
	}
	return v, true, err
}

func listFromXML(s *model.Shape, found []*node) (jsonvalue.Value, error) {
	elements := make([]jsonvalue.Value, len(found))
	for i, e := range found {
		v, err := fromXML(s.Element.Shape, e)
		if err != nil {
			return v, err
		}
		elements[i] = v
	}
	return jsonvalue.OfArray(elements), nil
}

func mapFromXML(s *model.Shape, found []*node) (jsonvalue.Value, error) {
	key, value := "key", "value"
	if n := s.Key.LocationName; n != "" {
		key = n
	}
	if n := s.Element.LocationName; n != "" {
		value = n
	}
	b := jsonvalue.NewObject(len(found))
	for _, e := range found {
		keys, values := e.named(key), e.named(value)
		if len(keys) == 0 || len(values) == 0 {
			continue
		}
		v, err := fromXML(s.Element.Shape, values[0])
		if err != nil {
			return v, err
		}
		b.Set(keys[0].text, v)
	}
	return b.Value(), nil
}
