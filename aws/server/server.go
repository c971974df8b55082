package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// MaxBody is the size limit of a request body, in bytes, unless a single member may be that large.
const MaxBody = 1 << 20

// Config describes a service. Model and Operations are required.
type Config struct {
	// Model is the name of the service's API model, such as sfn or cloudwatchlogs (model.Find).
	Model string
	// Operations holds the implemented operations, by their names in the model. The others return NotImplemented.
	Operations map[string]Operation
	// Partly describes, by operation, what the implementation lacks: "Policies have no effect." It is for
	// documentation (Service.Coverage), and changes no response.
	Partly map[string]string
	// Accepted lists the members that requests may have although no operation reads them, and why: operation, path of
	// the member in the input (such as VpcConfig.SubnetIds), reason. The operation "" stands for all operations. A
	// request with any other member that its operation does not read (Operation.Reads) returns NotImplemented.
	Accepted map[string]map[string]string
	// Words holds the deviations of the service's behaviour and messages from its model.
	Words Words
	// Invalid is the error code for requests that violate a constraint; empty means ValidationException.
	Invalid string
	// ReservedTag is the error for a request that sets a tag whose key begins with aws:; nil means the error code
	// Invalid with aws.ReservedTagMessage.
	ReservedTag *aws.Error
	// Unreadable returns the error for a body that cannot be read, for the given reason; nil means a
	// SerializationException without a message.
	Unreadable func(reason string) *aws.Error
	// Failure converts an error of the backend to one for clients; if it is nil or returns nil, the error is an
	// InternalFailure.
	Failure func(error) *aws.Error
	// ErrorNamespace is the namespace of the service's errors in the member __type of the JSON protocol, as in
	// com.amazonaws.dynamodb.v20120810#ResourceNotFoundException; empty sends the codes alone.
	ErrorNamespace string
	// CRC32 sends the CRC-32 of each response in X-Amz-Crc32, as DynamoDB does: its clients verify it.
	CRC32 bool
	// Compress compresses responses from 4 KiB, as DynamoDB does, if the request accepts it. A request body that is not
	// compressed as its Content-Encoding says is an InternalFailure, and operations without an output have an empty
	// body.
	Compress bool
	// MostHeader is the size limit of the request line with the header section, in bytes; 0 means none. A longer one is
	// answered with the status 400 and without a body.
	MostHeader int
	// Header is the value of the header Server in responses; empty sends none.
	Header string
	// Patience is the time that a client may take to send a request body; 0 means a minute.
	Patience time.Duration
	// Default is the scope of requests that do not name one.
	Default aws.Scope
	// Log receives rejected requests; nil discards them.
	Log *slog.Logger
}

// Operation is one operation of a service.
type Operation struct {
	// Call executes the operation. An error that is an *aws.Error is returned to the client.
	Call func(context.Context, *Request) (*Answer, error)
	// MaxBody is the size limit of a request body, in bytes. 0 means the constant MaxBody, or four times the
	// constant if one of the request's members may have MaxBody characters or more.
	MaxBody int64
	// TooLarge is the error for a larger body; nil means a RequestEntityTooLargeException.
	TooLarge *aws.Error
	// Reads is a zero value of a structure with the members of the request that Call reads, as Handle sets it, or
	// WholeInput. Nil if Call reads none.
	Reads any
	// Answer is a zero value of the answer's type, which tests compare with the model; nil if Call returns documents.
	Answer any
}

// Request is a request that has been read and checked.
type Request struct {
	// Scope is the account and region of the request's signature.
	Scope aws.Scope
	// Input is the request's document, with the members of the operation's input, as described in package model.
	Input jsonvalue.Value
	// Payload is the request body if it is a single member of type blob; that member is not in Input.
	Payload []byte
	// HTTP is the original request; its body has been read.
	HTTP *http.Request
	// Events sends the response, if the operation returns an event stream. An operation that has called Begin returns
	// no Answer. Nil for all other operations.
	Events *Events
}

// Answer is the result of an operation.
type Answer struct {
	// Output is the answer's document: a jsonvalue.Value, or a value that encoding/json converts to one. Nil means an
	// empty one.
	Output any
	// Payload is the response body if it is a single member of type blob.
	Payload []byte
	// Status replaces the operation's HTTP status; 0 keeps it.
	Status int
	// RequestID replaces the request ID in the response; empty keeps it.
	RequestID string
}

// Service is an http.Handler that serves the operations of one AWS service, in every protocol of its model.
type Service struct {
	cfg       Config
	model     *model.Service
	rules     rules
	router    *router // nil for a service without a REST protocol
	mediaJSON string  // content type of AWS JSON

	mu       sync.Mutex
	compiled map[string]*operation
}

// operation is an operation with everything that requests need from its model, compiled once.
type operation struct {
	Operation
	service *Service
	model   *model.Operation
	check   *rule // nil without an input
	limit   int64
	input   *plan // nil without an input
	output  *plan
	unread  *unreadMembers // nil if the function reads everything
}

// New returns a service. It returns an error if the model does not exist, or does not have one of the operations.
func New(cfg Config) (*Service, error) {
	m, err := model.Find(cfg.Model)
	if err != nil {
		return nil, err
	}
	return newService(cfg, m)
}

// NewOf is like New, with a given model.
func NewOf(cfg Config, m *model.Service) (*Service, error) { return newService(cfg, m) }

// Must is like New, for services that are part of the program: it panics on an error, which a test of the service
// rules out.
func Must(cfg Config) *Service {
	s, err := New(cfg)
	if err != nil {
		panic(err)
	}
	return s
}

func newService(cfg Config, m *model.Service) (*Service, error) {
	s := &Service{
		cfg: cfg, model: m, compiled: map[string]*operation{}, mediaJSON: mediaJSON + m.JSONVersion,
		rules: rules{words: cfg.Words, made: map[*model.Shape]*rule{}},
	}
	if err := errors.Join(cfg.checkPartly(), cfg.checkAccepted()); err != nil {
		return nil, err
	}
	for name := range cfg.Operations {
		if !m.Has(name) {
			_, err := m.Operation(name)
			return nil, err
		}
	}
	if m.Speaks(model.RESTJSON) || m.Speaks(model.RESTXML) {
		var err error
		if s.router, err = newRouter(m); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// operation returns an operation, and compiles it on first use.
func (s *Service) operation(name string) (*operation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.compiled[name]; o != nil {
		return o, nil
	}
	if !s.model.Has(name) {
		return nil, s.unknown(name, codeUnknown, http.StatusBadRequest)
	}
	served, ok := s.cfg.Operations[name]
	if !ok {
		return nil, notServed(s.model, name)
	}
	m, err := s.model.Operation(name)
	if err != nil {
		return nil, err
	}
	o := &operation{Operation: served, service: s, model: m, limit: served.MaxBody, output: planOf(m.Output,
		s.cfg.Words.Doubles)}
	if m.Input != nil {
		o.check, o.input = s.rules.of(m.Input), planOf(m.Input, false)
		o.unread = s.unread(o, func(path string) bool { return s.accepts(name, path) })
	}
	if o.limit == 0 {
		o.limit = limitOf(m.Input)
	}
	s.compiled[name] = o
	return o, nil
}

// limitOf returns the size limit of a request body. If a member may be as large as MaxBody, the limit leaves space
// for escape sequences.
func limitOf(input *model.Shape) int64 {
	const escaped = 4 * MaxBody
	if input != nil {
		for _, m := range input.Members {
			if m.Shape.Type == model.String && m.Shape.Max != nil && *m.Shape.Max >= MaxBody {
				return escaped
			}
		}
	}
	return MaxBody
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := aws.NewID()
	h := w.Header()
	h.Set("X-Amzn-Requestid", id)
	h.Set("X-Content-Type-Options", "nosniff")
	if s.cfg.Header != "" {
		h.Set("Server", s.cfg.Header)
	}
	c := &call{service: s, writer: w, request: r, id: id, codec: s.codecOf(r)}
	h.Set("Content-Type", c.codec.contentType(s))
	if s.tooLongHeader(r) {
		s.write(w, r, &reply{status: http.StatusBadRequest, body: []byte{}})
		return
	}
	reply, err := c.answer(r.Context())
	if c.stream != nil && c.stream.begun {
		c.stream.end(err)
		return
	}
	if err != nil {
		reply = c.refuse(err)
	}
	s.write(w, r, reply)
}

func (s *Service) write(w http.ResponseWriter, r *http.Request, out *reply) {
	if s.cfg.Compress {
		out.body = compress(w.Header(), r.Header.Get("Accept-Encoding"), out.body)
	}
	if out.body != nil || out.status != http.StatusNoContent && r.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(out.body)))
	}
	if s.cfg.CRC32 {
		w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(out.body)), 10))
	}
	if len(out.body) == 0 {
		w.Header().Del("Content-Type")
	}
	w.WriteHeader(out.status)
	if _, err := w.Write(out.body); err != nil && s.cfg.Log != nil {
		s.cfg.Log.Debug("a client went away", "error", err)
	}
}

// String returns the service's name, for messages.
func (s *Service) String() string { return fmt.Sprintf("%s (%s)", s.model.ID, s.model.Name) }

func (s *Service) patience() time.Duration { return cmp.Or(s.cfg.Patience, time.Minute) }

// Serves reports whether an operation is implemented.
func (s *Service) Serves(operation string) bool {
	_, ok := s.cfg.Operations[operation]
	return ok
}
