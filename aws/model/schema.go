package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/traits"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"
	"github.com/aws/smithy-go/transport/http/protocol/awsquery"
	"github.com/aws/smithy-go/transport/http/protocol/ec2query"
	"github.com/aws/smithy-go/transport/http/protocol/restjson1"
	"github.com/aws/smithy-go/transport/http/protocol/restxml"
	"github.com/aws/smithy-go/transport/http/protocol/rpcv2"

	"stepback/jsonvalue"
)

// Binding holds the schemas of a service for one protocol. Each schema is built on first use.
type Binding struct {
	// Service is the service of the schemas.
	Service *Service
	// Protocol is the protocol of the schemas.
	Protocol Protocol

	client smithyhttp.ClientProtocol

	mu         sync.Mutex
	schemas    map[*Shape]*smithy.Schema
	operations map[*Operation]*schemas
}

// schemas holds the schemas of one operation.
type schemas struct{ plain, turned *smithy.OperationSchema }

// Bind returns the schemas of the service for a protocol, whether or not the service supports it.
func (s *Service) Bind(p Protocol) *Binding {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.bindings[p]
	if !ok {
		b = &Binding{
			Service: s, Protocol: p, schemas: map[*Shape]*smithy.Schema{}, operations: map[*Operation]*schemas{},
		}
		b.client = b.protocol()
		s.bindings[p] = b
	}
	return b
}

// Client returns smithy-go's protocol, which writes requests and reads responses. The caller handles the errors and
// streams that it reads. CBOR requires the name of the operation in the context: middleware.WithOperationName.
func (b *Binding) Client() smithyhttp.ClientProtocol { return b.client }

func (b *Binding) protocol() smithyhttp.ClientProtocol {
	s := b.Service
	var said []smithy.Trait
	if s.QueryCompatible {
		said = append(said, &traits.AWSQueryCompatible{})
	}
	service := smithy.NewServiceSchema(smithy.NewSchema(smithy.ShapeID{Name: s.TargetPrefix},
		smithy.ShapeTypeService, 0, said...), s.APIVersion)
	switch b.Protocol {
	case JSON:
		if s.JSONVersion == "1.1" {
			return awsjson.New11(service)
		}
		return awsjson.New10(service)
	case RESTJSON:
		return restjson1.New(service)
	case RESTXML:
		return restxml.New(service)
	case Query:
		return awsquery.New(service)
	case EC2:
		return ec2query.New(service)
	default:
		return rpcv2.NewCBOR(service)
	}
}

// Operation returns the schemas of an operation's input and output, for a client.
func (b *Binding) Operation(o *Operation) *smithy.OperationSchema { return b.of(o).plain }

// Turned returns the schemas of an operation with its input and output exchanged, for a server. The server reads a
// client's request as if it were a response, and writes its response as if it were a request.
func (b *Binding) Turned(o *Operation) *smithy.OperationSchema { return b.of(o).turned }

// Input returns a document of an operation's input, for encoding or decoding.
func (b *Binding) Input(o *Operation, v jsonvalue.Value) *Value {
	return &Value{Shape: o.Input, Schema: b.of(o).plain.Input, Value: v}
}

// Output returns a document of an operation's output, for encoding or decoding.
func (b *Binding) Output(o *Operation, v jsonvalue.Value) *Value {
	return &Value{Shape: o.Output, Schema: b.of(o).plain.Output, Value: v}
}

// Of returns a document of any shape of the service, such as an error.
func (b *Binding) Of(s *Shape, v jsonvalue.Value) *Value {
	return &Value{Shape: s, Schema: b.Schema(s), Value: v}
}

// Schema returns the schema of a shape, such as an error.
func (b *Binding) Schema(s *Shape) *smithy.Schema {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.schema(s)
}

func (b *Binding) of(o *Operation) *schemas {
	b.mu.Lock()
	defer b.mu.Unlock()
	made, ok := b.operations[o]
	if ok {
		return made
	}
	http := &traits.HTTP{Method: o.Method, URI: o.Path, Code: o.Status}
	id := smithy.ShapeID{Namespace: b.Service.Name, Name: o.Name}
	operation := smithy.NewSchema(id, smithy.ShapeTypeOperation, 0, http)
	input, output := b.end(o.Input, o.input), b.end(o.Output, o.output)
	made = &schemas{
		smithy.NewOperationSchema(operation, input, output), smithy.NewOperationSchema(operation, output, input),
	}
	b.operations[o] = made
	return made
}

// end returns the schema of an input or output. The operation may give it a different name.
func (b *Binding) end(s *Shape, r reference) *smithy.Schema {
	if s == nil {
		return nil
	}
	if r.name == "" && r.namespace == nil && s.xmlName == "" {
		return b.schema(s)
	}
	said := b.shapeTraits(s)
	if r.namespace != nil {
		said = append(said, &traits.XMLNamespace{URI: r.namespace.uri, Prefix: r.namespace.prefix})
	}
	root := smithy.NewSchema(smithy.ShapeID{Namespace: b.Service.Name, Name: cmp.Or(s.xmlName, r.name, s.Name)},
		smithy.ShapeTypeStructure, len(s.Members), said...)
	b.members(root, s)
	return root
}

var smithyTypes = map[Type]smithy.ShapeType{
	Structure: smithy.ShapeTypeStructure, List: smithy.ShapeTypeList, Map: smithy.ShapeTypeMap,
	String: smithy.ShapeTypeString, Integer: smithy.ShapeTypeInteger, Long: smithy.ShapeTypeLong,
	Float: smithy.ShapeTypeFloat, Double: smithy.ShapeTypeDouble, Boolean: smithy.ShapeTypeBoolean,
	Timestamp: smithy.ShapeTypeTimestamp, Blob: smithy.ShapeTypeBlob, Document: smithy.ShapeTypeDocument,
}

var timestampFormats = map[TimestampFormat]string{
	ISO8601: "date-time", RFC822: "http-date", UnixTimestamp: "epoch-seconds",
}

// schema returns the schema of a shape and of all its parts. The caller holds the lock.
func (b *Binding) schema(s *Shape) *smithy.Schema {
	if made, ok := b.schemas[s]; ok {
		return made
	}
	kind := smithyTypes[s.Type]
	if s.EventStream || s.Union {
		kind = smithy.ShapeTypeUnion
	}
	made := smithy.NewSchema(smithy.ShapeID{Namespace: b.Service.Name, Name: s.Name}, kind, len(s.Members),
		b.shapeTraits(s)...)
	b.schemas[s] = made // before its parts, which may refer to it
	switch s.Type {
	case Structure:
		b.members(made, s)
	case List:
		made.AddMember("member", b.schema(s.Element.Shape), b.memberTraits(nil, s.Element)...)
	case Map:
		made.AddMember("key", b.schema(s.Key.Shape), b.memberTraits(nil, s.Key)...)
		made.AddMember("value", b.schema(s.Element.Shape), b.memberTraits(nil, s.Element)...)
	default:
	}
	return made
}

func (b *Binding) members(made *smithy.Schema, s *Shape) {
	for _, m := range s.Members {
		made.AddMember(m.Name, b.schema(m.Shape), b.memberTraits(s, m)...)
	}
}

// shapeTraits returns the traits that a shape gives to all members of its type.
func (b *Binding) shapeTraits(s *Shape) []smithy.Trait {
	var said []smithy.Trait
	if f, ok := timestampFormats[s.TimestampFormat]; ok {
		said = append(said, &traits.TimestampFormat{Format: f})
	}
	if s.Flattened {
		said = append(said, &traits.XMLFlattened{})
	}
	if s.EventStream {
		said = append(said, &traits.Streaming{})
	}
	if s.xmlName != "" {
		said = append(said, &traits.XMLName{Name: s.xmlName})
	}
	if s.xmlNamespace != nil {
		said = append(said, &traits.XMLNamespace{URI: s.xmlNamespace.uri, Prefix: s.xmlNamespace.prefix})
	}
	if s.Error != nil {
		said = append(said, &traits.HTTPError{Code: s.Error.Status},
			&traits.AWSQueryError{ErrorCode: s.Error.Code, StatusCode: s.Error.Status})
	}
	return said
}

// memberTraits returns the traits of a member of a structure, or of a part of a list or map. For a list or map, of
// is nil.
func (b *Binding) memberTraits(of *Shape, m *Member) []smithy.Trait {
	said := b.place(m)
	if of != nil && of.Payload == m {
		said = append(b.payload(m), &traits.HTTPPayload{})
	}
	if m.Streaming {
		said = append(said, &traits.Streaming{})
	}
	if m.flattened {
		said = append(said, &traits.XMLFlattened{})
	}
	if m.xmlAttribute {
		said = append(said, &traits.XMLAttribute{})
	}
	if m.xmlNamespace != nil {
		said = append(said, &traits.XMLNamespace{URI: m.xmlNamespace.uri, Prefix: m.xmlNamespace.prefix})
	}
	if m.JSONValue {
		said = append(said, &traits.MediaType{Type: "application/json"})
	}
	if m.QueryName != "" {
		said = append(said, &traits.EC2QueryName{Name: m.QueryName})
	}
	return said
}

// place returns the traits for a member's location in HTTP, or its name in a body.
func (b *Binding) place(m *Member) []smithy.Trait {
	name := cmp.Or(m.LocationName, m.Name)
	switch m.Location {
	case InPath:
		return []smithy.Trait{&traits.HTTPLabel{}}
	case InQuery:
		if m.Shape.Type == Map {
			return []smithy.Trait{&traits.HTTPQueryParams{}}
		}
		return []smithy.Trait{&traits.HTTPQuery{Name: name}}
	case InHeader:
		return []smithy.Trait{&traits.HTTPHeader{Name: name}}
	case InHeaders:
		return []smithy.Trait{&traits.HTTPPrefixHeaders{Prefix: m.LocationName}}
	case InStatus:
		return []smithy.Trait{&traits.HTTPResponseCode{}}
	default:
		return b.inBody(m)
	}
}

// payload returns the trait that names the XML element that forms the whole body. It ignores a name that equals the
// member's own; the element then has its shape's name.
func (b *Binding) payload(m *Member) []smithy.Trait {
	name := m.LocationName
	if name == "" || name == m.Name && name[0] >= 'a' {
		name = m.Shape.xmlName
	}
	if name == "" || b.Protocol != RESTXML {
		return nil
	}
	return []smithy.Trait{&traits.XMLName{Name: name}}
}

func (b *Binding) inBody(m *Member) []smithy.Trait {
	name := m.LocationName
	if name == "" && m.Shape.Flattened && m.Shape.Type == List {
		name = m.Shape.Element.LocationName // of a list that is always flattened, as in SimpleDB
	}
	switch {
	case name == "":
		return nil
	case b.Protocol == RESTJSON || b.Protocol == JSON:
		return []smithy.Trait{&traits.JSONName{Name: name}}
	default:
		return []smithy.Trait{&traits.XMLName{Name: name}}
	}
}

// WithMessage returns the shape of an error and its schema. It adds a member Message if the model has none, because
// services send a message all the same, and in JSON with either spelling of the name.
func (s *Shape) WithMessage(b *Binding) (*Shape, *smithy.Schema) {
	missing := []string{"Message"}
	if b.Protocol == RESTJSON || b.Protocol == JSON {
		missing = append(missing, "message")
	}
	for _, m := range s.Members {
		if !strings.EqualFold(m.Name, "message") {
			continue
		}
		if len(missing) == 1 {
			return s, b.Schema(s)
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == m.Name })
	}
	made := *s
	made.Members, made.listed, made.byName = slices.Clone(s.Members), slices.Clone(s.listed), maps.Clone(s.byName)
	if made.byName == nil {
		made.byName = map[string]*Member{}
	}
	for _, name := range missing {
		message := &Member{Name: name, Shape: &Shape{Name: "Message", Type: String}}
		made.Members, made.listed = append(made.Members, message), append(made.listed, message)
		made.byName[name] = message
	}
	return &made, b.Schema(&made)
}
