package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"stepback/asl/jsonvalue"
	"stepback/aws"
	"stepback/aws/model"
)

// MaxBody is how large the body of a request may be, in bytes, when none of its members may be that large itself.
const MaxBody = 1 << 20

// Config describes a service. Model and Operations are required.
type Config struct {
	// Model is the name of the service's API model, such as sfn or cloudwatchlogs (model.Find).
	Model string
	// Operations are those that are served, by their names in the model. The others answer NotImplemented.
	Operations map[string]Operation
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
	// Patience is how long a client may take to send the body of a request; 0 means a minute.
	Patience time.Duration
	// Default is the scope of requests that name none.
	Default aws.Scope
	// Log is told of refusals; nil means nobody is.
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
		return nil, unknownOperation
	}
	served, ok := s.cfg.Operations[name]
	if !ok {
		return nil, notServed(s.model.ID, name)
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

// call is a request that is being answered.
type call struct {
	service *Service
	writer  http.ResponseWriter
	request *http.Request
	id      string
	codec   codec
	labels  map[string]string // values of the path's labels, by member
	op      *operation
}

// reply is an answer on its way.
type reply struct {
	status int
	body   []byte
}

func (c *call) answer(ctx context.Context) (*reply, error) {
	name, err := c.codec.operation(c)
	if err != nil {
		return nil, err
	}
	if c.op, err = c.service.operation(name); err != nil {
		return nil, err
	}
	body, err := c.body(c.op.limit)
	if err != nil {
		var e *aws.Error
		if c.op.TooLarge != nil && errors.As(err, &e) && e.Status == http.StatusRequestEntityTooLarge {
			err = c.op.TooLarge
		}
		return nil, err
	}
	r := &Request{Scope: ScopeOf(c.request, c.service.cfg.Default), HTTP: c.request}
	if err := c.codec.read(c, body, r); err != nil {
		return nil, err
	}
	if c.op.check != nil {
		if err := c.op.check.check(r.Input); err != nil {
			return nil, err
		}
	}
	a, err := c.op.Call(ctx, r)
	if err != nil {
		return nil, err
	}
	if a == nil {
		a = &Answer{}
	}
	if a.RequestID != "" {
		c.writer.Header().Set("X-Amzn-Requestid", a.RequestID)
	}
	out := &reply{status: cmp.Or(a.Status, c.op.model.Status)}
	return out, c.codec.write(c, a, out)
}

// document is what an operation answered as a document.
func (a *Answer) document() (jsonvalue.Value, error) {
	if v, ok := a.Output.(jsonvalue.Value); ok && !v.IsNull() {
		return v, nil
	}
	text, err := a.text()
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return jsonvalue.Parse(string(text))
}

// text is the JSON text of what an operation answered, without the escapes that HTML would need.
func (a *Answer) text() ([]byte, error) {
	switch v := a.Output.(type) {
	case nil:
		return []byte("{}"), nil
	case jsonvalue.Value:
		if v.IsNull() {
			return []byte("{}"), nil
		}
		return v.AppendJSON(nil), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(a.Output)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// failure is what a client is told of an error.
func (c *call) failure(err error) *aws.Error {
	s := c.service
	var e *aws.Error
	var unread *unreadable
	switch {
	case errors.As(err, &unread) && s.cfg.Unreadable != nil:
		e = s.cfg.Unreadable(unread.reason)
	case unread != nil:
		e = malformed("")
	case !errors.As(err, &e):
		if s.cfg.Failure != nil {
			e = s.cfg.Failure(err)
		}
		if e == nil {
			e = internal
		}
		waits := c.request.Context().Err() == nil // the client still does
		if s.cfg.Log != nil && e.ByServer() && waits {
			s.cfg.Log.Error("a request failed", "service", s.model.ID, "operation", c.name(), "request", c.id,
				"error", err)
		}
	}
	if e.Code == codeInvalid && s.cfg.Invalid != "" {
		e = &aws.Error{Code: s.cfg.Invalid, Message: e.Message, Status: e.Status, Members: e.Members}
	}
	return e
}

func (c *call) name() string {
	if c.op == nil {
		return ""
	}
	return c.op.model.Name
}

// refuse makes the answer of an error.
func (c *call) refuse(err error) *reply {
	e := c.failure(err)
	if c.service.cfg.Log != nil {
		c.service.cfg.Log.Info("a request was refused", "service", c.service.model.ID, "operation", c.name(),
			"request", c.id, "code", e.Code, "message", abridged(e.Message))
	}
	f := &fault{error: e, shape: c.service.model.Exception(e.Code), code: e.Code}
	f.query = e.Code
	f.status = e.HTTPStatus()
	if f.shape != nil {
		f.code = f.shape.Name
		f.query = cmp.Or(c.service.cfg.Words.QueryCodes[f.code], f.shape.Error.Code)
		if e.Status == 0 {
			f.status = f.shape.Error.Status
		}
	}
	out := &reply{status: f.status}
	c.codec.fail(c, f, out)
	return out
}

// fault is an error with what the model says of it.
type fault struct {
	error  *aws.Error
	shape  *model.Shape // nil for one that the model does not have
	code   string       // the shape's name
	query  string       // the code in Query and XML
	status int
}

// sender is who is to blame, in the words of Query.
func (f *fault) sender() string {
	if f.status >= http.StatusInternalServerError {
		return "Receiver"
	}
	return "Sender"
}

// document is the document of the error's shape, and the shape; messages are there even where the model has none.
func (f *fault) document() jsonvalue.Value {
	message := "message"
	b := jsonvalue.NewObject(1 + len(f.error.Members))
	if f.shape != nil {
		for _, m := range f.shape.Members {
			if m.Name == "message" || m.Name == "Message" || m.Name == "errorMessage" {
				message = m.Name
			}
		}
	}
	if f.error.Message != "" {
		b.Set(message, jsonvalue.OfString(f.error.Message))
	}
	if f.shape != nil && f.shape.Member("Type") != nil && f.error.Members["Type"] == nil { // as Lambda's errors have it
		who := "User"
		if f.status >= http.StatusInternalServerError {
			who = "Service"
		}
		b.Set("Type", jsonvalue.OfString(who))
	}
	text, err := json.Marshal(f.error.Members)
	if err != nil || len(f.error.Members) == 0 {
		return b.Value()
	}
	v := b.Value()
	members, err := jsonvalue.Parse(string(text))
	if err != nil {
		return v
	}
	for i, name := range members.Keys() {
		v = v.With(name, members.At(i))
	}
	return v
}

// abridged is a message without most of a long value that it may quote.
func abridged(message string) string {
	const enough = 300
	if len(message) <= enough {
		return message
	}
	return message[:enough] + "…"
}

func (s *Service) write(w http.ResponseWriter, r *http.Request, out *reply) {
	if out.body != nil || out.status != http.StatusNoContent && r.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(out.body)))
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
