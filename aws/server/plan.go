package server

import "stepback/aws/model"

// plan holds what is needed to decode or encode documents of a shape, compiled once.
type plan struct {
	shape *model.Shape
	// plain is true if the document equals the protocol's JSON: no member has another name in the JSON, no time has
	// a format other than seconds, no member is outside the body, and no double needs a point.
	plain bool
	// payload is the member that forms the whole body as bytes; nil if the body is anything else.
	payload *model.Member
}

func planOf(s *model.Shape, doubles bool) *plan {
	if s == nil {
		return nil
	}
	p := &plan{shape: s, plain: plain(s, doubles, map[*model.Shape]bool{})}
	if m := s.Payload; m != nil && m.Shape.Type == model.Blob {
		p.payload = m
	}
	return p
}

func plain(s *model.Shape, doubles bool, seen map[*model.Shape]bool) bool {
	if seen[s] {
		return true
	}
	seen[s] = true
	switch s.Type {
	case model.Structure:
		for _, m := range s.Members {
			if m.LocationName != "" && m.LocationName != m.Name || m.Location != model.InBody || s.Payload == m ||
				!plain(m.Shape, doubles, seen) {
				return false
			}
		}
		return true
	case model.List, model.Map:
		return plain(s.Element.Shape, doubles, seen)
	case model.Timestamp:
		return s.TimestampFormat == "" || s.TimestampFormat == model.UnixTimestamp
	case model.Double, model.Float:
		return !doubles
	default:
		return true
	}
}
