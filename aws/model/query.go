package model

import "maps"

// QueryNames holds the Query names of lists and maps, by shape, for a service whose model contains only a newer
// protocol.
type QueryNames map[string]QueryName

// QueryName is the element name of a list or a map. Key and Value are the names within each map entry.
type QueryName struct{ Name, Key, Value string }

// AsQuery returns the service with the Query protocol.
func (s *Service) AsQuery(namespace string, names QueryNames) *Service {
	return &Service{Name: s.Name, Class: s.Class, ID: s.ID, FullName: s.FullName, EndpointPrefix: s.EndpointPrefix,
		SigningName: s.SigningName, APIVersion: s.APIVersion, XMLNamespace: namespace,
		SignatureVersion: s.SignatureVersion,
		Protocols:        []Protocol{Query}, exceptions: maps.Clone(s.exceptions), operations: s.operations,
		lines:      s.lines,
		shapeLines: s.shapeLines, queryNames: names, ready: map[string]*Operation{}, shapes: map[string]*Shape{},
		bindings: map[Protocol]*Binding{}}
}

// nameQuery sets the Query names of a decoded shape.
func (s *Service) nameQuery(made *Shape) {
	n, ok := s.queryNames[made.Name]
	switch {
	case made.Type == Structure:
		for _, m := range made.Members {
			if n, ok := s.queryNames[m.Shape.Name]; ok && m.Shape.Type == Map {
				m.LocationName = n.Name
			}
		}
	case !ok:
	case made.Type == List:
		made.Element.LocationName = n.Name
	case made.Type == Map:
		made.Key.LocationName, made.Element.LocationName = n.Key, n.Value
	}
}
