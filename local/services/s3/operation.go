package s3

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/johannesboyne/gofakes3"

	"stepback/aws"
)

// namespace is the XML namespace of S3.
const namespace = "http://s3.amazonaws.com/doc/2006-03-01/"

// call is a request for an operation that this package implements itself.
type call struct {
	*http.Request
	header      http.Header // of the response
	bucket, key string
	query       url.Values
}

// operation performs a call. Its result is encoded as XML. A nil result means that the response has no body, and
// status 204 for a DELETE.
type operation func(*call) (any, error)

// ownOperation returns the handler of a request, or nil if gofakes3 handles it.
func (s *store) ownOperation(r *http.Request) func(http.ResponseWriter) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	c := &call{Request: r, bucket: bucket, key: key, query: r.URL.Query()}
	o := s.choose(c)
	if o == nil || bucket == "" {
		return nil
	}
	return func(w http.ResponseWriter) {
		c.header = w.Header()
		c.header.Set("X-Amz-Request-Id", aws.NewID())
		c.header.Set("X-Amz-Id-2", aws.NewID())
		c.header.Set("Server", "AmazonS3")
		answer, err := any(nil), s.requireBucket(bucket)
		if err == nil {
			answer, err = o(c)
		}
		respond(w, r.Method, answer, err)
	}
}

// choose returns the operation of a call, determined by its method and sub-resource.
func (s *store) choose(c *call) operation {
	switch {
	case c.isListing():
		return s.listObjects
	case c.isPartCopy():
		return s.uploadPartCopy
	case c.key != "" && c.query.Has("tagging"):
		return s.objectTagging
	case c.key != "" && c.query.Has("attributes") && c.Method == http.MethodGet:
		return s.objectAttributes
	case c.key == "" && c.query.Has("versions") && c.Method == http.MethodGet:
		return s.listVersions
	}
	if o := s.chooseChange(c); o != nil {
		return o
	}
	return chooseSetting(c)
}

// otherListings lists the understood sub-resources of a bucket that are not ListObjects.
var otherListings = []string{"location", "tagging", "uploads", "versioning"}

// isListing reports whether the call is a ListObjects: a read of a bucket without a sub-resource.
func (c *call) isListing() bool {
	for name := range c.query {
		if !harmless(name) || slices.Contains(otherListings, name) {
			return false
		}
	}
	return c.key == "" && c.Method == http.MethodGet
}

// respond writes a response or an error.
func respond(w http.ResponseWriter, method string, answer any, err error) {
	var known gofakes3.Error
	var own *aws.Error
	switch {
	case errors.As(err, &own):
		answer = errorBody{Code: gofakes3.ErrorCode(own.Code), Message: own.Message}
		w.WriteHeader(own.HTTPStatus())
	case errors.As(err, &known):
		answer = errorBody{Code: known.ErrorCode(), Message: messageOf(known)}
		w.WriteHeader(known.ErrorCode().Status())
	case err != nil:
		answer = errorBody{Code: gofakes3.ErrInternal, Message: err.Error()}
		w.WriteHeader(http.StatusInternalServerError)
	case answer == noContent{}, answer == nil && method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
		return
	case answer == nil:
		w.WriteHeader(http.StatusOK)
		return
	}
	if text, ok := answer.(rawJSON); ok {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, text)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprint(w, xml.Header)
	if text, ok := answer.(rawXML); ok {
		fmt.Fprint(w, text)
		return
	}
	_ = xml.NewEncoder(w).Encode(answer) // if this fails, the client has disconnected
}

// rawXML is a response that is already XML. rawJSON is a response that is already JSON.
type (
	rawXML  string
	rawJSON string
)

// noContent is a response with status 204 and no body.
type noContent struct{}

// messageOf returns an error's message without its code.
func messageOf(err gofakes3.Error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), string(err.ErrorCode())), ": ")
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
		return 0, gofakes3.ErrorInvalidArgument(name, text, "Provided "+name+" not an integer or within integer range")
	case n < 0:
		return 0, gofakes3.ErrorInvalidArgument(name, text, "Argument "+name+
			" must be an integer between 0 and 2147483647")
	}
	return min(n, most), nil
}
