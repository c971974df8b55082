package model

import (
	"fmt"
	"strconv"

	"stepback/jsonvalue"
)

// Type says what values of a shape are.
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

// TimestampFormat is how a timestamp is written where the model says so; empty is the protocol's own.
type TimestampFormat string

// The formats, by the names of AWS's models.
const (
	ISO8601       TimestampFormat = "iso8601"
	RFC822        TimestampFormat = "rfc822"
	UnixTimestamp TimestampFormat = "unixTimestamp"
)

// Shape is what a value is like.
type Shape struct {
	// Name is the model's, such as AttributeValue.
	Name string
	Type Type

	// Members are those of a structure, in the model's order.
	Members []*Member
	// Union is a structure that has exactly one of its members.
	Union bool
	// Payload is the member of a structure that is the whole body of a request or answer; nil for none.
	Payload *Member

	// Element is the element of a list, or the value of a map.
	Element *Member
	// Key is the key of a map.
	Key *Member
	// Sparse is a list or map that may have nulls.
	Sparse bool
	// Flattened is a list or map without an element of its own around it, in XML and Query.
	Flattened bool

	// Enum are the values that a string may have; none means any.
	Enum []string
	// Min and Max bound a number, the length of a string (in characters), of a blob (in bytes), of a list and of a map;
	// nil for no bound.
	Min, Max *float64
	// Pattern is a regular expression, in Java's dialect, that a string matches; empty for any.
	Pattern string
	// TimestampFormat is how a timestamp is written, where it is not the protocol's own way.
	TimestampFormat TimestampFormat

	// Streaming is a blob that is read and written as a stream; RequiresLength one whose length is told beforehand.
	Streaming, RequiresLength bool
	// EventStream is a union whose values are sent one after the other.
	EventStream bool
	// Sensitive is a value that must not be logged.
	Sensitive bool

	// Error says how an error is told; nil for a shape that is none.
	Error *Error

	xmlName      string
	xmlNamespace *namespace
	byName       map[string]*Member
	listed       []*Member // as results list them
}

// Error says how a modelled error is told on the wire.
type Error struct {
	// Code is what Query and XML call it; the shape's name where the model says nothing else.
	Code string
	// Status is that of HTTP; 400, or 500 of a fault, where the model says nothing.
	Status int
	// Fault says that the service is to blame and not the caller.
	Fault bool
}

// Location is where a member of an input or output stands in HTTP.
type Location string

// The locations.
const (
	InBody      Location = ""
	InPath      Location = "uri"
	InQuery     Location = "querystring"
	InHeader    Location = "header"
	InHeaders   Location = "headers" // a map: a header for each key, whose name begins with LocationName
	InStatus    Location = "statusCode"
	locationKey          = "location"
)

// Member is a member of a structure, the element of a list, or the key or value of a map.
type Member struct {
	// Name is the model's: TableName. Elements are called member, keys key, values value.
	Name string
	// Shape is what the member's values are like.
	Shape *Shape
	// Required says that it must be there.
	Required bool
	// Location is where it stands in HTTP; LocationName its name there, or its name in JSON or XML; Name if empty.
	Location     Location
	LocationName string
	// QueryName is its name in EC2's Query, where it is another one.
	QueryName string
	// IdempotencyToken is filled in by clients when it is absent.
	IdempotencyToken bool
	// JSONValue is a string that holds JSON; a header has it in Base64.
	JSONValue bool
	// HostLabel is a part of the host's name, where the operation has a HostPrefix.
	HostLabel bool
	// Streaming is a blob that is read and written as a stream.
	Streaming bool

	flattened    bool
	xmlAttribute bool
	xmlNamespace *namespace
}

type namespace struct{ prefix, uri string }

// Member finds a member of a structure by its name; nil when there is none.
func (s *Shape) Member(name string) *Member { return s.byName[name] }

// Listed lists the members as results show them: those that are required first, each group in the order of its names.
func (s *Shape) Listed() []*Member { return s.listed }

// Streamed is the member that is a stream of bytes; nil when there is none.
func (s *Shape) Streamed() *Member {
	if s == nil || s.Payload == nil || !s.Payload.Streaming || s.Payload.Shape.Type != Blob {
		return nil
	}
	return s.Payload
}

// compound reports whether values of the shape may be null in a body of JSON.
func (s *Shape) compound() bool {
	return s.Type == Structure || s.Type == List || s.Type == Map || s.Type == Document
}

// shape finds a shape and all that it is made of. The caller holds the lock.
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

// fill reads a shape. Those that it is made of may be made of it.
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

// parts reads what a compound shape is made of.
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
	if m.Kind() == jsonvalue.String { // bounds of doubles are text in a few models
		parsed, err := strconv.ParseFloat(m.Text(), 64)
		if err != nil {
			return nil
		}
		f = parsed
	}
	return &f
}

// errorOf says how an error is told; nil for a shape that is none.
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
