package model

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"stepback/jsonvalue"
)

// Operation is one operation of a service.
type Operation struct {
	// Name is the name in the model: PutItem.
	Name string
	// Method, Path and Status are the HTTP method, path and status, such as PUT, "/{Bucket}/{Key+}?tagging" and
	// 200. The names in braces are members of the input; one with a plus may contain slashes. All protocols except
	// REST post to "/".
	Method, Path string
	Status       int
	// Input and Output are structures. Each is nil if the operation has none.
	Input, Output *Shape
	// Errors holds the shapes of the modelled errors. Their field Error is never nil.
	Errors []*Shape
	// HostPrefix is prepended to the service's host, for example "{AccountId}.". The labels in braces are replaced
	// by the input's HostLabel members.
	HostPrefix string
	// Unsigned is true if requests have no signature. UnsignedBody is true if the signature does not cover the
	// body.
	Unsigned, UnsignedBody bool
	// Checksum defines the checksum of the request body; nil for none.
	Checksum *Checksum
	// Gzip is true if clients may compress the request body.
	Gzip bool
	// Deprecated is true if AWS advises against the operation.
	Deprecated bool

	input, output reference
}

// Checksum defines the checksum of a request body.
type Checksum struct {
	// Algorithm is the member of the input that names the algorithm; nil if only MD5 is allowed.
	Algorithm *Member
	// Required is true if a request without any checksum is rejected.
	Required bool
}

// reference holds what an operation adds to the shape of its input or output.
type reference struct {
	name      string
	namespace *namespace
}

// EventStream reports whether requests or responses are an event stream.
func (o *Operation) EventStream() bool { return o.Input.events() || o.Output.events() }

func (s *Shape) events() bool {
	return s != nil && slices.ContainsFunc(s.Members, func(m *Member) bool { return m.Shape.EventStream })
}

// listed sorts members in the order of results.
func listed(members []*Member) []*Member {
	all := slices.Clone(members)
	slices.SortStableFunc(all, func(a, b *Member) int {
		if a.Required != b.Required {
			if a.Required {
				return -1
			}
			return 1
		}
		return cmp.Compare(strings.ToUpper(a.Name[:1])+a.Name[1:], strings.ToUpper(b.Name[:1])+b.Name[1:])
	})
	return all
}

// operation decodes the line of an operation. The caller holds the lock.
func (s *Service) operation(name, line string) (*Operation, error) {
	v, err := jsonvalue.Parse(line)
	if err != nil {
		return nil, err
	}
	h, _ := v.Get("http")
	o := &Operation{Name: name, Method: text(h, "method"), Path: text(h, "requestUri"), Status: http.StatusOK}
	if status, ok := h.Get("responseCode"); ok {
		n, _ := status.Int()
		o.Status = int(n)
	}
	if o.Input, o.input, err = s.end(v, "input"); err != nil {
		return nil, err
	}
	if o.Output, o.output, err = s.end(v, "output"); err != nil {
		return nil, err
	}
	o.Path = labelled(o.Path, o.Input)
	all, _ := v.Get("errors")
	for _, e := range all.Elements() {
		shape, err := s.shape(e.Text())
		if err != nil {
			return nil, err
		}
		if shape.Error == nil {
			return nil, fmt.Errorf("shape %s is no error", shape.Name)
		}
		o.Errors = append(o.Errors, shape)
	}
	o.HostPrefix = text(v, "hostPrefix")
	o.Unsigned = text(v, "authtype") == "none"
	o.UnsignedBody = text(v, "authtype") == "v4-unsigned-body" || flag(v, "unsignedPayload")
	o.Gzip, o.Deprecated = flag(v, "gzip"), flag(v, "deprecated")
	o.Checksum = checksumOf(o.Input, v)
	return o, nil
}

// end decodes the input or the output of an operation, as selected by key.
func (s *Service) end(v jsonvalue.Value, key string) (*Shape, reference, error) {
	ref, ok := v.Get(key)
	if !ok {
		return nil, reference{}, nil
	}
	shape, err := s.shape(text(ref, "shape"))
	return shape, reference{text(ref, "locationName"), namespaceOf(ref)}, err
}

func checksumOf(input *Shape, v jsonvalue.Value) *Checksum {
	required := flag(v, "httpChecksumRequired")
	c, ok := v.Get("httpChecksum")
	switch {
	case ok:
		var algorithm *Member
		if name := text(c, "requestAlgorithmMember"); name != "" && input != nil {
			algorithm = input.Member(name)
		}
		required = required || flag(c, "requestChecksumRequired")
		if algorithm == nil && !required {
			return nil // it concerns responses
		}
		return &Checksum{Algorithm: algorithm, Required: required}
	case required:
		return &Checksum{Required: true}
	}
	return nil
}

// labelled replaces the labels of a path by the names of the input's members.
func labelled(path string, input *Shape) string {
	if input == nil {
		return path
	}
	for _, m := range input.Members {
		if m.Location == InPath && m.LocationName != "" && m.LocationName != m.Name {
			path = strings.NewReplacer("{"+m.LocationName+"}", "{"+m.Name+"}",
				"{"+m.LocationName+"+}", "{"+m.Name+"+}").Replace(path)
		}
	}
	return path
}
