package model

import "cmp"

// The following methods define the names of members in XML and Query. Servers use them, because they write
// responses themselves.

// Flat reports whether a list or map has no surrounding element in its structure.
func (m *Member) Flat() bool { return m.flattened || m.Shape.Flattened }

// Attribute reports whether the member is an attribute of its structure's XML element.
func (m *Member) Attribute() bool { return m.xmlAttribute }

// Namespace returns the XML namespace of the member's element, and its prefix. Both are often empty.
func (m *Member) Namespace() (prefix, uri string) {
	if n := m.xmlNamespace; n != nil {
		return n.prefix, n.uri
	}
	return m.Shape.Namespace()
}

// Namespace returns the XML namespace of the shape's element, and its prefix. Both are often empty.
func (s *Shape) Namespace() (prefix, uri string) {
	if n := s.xmlNamespace; n != nil {
		return n.prefix, n.uri
	}
	return "", ""
}

// ElementName returns the name of the XML element that the shape has if it forms a whole body.
func (s *Shape) ElementName() string { return cmp.Or(s.xmlName, s.Name) }

// OutputElement returns the name and the namespace of the XML element of the operation's response.
func (o *Operation) OutputElement() (name, uri string) {
	if o.Output == nil {
		return "", ""
	}
	_, uri = o.Output.Namespace()
	if n := o.output.namespace; n != nil {
		uri = n.uri
	}
	return cmp.Or(o.Output.xmlName, o.output.name, o.Output.Name), uri
}
