package server

import "stepback/aws/model"

// plan is what reading or writing documents of a shape needs to know, compiled once.
type plan struct {
	shape *model.Shape
	// plain says that the document is the JSON of the protocol as it is: no member has another name there, none is a
	// time written otherwise than in seconds, none stands outside of the body.
	plain bool
	// payload is the member that is the whole body as bytes; nil when the body is something else.
	payload *model.Member
}

func planOf(s *model.Shape) *plan {
	if s == nil {
		return nil
	}
	p := &plan{shape: s, plain: plain(s, map[*model.Shape]bool{})}
	if m := s.Payload; m != nil && m.Shape.Type == model.Blob {
		p.payload = m
	}
	return p
}

func plain(s *model.Shape, seen map[*model.Shape]bool) bool {
	if seen[s] {
		return true
	}
	seen[s] = true
	switch s.Type {
	case model.Structure:
		for _, m := range s.Members {
			if m.LocationName != "" && m.LocationName != m.Name || m.Location != model.InBody || s.Payload == m ||
				!plain(m.Shape, seen) {
				return false
			}
		}
		return true
	case model.List, model.Map:
		return plain(s.Element.Shape, seen)
	case model.Timestamp:
		return s.TimestampFormat == "" || s.TimestampFormat == model.UnixTimestamp
	default:
		return true
	}
}
