package server

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// Events sends the response of an operation as an event stream. Each event is sent at once. If the client reads slowly,
// Send waits. Only one goroutine may use it at a time.
type Events struct {
	call    *call
	member  *model.Member // the stream in the operation's output
	encoder *eventstream.Encoder
	begun   bool
}

// events returns the event stream of the call's operation; nil if the operation has none, or if the request's protocol
// cannot send one.
func (c *call) events() *Events {
	if c.op.output == nil {
		return nil
	}
	switch c.codec.(type) {
	case jsonCodec, restCodec:
	default:
		return nil
	}
	for _, m := range c.op.output.shape.Members {
		if m.Shape.EventStream {
			return &Events{call: c, member: m, encoder: eventstream.NewEncoder()}
		}
	}
	return nil
}

// Begin sends the status and the headers of the response. The answer's Output has the members of the operation's output
// besides the stream. From now on, an error of the operation is an event of the stream.
func (e *Events) Begin(a *Answer) error {
	c := e.call
	v, err := a.Document()
	if err != nil {
		return err
	}
	h := c.writer.Header()
	if a.RequestID != "" {
		h.Set("X-Amzn-Requestid", a.RequestID)
	}
	out := &reply{status: c.op.model.Status}
	bindHeaders(h, c.op.output.shape, v, out)
	h.Set("Content-Type", mediaEvents)
	c.writer.WriteHeader(cmp.Or(out.status, http.StatusOK))
	e.begun = true
	if _, rpc := c.codec.(jsonCodec); rpc { // no member of the output is in a header
		return e.send("event", "initial-response", c.codec.contentType(c.service), toJSON(nil, c.op.output.shape, v, inAll))
	}
	return http.NewResponseController(c.writer).Flush()
}

// Begun reports whether Begin was called.
func (e *Events) Begun() bool { return e.begun }

// Send sends an event: a member of the stream's union. Event is a []byte for an event whose payload is a blob, and
// otherwise a value that encoding/json converts to the event's document.
func (e *Events) Send(name string, event any) error {
	m := e.member.Shape.Member(name)
	if m == nil {
		return fmt.Errorf("the event stream of %s has no event %s", e.call.op.model.Name, name)
	}
	if blob, ok := event.([]byte); ok {
		return e.send("event", name, mediaBytes, blob)
	}
	v, err := (&Answer{Output: event}).Document()
	if err != nil {
		return err
	}
	if r, rest := e.call.codec.(restCodec); rest && r.xml {
		var x xmlWriter
		x.value(m.Shape.ElementName(), m, v)
		return e.send("event", name, mediaText, x.bytes())
	}
	return e.send("event", name, e.call.codec.contentType(e.call.service), toJSON(nil, m.Shape, v, inAll))
}

// fail sends an error as the last event of a stream: the exception of the stream with the error's code, or an error
// without a shape.
func (e *Events) fail(err error) error {
	c := e.call
	failed := c.failure(err)
	for _, m := range e.member.Shape.Members {
		if m.Shape.Error != nil && m.Shape.Name == failed.Code {
			b := jsonvalue.NewObject(1)
			b.Set("message", jsonvalue.OfString(failed.Message))
			return e.send("exception", m.Name, c.codec.contentType(c.service), toJSON(nil, withMessage(m.Shape), b.Value(), inAll))
		}
	}
	msg := eventstream.Message{}
	msg.Headers.Set(":message-type", eventstream.StringValue("error"))
	msg.Headers.Set(":error-code", eventstream.StringValue(failed.Code))
	msg.Headers.Set(":error-message", eventstream.StringValue(abridged(failed.Message)))
	return e.write(msg)
}

func (e *Events) send(kind, name, contentType string, payload []byte) error {
	msg := eventstream.Message{Payload: payload}
	msg.Headers.Set(":message-type", eventstream.StringValue(kind))
	msg.Headers.Set(":"+kind+"-type", eventstream.StringValue(name))
	msg.Headers.Set(":content-type", eventstream.StringValue(contentType))
	return e.write(msg)
}

func (e *Events) write(msg eventstream.Message) error {
	if err := e.encoder.Encode(e.call.writer, msg); err != nil {
		return err
	}
	return http.NewResponseController(e.call.writer).Flush()
}

// end ends a response whose stream has begun. A stream that cannot be ended properly is cut off, so that the client
// does not take it for complete.
func (e *Events) end(err error) {
	if err == nil {
		return
	}
	c := e.call
	var refused *aws.Error
	if !errors.As(err, &refused) && c.request.Context().Err() != nil { // the client has disconnected
		panic(http.ErrAbortHandler)
	}
	if sent := e.fail(err); sent != nil {
		panic(http.ErrAbortHandler)
	}
}
