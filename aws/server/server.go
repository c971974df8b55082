package server

import (
	"cmp"
	"context"
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

// MaxBody is how large the body of a request may be, in bytes, when none of its members may be that large itself.
const MaxBody = 1 << 20

// Config describes a service. Model and Operations are required.
type Config struct {
	// Model is the name of the service's API model, such as sfn or cloudwatchlogs (model.Find).
	Model string
	// Operations are those that are served, by their names in the model. The others answer NotImplemented.
	Operations map[string]Operation
	// Partly says of operations that are served what they do not do, by their names: "Policies have no effect." It is
	// for people (Service.Coverage), and changes no answer.
	Partly map[string]string
	// Words are what the service says otherwise than its model lets one think.
	Words Words
	// Invalid is the code of refusals of requests that break a constraint; empty means ValidationException.
	Invalid string
	// Unreadable makes the refusal of a body that cannot be read, for the given reason; nil means a
	// SerializationException without a message.
	Unreadable func(reason string) *aws.Error
	// Failure turns an error of what is behind the operations into one for clients; nil, from it or for it, means an
	// InternalFailure.
	Failure func(error) *aws.Error
	// CRC32 sends the CRC-32 of each answer in X-Amz-Crc32, as DynamoDB does: its clients check it.
	CRC32 bool
	// Patience is how long a client may take to send the body of a request; 0 means a minute.
	Patience time.Duration
	// Default is the scope of requests that name none.
	Default aws.Scope
	// Log receives refusals; nil drops them.
	Log *slog.Logger
}

// Operation is one operation of a service.
type Operation struct {
	// Call carries the operation out. An error that is an *aws.Error goes to the client.
	Call func(context.Context, *Request) (*Answer, error)
	// MaxBody is how large the body of a request may be, in bytes; 0 means MaxBody, or four times that when one of the
	// members of the request may have that many characters.
	MaxBody int64
	// TooLarge is the refusal of a larger body; nil means a RequestEntityTooLargeException.
	TooLarge *aws.Error
	// Answer is a zero value of the answer's type, which tests compare with the model; nil when Call makes documents.
	Answer any
}

// Request is a request that has been read and checked.
type Request struct {
	// Scope is the account and region of the request's signature.
	Scope aws.Scope
	// Input is the request's document, with the members of the operation's input, as package model describes it.
	Input jsonvalue.Value
	// Payload is the body of a request whose body is one member of type blob; that member is not in Input.
	Payload []byte
	// HTTP is the request as it came; its body has been read.
	HTTP *http.Request
}

// Answer is what an operation answers.
type Answer struct {
	// Output is the answer's document: a jsonvalue.Value, or what encoding/json makes one of. Nil is an empty one.
	Output any
	// Payload is the body of an answer whose body is one member of type blob.
	Payload []byte
	// Status replaces the operation's HTTP status; 0 leaves it.
	Status int
	// RequestID replaces the ID of the request in the answer; empty leaves it.
	RequestID string
}

// Service is an http.Handler that serves the operations of one AWS service, in every protocol that its model has.
type Service struct {
	cfg    Config
	model  *model.Service
	rules  rules
	router *router // nil for a service that speaks no REST protocol

	mu       sync.Mutex
	compiled map[string]*operation
}

// operation is an operation with all that requests need of its model, compiled once.
type operation struct {
	Operation
	service *Service
	model   *model.Operation
	check   *rule // nil without an input
	limit   int64
	input   *plan // nil without an input
	output  *plan
}

// New makes a service. The error says that the model is not there, or has no operation of a name.
func New(cfg Config) (*Service, error) {
	m, err := model.Find(cfg.Model)
	if err != nil {
		return nil, err
	}
	return newService(cfg, m)
}

// NewOf is New with a model of one's own.
func NewOf(cfg Config, m *model.Service) (*Service, error) { return newService(cfg, m) }

// Must is New for services that are part of the program: it panics on an error, which a test of the service rules out.
func Must(cfg Config) *Service {
	s, err := New(cfg)
	if err != nil {
		panic(err)
	}
	return s
}

func newService(cfg Config, m *model.Service) (*Service, error) {
	s := &Service{
		cfg: cfg, model: m, compiled: map[string]*operation{},
		rules: rules{words: cfg.Words, made: map[*model.Shape]*rule{}},
	}
	if err := cfg.checkPartly(); err != nil {
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

// operation finds an operation and compiles it when it is first asked for.
func (s *Service) operation(name string) (*operation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.compiled[name]; o != nil {
		return o, nil
	}
	if !s.model.Has(name) {
		return nil, s.unknown(name, codeUnknown)
	}
	served, ok := s.cfg.Operations[name]
	if !ok {
		return nil, notServed(s.model, name)
	}
	m, err := s.model.Operation(name)
	if err != nil {
		return nil, err
	}
	o := &operation{Operation: served, service: s, model: m, limit: served.MaxBody, output: planOf(m.Output)}
	if m.Input != nil {
		o.check, o.input = s.rules.of(m.Input), planOf(m.Input)
	}
	if o.limit == 0 {
		o.limit = limitOf(m.Input)
	}
	s.compiled[name] = o
	return o, nil
}

// limitOf is how large the body of a request may be: a member that may be as large as MaxBody has room for its escapes.
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
	c := &call{service: s, writer: w, request: r, id: id, codec: s.codecOf(r)}
	h.Set("Content-Type", c.codec.contentType(s))
	reply, err := c.answer(r.Context())
	if err != nil {
		reply = c.refuse(err)
	}
	s.write(w, r, reply)
}

func (s *Service) write(w http.ResponseWriter, r *http.Request, out *reply) {
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

// String is the service's name, for messages.
func (s *Service) String() string { return fmt.Sprintf("%s (%s)", s.model.ID, s.model.Name) }

func (s *Service) patience() time.Duration { return cmp.Or(s.cfg.Patience, time.Minute) }

// Serves reports whether an operation is served.
func (s *Service) Serves(operation string) bool {
	_, ok := s.cfg.Operations[operation]
	return ok
}
