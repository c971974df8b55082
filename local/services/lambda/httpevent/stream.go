package httpevent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"stepback/tasks/lambda/invocation"
)

// integrationResponse is the Content-Type of a streamed response that begins with a prelude: a JSON object with the
// status, the headers and the cookies of the HTTP response, ended by eight zero bytes.
const integrationResponse = "application/vnd.awslambda.http-integration-response"

// maxPrelude limits the size of a prelude, in bytes.
const maxPrelude = 128 << 10

var preludeEnd = make([]byte, 8)

// Stream writes a function's streamed response as an HTTP response, piece by piece. It implements invocation.Stream.
type Stream struct {
	w        http.ResponseWriter
	prelude  []byte // what has arrived of a prelude
	expected bool   // the prelude has not ended
	begun    bool
}

// NewStream returns a Stream that writes to w.
func NewStream(w http.ResponseWriter) *Stream { return &Stream{w: w} }

// Begun reports whether the HTTP response has begun, so that it can have no other status.
func (s *Stream) Begun() bool { return s.begun }

// Complete reports whether the response has begun and was not cut off in its prelude.
func (s *Stream) Complete() bool { return s.begun && !s.expected }

// Begin implements invocation.Stream.
func (s *Stream) Begin(a *invocation.Answer) error {
	if a.ContentType == integrationResponse {
		s.expected = true
		return nil
	}
	s.w.Header().Set("Content-Type", a.ContentType)
	return s.start(http.StatusOK)
}

func (s *Stream) start(status int) error {
	s.begun = true
	s.w.WriteHeader(status)
	return http.NewResponseController(s.w).Flush()
}

// Write implements invocation.Stream. The error is the connection's, or reports that the prelude cannot be understood.
func (s *Stream) Write(p []byte) (int, error) {
	body := p
	if s.expected {
		s.prelude = append(s.prelude, p...)
		text, rest, ended := bytes.Cut(s.prelude, preludeEnd)
		switch {
		case len(text) > maxPrelude:
			return 0, fmt.Errorf("the prelude of the response has more than %d bytes", maxPrelude)
		case !ended:
			return len(p), nil
		}
		s.expected, s.prelude, body = false, nil, rest
		if err := s.head(text); err != nil {
			return 0, err
		}
	}
	if len(body) == 0 {
		return len(p), nil
	}
	if _, err := s.w.Write(body); err != nil {
		return 0, err
	}
	return len(p), http.NewResponseController(s.w).Flush()
}

// head writes the status and the headers that a prelude describes.
func (s *Stream) head(prelude []byte) error {
	var r returned
	if err := json.Unmarshal(prelude, &r); err != nil {
		return fmt.Errorf("the prelude of the response: %w", err)
	}
	status := http.StatusOK
	if r.Status != nil {
		var ok bool
		if status, ok = statusOf(r.Status); !ok {
			return errors.New("the prelude of the response has no valid statusCode")
		}
	}
	s.w.Header().Set("Content-Type", "application/json")
	writeHeaders(s.w.Header(), &r)
	return s.start(status)
}
