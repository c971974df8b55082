package s3

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/iam/policy"
)

// namespace is the XML namespace of S3.
const namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

const requestIDHeader = "X-Amz-Request-Id"

// call is a request for an operation.
type call struct {
	*http.Request
	w           http.ResponseWriter
	header      http.Header // of the response
	bucket, key string
	query       url.Values
	operation   string
	caller      caller
	observed    *observed // nil unless the bucket's requests are logged
}

// An operation performs a call. Its result is encoded as XML. A nil result means that the response has no body, and
// status 204 for a DELETE.
type operation func(*store, *call) (any, error)

type (
	// rawXML is a response that is already XML. rawJSON is a response that is already JSON.
	rawXML  string
	rawJSON string
	// noContent is a response with status 204 and no body.
	noContent struct{}
	// written is the result of an operation that has written its response itself.
	written struct{}
)

// ServeHTTP serves the S3 protocol with path-style addresses.
func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header())
	c := &call{Request: r, w: w, header: w.Header(), query: r.URL.Query()}
	c.bucket, c.key, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	c.header.Set(requestIDHeader, aws.NewID())
	c.header.Set("X-Amz-Id-2", aws.NewID())
	c.header.Set("Server", "AmazonS3")
	answer, err := s.perform(c) //nolint:contextcheck // the call holds the request with its context
	if err != nil {
		writeError(c.w, r, err)
	} else {
		c.respond(answer)
	}
	s.logAccess(c, err) //nolint:contextcheck // the log belongs to no request
}

// perform checks a call and executes it.
func (s *store) perform(c *call) (any, error) {
	if server.HeaderSize(c.Request) > mostHeader {
		return nil, fail("RequestHeaderSectionTooLarge", "Your request header section exceeds the maximum allowed size.",
			members{"MaxSizeAllowed": mostHeader})
	}
	if handled, err := s.crossOrigin(c); handled || err != nil {
		return written{}, err
	}
	var err error
	if c.caller, err = s.identify(c.Request); err != nil {
		return nil, err
	}
	if err := s.verify(c); err != nil {
		return nil, err
	}
	run, err := c.route()
	if err != nil {
		return nil, err
	}
	if err := s.refuseMembers(c); err != nil {
		return nil, err
	}
	if err := decodeChunked(c.Request); err != nil {
		return nil, err
	}
	if !utf8.ValidString(c.URL.Path) {
		return nil, fail("InvalidURI", "Couldn't parse the specified URI.", members{"URI": c.URL.EscapedPath()})
	}
	if len(c.key) > mostKey {
		return nil, fail("KeyTooLongError", "Your key is too long", members{"MaxSizeAllowed": mostKey, "Size": len(c.key)})
	}
	if err := s.admit(c); err != nil {
		return nil, err
	}
	answer, err := run(s, c)
	if isCode(err, "NoSuchKey") && c.readsObject() {
		if err := s.requireBucket(c.bucket); err != nil {
			return nil, err
		}
		err = cmp.Or(s.permitListing(c), err) // who may not list the bucket does not learn that it is missing
	}
	return answer, err
}

// admit returns an error if the bucket does not exist or the caller may not perform a call.
func (s *store) admit(c *call) error {
	if c.bucket == "" || c.operation == "CreateBucket" {
		if c.caller.anonymous {
			return accessDenied()
		}
		if s.authorizes != nil {
			return s.authorizes(c.Request, func() policy.Context { return s.conditionKeys(c) })
		}
		return nil
	}
	if err := s.requireCalled(c); err != nil {
		return err
	}
	if err := s.observe(c); err != nil || c.operation == "PostObject" { // a form is authorized when it is read
		return err
	}
	if err := s.authorize(c); err != nil {
		return err
	}
	return c.checkVersionID()
}

// requireCalled returns an error if the bucket of a call does not exist. It does not look for a bucket whose owner is
// in memory if the operation does so itself: PutObject when the body has arrived, and reads when they find no object.
func (s *store) requireCalled(c *call) error {
	switch c.operation {
	case "GetObject", "HeadObject", "PutObject":
		if s.settings.has(c.bucket, ownerSetting) {
			return nil
		}
	}
	return s.requireBucket(c.bucket)
}

// mostHeader is the maximum size of a request's header section, in bytes.
const mostHeader = 8 << 10

// mostKey is the maximum length of a key, in bytes.
const mostKey = 1024

// setSecurityHeaders keeps stored objects from becoming active content of the origin that serves them, which other
// services share: a browser runs none of their scripts and does not guess another content type.
func setSecurityHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:")
}

// respond writes the result of an operation.
func (c *call) respond(answer any) {
	switch answer := answer.(type) {
	case written:
	case noContent:
		c.w.WriteHeader(http.StatusNoContent)
	case nil:
		if c.Method == http.MethodDelete {
			c.w.WriteHeader(http.StatusNoContent)
			return
		}
		c.header.Set("Content-Length", "0")
		c.w.WriteHeader(http.StatusOK)
	case rawJSON:
		c.header.Set("Content-Type", "application/json")
		fmt.Fprint(c.w, answer)
	case rawXML:
		c.header.Set("Content-Type", "application/xml")
		fmt.Fprint(c.w, xml.Header, answer)
	default:
		c.header.Set("Content-Type", "application/xml")
		fmt.Fprint(c.w, xml.Header)
		_ = xml.NewEncoder(c.w).Encode(answer) // if this fails, the client has disconnected
	}
}

// maxMessage is the maximum size of a request's XML, in bytes. Ten thousand parts with their checksums, or a thousand
// keys of 1,024 characters with every character escaped, are smaller.
const maxMessage = 8 << 20

// message reads the body of a request whose body is a message of at most the given size instead of an object, and
// compares it with the request's Content-MD5 and checksum.
func (c *call) message(most int64) ([]byte, error) {
	of := c.Request
	if c.operation == "CompleteMultipartUpload" { // its checksum is the object's
		of = &http.Request{Header: c.Header.Clone(), Body: c.Body}
		for _, name := range algorithms {
			of.Header.Del(checksumPrefix + name)
		}
	}
	check, err := newBodyCheck(of)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(c.Body, most+1))
	switch {
	case err != nil:
		return nil, cutOff(err)
	case int64(len(text)) > most:
		return nil, fail("MaxMessageLengthExceeded", "Your request was too big.", members{"MaxMessageLengthBytes": most})
	}
	_, _ = check.Write(text) // hashes do not fail
	return text, check.finish()
}

// decode reads a request's XML into v, whose XMLName names the root element.
func (c *call) decode(v any) error {
	text, err := c.message(maxMessage)
	if err != nil {
		return err
	}
	if xml.Unmarshal(text, v) != nil {
		return malformedXML()
	}
	return nil
}

// number parses a numeric query parameter. most is its maximum, and also its default.
func (c *call) number(name string, most int64) (int64, error) {
	text := c.query.Get(name)
	if text == "" {
		return most, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	switch {
	case err != nil:
		return 0, invalidArgument(name, text, "Provided "+name+" not an integer or within integer range")
	case n < 0:
		if name == "max-keys" { // as measured at AWS
			name = "maxKeys"
		}
		return 0, invalidArgument(name, text, "Argument "+name+" must be an integer between 0 and 2147483647")
	}
	return min(n, most), nil
}

// truth reports whether a header is "true"; letter case does not matter.
func (c *call) truth(name string) bool { return strings.EqualFold(c.Header.Get(name), "true") }

// cutOff returns the error for a message whose body could not be read.
func cutOff(err error) *aws.Error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fail("RequestTimeout", tooSlow, nil)
	}
	return fail("IncompleteBody", "The request's body ended early: "+err.Error(), nil)
}
