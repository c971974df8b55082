package client

import (
	"strconv"
	"strings"

	"stepback/asl/jsonvalue"
	"stepback/aws/model"
)

// complete says which required member an output lacks; the error is a *model.ValueError. A stream is beside the output.
func complete(s *model.Shape, v jsonvalue.Value) error {
	path, name := lacking(s, v)
	if name == "" {
		return nil
	}
	return &model.ValueError{Path: path, Why: "the member " + name + " is missing"}
}

// lacking finds the first required member that is not there, and the path to where it should be; no name when all are.
func lacking(s *model.Shape, v jsonvalue.Value) (path, name string) {
	switch s.Type {
	case model.Structure:
		return lackingMember(s, v)
	case model.List:
		for i, e := range v.Elements() {
			if path, name := lackingPart(s, e); name != "" {
				return joined("["+strconv.Itoa(i)+"]", path), name
			}
		}
	case model.Map:
		for i, key := range v.Keys() {
			if path, name := lackingPart(s, v.At(i)); name != "" {
				return joined(key, path), name
			}
		}
	default:
	}
	return "", ""
}

func lackingPart(s *model.Shape, v jsonvalue.Value) (path, name string) {
	if v.IsNull() {
		return "", ""
	}
	return lacking(s.Element.Shape, v)
}

func lackingMember(s *model.Shape, v jsonvalue.Value) (path, name string) {
	for _, m := range s.Members {
		e, there := v.Get(m.Name)
		switch {
		case !there && m.Required && m != s.Streamed():
			return "", m.Name
		case !there || e.IsNull():
			continue
		}
		if path, name := lacking(m.Shape, e); name != "" {
			return joined(m.Name, path), name
		}
	}
	return "", ""
}

func joined(step, path string) string {
	if path == "" || strings.HasPrefix(path, "[") {
		return step + path
	}
	return step + "." + path
}
