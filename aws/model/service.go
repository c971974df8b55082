package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"stepback/jsonvalue"
)

// Protocol is how requests and answers look on the wire, named as AWS's models name it.
type Protocol string

// The protocols.
const (
	JSON     Protocol = "json" // AWS JSON, version 1.0 or 1.1 as Service.JSONVersion says
	RESTJSON Protocol = "rest-json"
	RESTXML  Protocol = "rest-xml"
	Query    Protocol = "query"
	EC2      Protocol = "ec2"
	CBOR     Protocol = "smithy-rpc-v2-cbor"
)

// Service is the API of one AWS service.
type Service struct {
	// Name is the service's name in Resources of AWS SDK integrations: cloudwatchlogs, sfn.
	Name string
	// Class is the beginning of the names of the service's classes in the SDK for Java: CloudWatchLogs, Sfn. Errors of
	// AWS SDK integrations begin with it.
	Class string
	// ID is the serviceId of the model: "CloudWatch Logs".
	ID string
	// FullName is the name for people: "Amazon CloudWatch Logs".
	FullName string
	// EndpointPrefix is the first label of the service's hosts: logs.
	EndpointPrefix string
	// SigningName is the service in the credential scope of signatures; EndpointPrefix where the model has none.
	SigningName string
	// TargetPrefix is what X-Amz-Target begins with; it names the service in paths of CBOR too.
	TargetPrefix string
	// JSONVersion is that of the JSON protocol: 1.0 or 1.1.
	JSONVersion string
	// APIVersion is that of the API: 2014-03-28.
	APIVersion string
	// XMLNamespace is that of answers in XML; often empty.
	XMLNamespace string
	// SignatureVersion is v4, or s3 and s3v4 of the S3 services, v2 and bearer of a few.
	SignatureVersion string
	// Protocols are those that the service speaks, the one that the SDKs prefer first.
	Protocols []Protocol
	// QueryCompatible says that the service once spoke Query: clients of another protocol send x-amzn-query-mode, and
	// answers have the older error code in x-amzn-query-error.
	QueryCompatible bool

	queryNames QueryNames        // of a service that speaks Query beside its model
	exceptions map[string]string // names of error shapes, by themselves and by their codes
	operations []string
	lines      map[string]string // JSON by operation
	shapeLines map[string]string // JSON by shape

	mu       sync.Mutex
	ready    map[string]*Operation
	shapes   map[string]*Shape
	bindings map[Protocol]*Binding
}

var errFormat = errors.New("it is not in the form that `make models` writes")

// Parse reads a file of the archive, which package botocore makes: a line of metadata, and a line for each operation
// and shape. The error says only that the text is not in that form; what lines say is read when they are used.
func Parse(name, text string) (*Service, error) {
	head, rest, _ := strings.Cut(text, "\n")
	s := &Service{
		Name: name, lines: map[string]string{}, shapeLines: map[string]string{}, ready: map[string]*Operation{},
		shapes: map[string]*Shape{}, bindings: map[Protocol]*Binding{}, exceptions: map[string]string{},
	}
	if err := s.metadata(head); err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(rest, "\n") {
		if line == "" {
			continue
		}
		kind, entry, _ := strings.Cut(line, " ")
		key, value, ok := strings.Cut(entry, " ")
		switch {
		case !ok:
			return nil, errFormat
		case kind == "o":
			s.operations = append(s.operations, key)
			s.lines[key] = value
		case kind == "s":
			s.shapeLines[key] = value
		default:
			return nil, errFormat
		}
	}
	return s, nil
}

func (s *Service) metadata(line string) error {
	v, err := jsonvalue.Parse(line)
	if err != nil || v.Kind() != jsonvalue.Object {
		return errFormat
	}
	s.ID, s.FullName, s.EndpointPrefix = text(v, "serviceId"), text(v, "serviceFullName"), text(v, "endpointPrefix")
	s.SigningName, s.TargetPrefix = text(v, "signingName"), text(v, "targetPrefix")
	s.JSONVersion, s.APIVersion = text(v, "jsonVersion"), text(v, "apiVersion")
	s.XMLNamespace, s.SignatureVersion = text(v, "xmlNamespace"), text(v, "signatureVersion")
	_, s.QueryCompatible = v.Get("awsQueryCompatible")
	s.Class = ClassName(s.ID)
	if s.SigningName == "" {
		s.SigningName = s.EndpointPrefix
	}
	protocols, _ := v.Get("protocols")
	for _, p := range protocols.Elements() {
		s.Protocols = append(s.Protocols, Protocol(p.Text()))
	}
	if len(s.Protocols) == 0 || s.ID == "" {
		return errFormat
	}
	all, _ := v.Get("errors")
	for i, code := range all.Keys() {
		s.exceptions[code] = all.At(i).Text()
	}
	return nil
}

// Operations lists the names of the service's operations, sorted: PutItem.
func (s *Service) Operations() []string { return slices.Clone(s.operations) }

// Has reports whether the service has an operation: PutItem.
func (s *Service) Has(operation string) bool {
	_, ok := s.lines[operation]
	return ok
}

// Operation finds an operation by its name: PutItem. The error is an *UnknownOperationError, or says what is damaged.
func (s *Service) Operation(name string) (*Operation, error) {
	line, ok := s.lines[name]
	if !ok {
		return nil, &UnknownOperationError{Service: s.Name, Name: name, Similar: nearest(name, s.operations)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.ready[name]; ok {
		return o, nil
	}
	o, err := s.operation(name, line)
	if err != nil {
		s.shapes = map[string]*Shape{} // some may be half read
		return nil, fmt.Errorf("the API model of %s is damaged: %s: %w; `make models` writes it anew", s.Name, name,
			err)
	}
	s.ready[name] = o
	return o, nil
}

// Shape finds a shape by its name. The error says that there is none.
func (s *Service) Shape(name string) (*Shape, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shape(name)
}

// Exception finds the shape of a modelled error of any operation, by its name or by its code; nil when there is none.
func (s *Service) Exception(code string) *Shape {
	name, ok := s.exceptions[code]
	if !ok {
		return nil
	}
	e, err := s.Shape(name)
	if err != nil {
		return nil
	}
	return e
}

// Exceptions lists the names of the shapes of all modelled errors, sorted.
func (s *Service) Exceptions() []string {
	names := map[string]bool{}
	for _, name := range s.exceptions {
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Speaks reports whether the service can be called in a protocol.
func (s *Service) Speaks(p Protocol) bool { return slices.Contains(s.Protocols, p) }

func text(v jsonvalue.Value, member string) string {
	m, _ := v.Get(member)
	return m.Text()
}

func flag(v jsonvalue.Value, member string) bool {
	m, _ := v.Get(member)
	return m.Bool()
}
