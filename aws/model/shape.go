package model

import (
	"fmt"
	"strconv"

	"stepback/jsonvalue"
)

// Type is the type of a shape's values.
type Type uint8

// The types. A union is a Structure with Shape.Union.
const (
	Structure Type = iota
	List
	Map
	String
	Integer // 32 bits
	Long    // 64 bits
	Float   // 32 bits
	Double  // 64 bits
	Boolean
	Timestamp
	Blob
	Document // any JSON
)

var types = map[string]Type{
	"structure": Structure, "list": List, "map": Map, "string": String, "character": String, "integer": Integer,
	"byte": Integer, "short": Integer, "long": Long, "float": Float, "double": Double, "boolean": Boolean,
	"timestamp": Timestamp, "blob": Blob,
}

// TimestampFormat is the format of a timestamp if the model defines one; empty means the protocol's default.
type TimestampFormat string

// The formats, with their names in AWS's models.
const (
	ISO8601       TimestampFormat = "iso8601"
	RFC822        TimestampFormat = "rfc822"
	UnixTimestamp TimestampFormat = "unixTimestamp"
)

// Shape defines the type of a value.
type Shape struct {
	// Name is the name in the model, such as AttributeValue.
	Name string
	Type Type

	// Members holds the members of a structure, in the model's order.
	Members []*Member
	// Union is true for a structure that has exactly one of its members.
	Union bool
	// Payload is the member of a structure that forms the whole body of a request or response; nil for none.
	Payload *Member

	// Element is the element of a list, or the value of a map.
	Element *Member
	// Key is the key of a map.
	Key *Member
	// Sparse is true for a list or map that may contain nulls.
	Sparse bool
	// Flattened is true for a list or map without a surrounding element in XML and Query.
	Flattened bool

	// Enum lists the values that a string may have; empty means any.
	Enum []string
	// Min and Max are the bounds of a number, or of the length of a string (in characters), a blob (in bytes), a list
	// or a map; nil for no bound.
	Min, Max *float64
	// Pattern is a regular expression, in Java's dialect, for a string; empty for any.
	Pattern string
	// TimestampFormat is the format of a timestamp if it is not the protocol's default.
	TimestampFormat TimestampFormat

	// Streaming is true for a blob that is read and written as a stream. RequiresLength is true if its length must
	// be known in advance.
	Streaming, RequiresLength bool
	// EventStream is true for a union whose values are sent one after the other.
	EventStream bool
	// Sensitive is true for a value that must not be logged.
	Sensitive bool

	// Error holds the error's properties; nil for a shape that is not an error.
	Error *Error

	xmlName      string
	xmlNamespace *namespace
	byName       map[string]*Member
	listed       []*Member // in the order of results
}

// Error defines how a modelled error is sent.
type Error struct {
	// Code is the error's code in Query and XML; the default is the shape's name.
	Code string
	// Status is the HTTP status code; by default 400, or 500 for a fault.
	Status int
	// Fault is true if the service is at fault and not the caller.
	Fault bool
}

// Location is the HTTP location of a member of an input or output.
type Location string

// The locations.
const (
	InBody      Location = ""
	InPath      Location = "uri"
	InQuery     Location = "querystring"
	InHeader    Location = "header"
	InHeaders   Location = "headers" // a map with a header for each key, whose name begins with LocationName
	InStatus    Location = "statusCode"
	locationKey          = "location"
)

// Member is a member of a structure, the element of a list, or the key or value of a map.
type Member struct {
	// Name is the name in the model: TableName. Elements are named member, keys key, and values value.
	Name string
	// Shape is the shape of the member's values.
	Shape *Shape
	// Required is true if the member must be present.
	Required bool
	// Location is the member's location in HTTP. LocationName is its name there, or its name in JSON or XML; empty
	// means Name.
	Location     Location
	LocationName string
	// QueryName is the name in EC2's Query, if it differs.
	QueryName string
	// IdempotencyToken is true for a member that clients fill in if it is absent.
	IdempotencyToken bool
	// JSONValue is true for a string that contains JSON. In a header it is encoded in Base64.
	JSONValue bool
	// HostLabel is true for a member that is part of the host name, if the operation has a HostPrefix.
	HostLabel bool
	// Streaming is true for a blob that is read and written as a stream.
	Streaming bool

	flattened    bool
	xmlAttribute bool
	xmlNamespace *namespace
}

type namespace struct{ prefix, uri string }

// Member finds a member of a structure by its name; nil if there is none.
func (s *Shape) Member(name string) *Member { return s.byName[name] }

// Listed lists the members in the order of results: required ones first, each group sorted by name.
func (s *Shape) Listed() []*Member { return s.listed }

// Streamed returns the member that is a stream of bytes; nil if there is none.
func (s *Shape) Streamed() *Member {
	if s == nil || s.Payload == nil || !s.Payload.Streaming || s.Payload.Shape.Type != Blob {
		return nil
	}
	return s.Payload
}

// compound reports whether values of the shape may be null in a JSON body.
func (s *Shape) compound() bool {
	return s.Type == Structure || s.Type == List || s.Type == Map || s.Type == Document
}

// shape finds a shape and all its parts. The caller holds the lock.
func (s *Service) shape(name string) (*Shape, error) {
	if made, ok := s.shapes[name]; ok {
		return made, nil
	}
	line, ok := s.shapeLines[name]
	if !ok {
		return nil, fmt.Errorf("it has no shape %q", name)
	}
	v, err := jsonvalue.Parse(line)
	if err != nil {
		return nil, fmt.Errorf("shape %s: %w", name, err)
	}
	made := &Shape{Name: name}
	s.shapes[name] = made
	if err := s.fill(made, v); err != nil {
		delete(s.shapes, name)
		return nil, err
	}
	s.nameQuery(made)
	return made, nil
}

// fill decodes v into the shape made. The parts of a shape may refer to the shape itself.
func (s *Service) fill(made *Shape, v jsonvalue.Value) error {
	kind, ok := types[text(v, "type")]
	if !ok {
		return fmt.Errorf("shape %s has the unknown type %q", made.Name, text(v, "type"))
	}
	made.Type = kind
	if flag(v, "document") {
		made.Type = Document
	}
	made.Union, made.Sparse, made.Flattened = flag(v, "union"), flag(v, "sparse"), flag(v, "flattened")
	made.Streaming, made.RequiresLength = flag(v, "streaming"), flag(v, "requiresLength")
	made.EventStream, made.Sensitive = flag(v, "eventstream"), flag(v, "sensitive")
	made.Pattern, made.TimestampFormat = text(v, "pattern"), TimestampFormat(text(v, "timestampFormat"))
	made.xmlName, made.xmlNamespace = text(v, "locationName"), namespaceOf(v)
	made.Min, made.Max = bound(v, "min"), bound(v, "max")
	enum, _ := v.Get("enum")
	for _, e := range enum.Elements() {
		made.Enum = append(made.Enum, e.Text())
	}
	made.Error = errorOf(made.Name, v)
	return s.parts(made, v)
}

// parts decodes the parts of a compound shape.
func (s *Service) parts(made *Shape, v jsonvalue.Value) (err error) {
	part := func(key, name string) *Member {
		ref, ok := v.Get(key)
		if err != nil || !ok {
			return nil
		}
		var m *Member
		m, err = s.member(name, ref)
		return m
	}
	switch made.Type {
	case List:
		made.Element = part("member", "member")
		if made.Element == nil && err == nil {
			err = fmt.Errorf("list %s has no element", made.Name)
		}
	case Map:
		made.Key, made.Element = part("key", "key"), part("value", "value")
		if (made.Key == nil || made.Element == nil) && err == nil {
			err = fmt.Errorf("map %s has no key or no value", made.Name)
		}
	case Structure:
		err = s.members(made, v)
	default:
	}
	return err
}

func (s *Service) members(made *Shape, v jsonvalue.Value) error {
	all, _ := v.Get("members")
	made.byName = make(map[string]*Member, all.Len())
	for i, name := range all.Keys() {
		m, err := s.member(name, all.At(i))
		if err != nil {
			return err
		}
		made.Members = append(made.Members, m)
		made.byName[name] = m
	}
	required, _ := v.Get("required")
	for _, r := range required.Elements() {
		if m := made.byName[r.Text()]; m != nil {
			m.Required = true
		}
	}
	made.Payload = made.byName[text(v, "payload")]
	made.listed = listed(made.Members)
	return nil
}

func (s *Service) member(name string, ref jsonvalue.Value) (*Member, error) {
	target, err := s.shape(text(ref, "shape"))
	if err != nil {
		return nil, err
	}
	return &Member{
		Name: name, Shape: target, Location: Location(text(ref, locationKey)), LocationName: text(ref, "locationName"),
		QueryName: text(ref, "queryName"), IdempotencyToken: flag(ref, "idempotencyToken"),
		JSONValue: flag(ref, "jsonvalue"), HostLabel: flag(ref, "hostLabel"),
		Streaming: flag(ref, "streaming") || target.Streaming, flattened: flag(ref, "flattened"),
		xmlAttribute: flag(ref, "xmlAttribute"), xmlNamespace: namespaceOf(ref),
	}, nil
}

func namespaceOf(v jsonvalue.Value) *namespace {
	n, ok := v.Get("xmlNamespace")
	switch {
	case !ok:
		return nil
	case n.Kind() == jsonvalue.String:
		return &namespace{uri: n.Text()}
	default:
		return &namespace{prefix: text(n, "prefix"), uri: text(n, "uri")}
	}
}

func bound(v jsonvalue.Value, member string) *float64 {
	m, ok := v.Get(member)
	if !ok {
		return nil
	}
	f := m.Float()
	if m.Kind() == jsonvalue.String { // bounds of doubles are strings in a few models
		parsed, err := strconv.ParseFloat(m.Text(), 64)
		if err != nil {
			return nil
		}
		f = parsed
	}
	return &f
}

// errorOf returns the properties of an error; nil for a shape that is not an error.
func errorOf(name string, v jsonvalue.Value) *Error {
	if !flag(v, "exception") && !flag(v, "fault") {
		if _, ok := v.Get("error"); !ok {
			return nil
		}
	}
	const badRequest, internal = 400, 500
	e := &Error{Code: name, Status: badRequest, Fault: flag(v, "fault")}
	if e.Fault {
		e.Status = internal
	}
	said, _ := v.Get("error")
	if code := text(said, "code"); code != "" {
		e.Code = code
	}
	if status, ok := said.Get("httpStatusCode"); ok {
		if n, ok := status.Int(); ok {
			e.Status = int(n)
		}
		e.Fault = e.Fault || e.Status >= internal
	}
	return e
}
