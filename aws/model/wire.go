package model

import "cmp"

// What follows says how servers, which write answers themselves, name things in XML and Query.

// Flat reports whether a list or map stands in a structure without an element of its own around it.
func (m *Member) Flat() bool { return m.flattened || m.Shape.Flattened }

// Attribute reports whether the member is an attribute of its structure's XML element.
func (m *Member) Attribute() bool { return m.xmlAttribute }

// Namespace is the XML namespace of the member's element, with the prefix it is bound to; both are often empty.
func (m *Member) Namespace() (prefix, uri string) {
	if n := m.xmlNamespace; n != nil {
		return n.prefix, n.uri
	}
	return m.Shape.Namespace()
}

// Namespace is the XML namespace of the shape's element, with the prefix it is bound to; both are often empty.
func (s *Shape) Namespace() (prefix, uri string) {
	if n := s.xmlNamespace; n != nil {
		return n.prefix, n.uri
	}
	return "", ""
}

// ElementName is the name of the XML element that a shape is when it is a whole body.
func (s *Shape) ElementName() string { return cmp.Or(s.xmlName, s.Name) }

// OutputElement is the name and the namespace of the XML element that the operation's answer is.
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
