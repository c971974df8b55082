package awsjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
)

// MaxBody is how large the body of a request may be, in bytes, when none of its members may be that large itself.
const MaxBody = 1 << 20

// mediaType is the content type of requests and answers without the protocol's version.
const mediaType = "application/x-amz-json-"

// Service is an http.Handler that serves the operations of one AWS service.
type Service struct {
	// Target is the part of X-Amz-Target before the operation's name, such as AWSStepFunctions.
	Target string
	// Protocol is the version of AWS JSON; empty means 1.0.
	Protocol   string
	Operations map[string]Operation
	// Invalid is the code of refusals of requests that break a constraint; empty means ValidationException.
	Invalid string
	// Failure turns an error of what is behind the operations into one for clients; nil, from it or for it, means an
	// InternalFailure.
	Failure func(error) *aws.Error
	// Patience is how long a client may take to send the body of a request; 0 means a minute.
	Patience time.Duration
	// Default is the scope of requests that name none.
	Default aws.Scope
	Log     *slog.Logger
}

// ServeHTTP implements http.Handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := aws.NewID()
	w.Header().Set("X-Amzn-Requestid", id)
	w.Header().Set("Content-Type", s.contentType())
	w.Header().Set("X-Content-Type-Options", "nosniff")
	result, err := s.answer(w, r)
	if err != nil {
		s.refuse(w, r, id, err)
		return
	}
	body, err := encode(result)
	if err != nil {
		s.refuse(w, r, id, err)
		return
	}
	s.write(w, http.StatusOK, body)
}

func (s *Service) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	o, err := s.operation(r)
	if err != nil {
		return nil, err
	}
	body, err := readBody(w, r, o.maxBody(), cmp.Or(s.Patience, time.Minute))
	if err != nil {
		return nil, err
	}
	return o.run(r.Context(), ScopeOf(r, s.Default), body, cmp.Or(s.Invalid, codeInvalid))
}

func (s *Service) contentType() string { return mediaType + cmp.Or(s.Protocol, "1.0") }

// failure is what a client is told of an error that is none of the service's own.
func (s *Service) failure(err error) *aws.Error {
	if s.Failure != nil {
		if e := s.Failure(err); e != nil {
			return e
		}
	}
	return internal
}

// operation finds what a request asks for.
func (s *Service) operation(r *http.Request) (*Operation, error) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.Method != http.MethodPost || err != nil || media != s.contentType() {
		return nil, unknownOperation
	}
	target, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	o, ok := s.Operations[name]
	if target != s.Target || !ok {
		return nil, unknownOperation
	}
	return &o, nil
}

// refuse answers with an error.
func (s *Service) refuse(w http.ResponseWriter, r *http.Request, id string, err error) {
	var e *aws.Error
	if !errors.As(err, &e) {
		e = s.failure(err)
		if s.Log != nil && e.HTTPStatus() >= http.StatusInternalServerError &&
			r.Context().Err() == nil { // nobody waits for the answer otherwise
			s.Log.Error("a request failed", "target", r.Header.Get("X-Amz-Target"), "request", id, "error", err)
		}
	}
	if s.Log != nil {
		s.Log.Info("a request was refused", "target", r.Header.Get("X-Amz-Target"), "request", id, "code", e.Code,
			"message", abridged(e.Message))
	}
	reason, _ := e.Members["reason"].(string)
	body, err := encode(struct {
		Type    string `json:"__type"`
		Message string `json:"message,omitempty"`
		Reason  string `json:"reason,omitempty"`
	}{e.Code, e.Message, reason})
	if err != nil {
		body = []byte("{}")
	}
	s.write(w, e.HTTPStatus(), body)
}

// abridged is a message without most of a long value that it may quote.
func abridged(message string) string {
	const enough = 300
	if len(message) <= enough {
		return message
	}
	return message[:enough] + "…"
}

func (s *Service) write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil &&
		s.Log != nil { //nolint:gosec // the content type is JSON, which no browser renders
		s.Log.Debug("a client went away", "error", err)
	}
}

// encode is the JSON text of a result, without the escapes that HTML would need.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
