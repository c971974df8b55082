package model

import "maps"

// QueryNames are the names that lists and maps have in Query, by their shapes, for a service whose model tells only of
// a newer protocol.
type QueryNames map[string]QueryName

// QueryName is the name of the elements of a list or a map. Key and Value are those within each of a map.
type QueryName struct{ Name, Key, Value string }

// AsQuery is the service as it speaks Query.
func (s *Service) AsQuery(namespace string, names QueryNames) *Service {
	return &Service{Name: s.Name, Class: s.Class, ID: s.ID, FullName: s.FullName, EndpointPrefix: s.EndpointPrefix,
		SigningName: s.SigningName, APIVersion: s.APIVersion, XMLNamespace: namespace,
		SignatureVersion: s.SignatureVersion,
		Protocols:        []Protocol{Query}, exceptions: maps.Clone(s.exceptions), operations: s.operations,
		lines:      s.lines,
		shapeLines: s.shapeLines, queryNames: names, ready: map[string]*Operation{}, shapes: map[string]*Shape{},
		bindings: map[Protocol]*Binding{}}
}

// nameQuery gives a shape that has been read its names in Query.
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
