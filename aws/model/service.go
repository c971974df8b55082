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

// Protocol is a wire format of requests and responses, named as in AWS's models.
type Protocol string

// The protocols.
const (
	JSON     Protocol = "json" // AWS JSON, version 1.0 or 1.1 (see Service.JSONVersion)
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
	// Class is the prefix of the service's class names in the SDK for Java: CloudWatchLogs, Sfn. Errors of AWS SDK
	// integrations begin with it.
	Class string
	// ID is the serviceId of the model: "CloudWatch Logs".
	ID string
	// FullName is the display name: "Amazon CloudWatch Logs".
	FullName string
	// EndpointPrefix is the first label of the service's hosts: logs.
	EndpointPrefix string
	// SigningName is the service's name in the credential scope of signatures. If the model has none, it is
	// EndpointPrefix.
	SigningName string
	// TargetPrefix is the prefix of X-Amz-Target; it also names the service in CBOR paths.
	TargetPrefix string
	// JSONVersion is the version of the JSON protocol: 1.0 or 1.1.
	JSONVersion string
	// APIVersion is the version of the API: 2014-03-28.
	APIVersion string
	// XMLNamespace is the namespace of XML responses; often empty.
	XMLNamespace string
	// SignatureVersion is v4; s3 or s3v4 for the S3 services; v2 or bearer for a few others.
	SignatureVersion string
	// Protocols lists the supported protocols, the one preferred by the SDKs first.
	Protocols []Protocol
	// QueryCompatible is true if the service formerly used Query. Clients of another protocol then send
	// x-amzn-query-mode, and responses have the older error code in x-amzn-query-error.
	QueryCompatible bool

	queryNames QueryNames        // for a service that also supports Query, which its model lacks
	exceptions map[string]string // names of error shapes, by name and by code
	operations []string
	lines      map[string]string // JSON lines by operation
	shapeLines map[string]string // JSON lines by shape

	mu       sync.Mutex
	ready    map[string]*Operation
	shapes   map[string]*Shape
	bindings map[Protocol]*Binding
}

var errFormat = errors.New("it is not in the form that `make models` writes")

// Parse parses a file of the archive, as written by package botocore: a line of metadata, and a line for each
// operation and shape. It returns an error only if the text does not have this form, because the lines are decoded
// later, on first use.
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

// Operations lists the names of the service's operations (such as PutItem), sorted.
func (s *Service) Operations() []string { return slices.Clone(s.operations) }

// Has reports whether the service has an operation of this name, such as PutItem.
func (s *Service) Has(operation string) bool {
	_, ok := s.lines[operation]
	return ok
}

// Operation finds an operation by its name, such as PutItem. It returns an *UnknownOperationError, or an error that
// describes the damage to the model.
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
		s.shapes = map[string]*Shape{} // some may be half decoded
		return nil, fmt.Errorf("the API model of %s is damaged: %s: %w; `make models` writes it anew", s.Name, name,
			err)
	}
	s.ready[name] = o
	return o, nil
}

// Shape finds a shape by its name. It returns an error if there is none.
func (s *Service) Shape(name string) (*Shape, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shape(name)
}

// Exception finds the shape of a modelled error of any operation, by its name or its code; nil if there is none.
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

// Speaks reports whether the service supports a protocol.
func (s *Service) Speaks(p Protocol) bool { return slices.Contains(s.Protocols, p) }

func text(v jsonvalue.Value, member string) string {
	m, _ := v.Get(member)
	return m.Text()
}

func flag(v jsonvalue.Value, member string) bool {
	m, _ := v.Get(member)
	return m.Bool()
}
