package model

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"stepback/internal/sorting"
	"stepback/jsonvalue"
)

// Operation is one operation of a service.
type Operation struct {
	// Name is the model's: PutItem.
	Name string
	// Method, Path and Status are those of HTTP: PUT, "/{Bucket}/{Key+}?tagging", 200. The names in braces are those of
	// members of the input; one with a plus may hold slashes. All but the REST protocols post to "/".
	Method, Path string
	Status       int
	// Input and Output are structures; nil for an operation that has none.
	Input, Output *Shape
	// Errors are the modelled errors, whose Error is never nil.
	Errors []*Shape
	// HostPrefix is put before the service's host, with the values of the input's HostLabels: "{AccountId}.".
	HostPrefix string
	// Unsigned says that requests have no signature; UnsignedBody that the signature leaves the body out.
	Unsigned, UnsignedBody bool
	// Checksum says how the body of a request is checked; nil for no checksum.
	Checksum *Checksum
	// Gzip says that clients may compress the body of a request.
	Gzip bool
	// Deprecated says that AWS advises against the operation.
	Deprecated bool

	input, output reference
}

// Checksum says how the body of a request is checked.
type Checksum struct {
	// Algorithm is the member of the input that names the algorithm; nil where only MD5 will do.
	Algorithm *Member
	// Required says that a request without any checksum is refused.
	Required bool
}

// reference is what an operation says of its input or output beyond the shape.
type reference struct {
	name      string
	namespace *namespace
}

// EventStream reports whether requests or answers are a stream of events.
func (o *Operation) EventStream() bool { return o.Input.events() || o.Output.events() }

func (s *Shape) events() bool {
	return s != nil && slices.ContainsFunc(s.Members, func(m *Member) bool { return m.Shape.EventStream })
}

// listed sorts members as results list them.
func listed(members []*Member) []*Member {
	all := slices.Clone(members)
	sorting.Stable(all, func(a, b *Member) int {
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

// operation reads the line of an operation. The caller holds the lock.
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

// end reads the input or output of an operation.
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
			return nil // it is about answers
		}
		return &Checksum{Algorithm: algorithm, Required: required}
	case required:
		return &Checksum{Required: true}
	}
	return nil
}

// labelled names the labels of a path as the members of the input are named.
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
