package runner

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"stepback/tasks/lambda/invocation"
)

// octets is the Content-Type of a streamed response that has none.
const octets = "application/octet-stream"

// part is a piece of a streamed response, or its beginning.
type part struct {
	begins      bool
	contentType string
	bytes       []byte
}

// write passes a part of the response to c to the caller's stream.
func (p part) write(c *call, version string) error {
	if p.begins {
		return c.stream.Begin(&invocation.Answer{StatusCode: http.StatusOK, ExecutedVersion: version,
			RequestID: c.requestID, ContentType: p.contentType, Streamed: true})
	}
	_, err := c.stream.Write(p.bytes)
	return err
}

// begunStream records that a stream has begun.
type begunStream struct {
	invocation.Stream
	begun bool
}

// Begin implements invocation.Stream.
func (s *begunStream) Begin(a *invocation.Answer) error {
	s.begun = true
	return s.Stream.Begin(a)
}

// streams reports whether a runtime sends its response as a stream. Runtimes other than Go's declare it in a header;
// Go's sends every response in chunks, and those that are not JSON are streams.
func streams(r *http.Request) bool {
	if r.Header.Get("Lambda-Runtime-Function-Response-Mode") == "streaming" {
		return true
	}
	return r.ContentLength < 0 && r.Header.Get("Content-Type") != "application/json"
}

// errOver reports that the caller does not wait for the response any more.
var errOver = errors.New("the invocation has ended")

// pass hands a part to the goroutine that serves the caller, and waits until it is written.
func (e *event) pass(p part) error {
	select {
	case e.parts <- p:
	case <-e.over:
		return errOver
	}
	select {
	case err := <-e.taken:
		return err
	case <-e.over:
		return errOver
	}
}

// passOn passes a streamed response on while it arrives, and returns its end. The stream begins with the first bytes,
// or with the successful end of a response without any, so that a function that fails first has not begun one.
func (e *event) passOn(w http.ResponseWriter, r *http.Request) answer {
	const piece = 64 << 10
	contentType := r.Header.Get("Content-Type")
	if contentType == "" {
		contentType = octets
	}
	b, size, began := make([]byte, piece), 0, false
	begin := func() error {
		if began {
			return nil
		}
		began = true
		return e.pass(part{begins: true, contentType: contentType})
	}
	for {
		n, err := r.Body.Read(b)
		size += n
		if size > invocation.MaxStreamBytes {
			refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
				fmt.Sprintf("Exceeded maximum allowed payload size (%d bytes).", invocation.MaxStreamBytes))
			return failure("Function.ResponseSizeTooLarge", fmt.Sprintf(
				"Response payload size exceeded maximum allowed payload size (%d bytes).", invocation.MaxStreamBytes))
		}
		if n > 0 {
			if refused := begin(); refused != nil {
				return e.refusedPart(w, refused)
			}
			if refused := e.pass(part{bytes: b[:n]}); refused != nil {
				return e.refusedPart(w, refused)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			accept(w)
			a := withTrailer(nil, r.Trailer)
			if !a.failed {
				if refused := begin(); refused != nil {
					return answer{refused: refused}
				}
			}
			return a
		case err != nil:
			refuse(w, http.StatusBadRequest, "InvalidStateTransition", err.Error())
			return failure("Runtime.TruncatedResponse", err.Error())
		}
	}
}

// refusedPart ends a response that the caller has not taken.
func (*event) refusedPart(w http.ResponseWriter, err error) answer {
	refuse(w, http.StatusGone, "Disconnected", "The caller has disconnected.")
	return answer{refused: err}
}
