package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"stepback/aws"
	"stepback/jsonvalue"
)

// call is a request being processed.
type call struct {
	service *Service
	writer  http.ResponseWriter
	request *http.Request
	id      string
	codec   codec
	labels  map[string]string // values of the path labels, by member
	op      *operation
	stream  *Events // nil if the response is not an event stream
}

// reply is a response being built.
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
	c.stream = c.events()
	credential := credentialOf(c.request)
	r := &Request{Scope: scopeOf(c.request, credential, c.service.cfg.Default), HTTP: c.request, Events: c.stream}
	if err := c.codec.read(c, body, r); err != nil {
		return nil, err
	}
	if c.op.check != nil {
		if refusal := c.service.cfg.Words.Missing; refusal != nil {
			if name := c.op.check.missing(r.Input); name != "" {
				return nil, refusal(name)
			}
		}
		if err := c.op.check.check(r.Input); err != nil {
			return nil, err
		}
	}
	if err := c.op.refuseUnread(r.Input); err != nil {
		return nil, err
	}
	if err := c.service.refuseReservedTags(ctx, r.Input); err != nil {
		return nil, err
	}
	if err := c.authorize(ctx, r); err != nil {
		return nil, err
	}
	if trace, ok := aws.ParseTrace(c.request.Header.Get(aws.TraceHeader)); ok {
		ctx = aws.WithTrace(ctx, trace)
	}
	a, err := c.carryOut(context.WithValue(ctx, callerKey{}, credential[0]), r)
	if err != nil {
		return nil, err
	}
	if c.stream != nil && c.stream.begun {
		return nil, nil //nolint:nilnil // the response has been sent
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

// Document returns an operation's output as a document.
func (a *Answer) Document() (jsonvalue.Value, error) {
	if v, ok := a.Output.(jsonvalue.Value); ok && !v.IsNull() {
		return v, nil
	}
	text, err := a.text()
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return jsonvalue.Parse(string(text))
}

// text returns an operation's output as JSON, without HTML escapes.
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

// failure returns the error that the client receives for err.
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
		waits := c.request.Context().Err() == nil // the client is still waiting
		if s.cfg.Log != nil && e.ByServer() && waits {
			s.cfg.Log.Error("a request failed", "service", s.model.ID, "operation", c.name(), "request", c.id,
				"error", err)
		}
	}
	if e.Code == codeInvalid && e.Status == 0 && s.cfg.Invalid != "" {
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

// refuse returns the response for an error.
func (c *call) refuse(err error) *reply {
	e := c.failure(err)
	if c.service.cfg.Log != nil {
		c.service.cfg.Log.Info("a request was refused", "service", c.service.model.ID, "operation", c.name(),
			"request", c.id, "code", e.Code, "message", abridged(e.Message))
	}
	f := &fault{error: e, shape: c.service.model.Exception(e.Code), code: e.Code}
	f.query = cmp.Or(c.service.cfg.Words.QueryCodes[f.code], e.Code)
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
