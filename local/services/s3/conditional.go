package s3

import (
	"net/http"
	"strings"

	"stepback/aws"
)

// conditionalWriter checks the conditional headers of a read against the headers of the object that is about to be
// sent. That way, the condition cannot be checked against another version than the one sent.
type conditionalWriter struct {
	http.ResponseWriter
	request    *http.Request
	conditions readConditions
	decided    bool
	refused    bool
}

// takeConditions removes the conditional headers from h and returns them, because gofakes3 supports only some of
// them.
func takeConditions(h http.Header) readConditions {
	c := readConditions{
		ifMatch: h.Get("If-Match"), ifNoneMatch: h.Get("If-None-Match"),
		ifModifiedSince: h.Get("If-Modified-Since"), ifUnmodifiedSince: h.Get("If-Unmodified-Since"),
	}
	for _, name := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		h.Del(name)
	}
	return c
}

func (w *conditionalWriter) WriteHeader(status int) {
	if w.decided {
		return
	}
	w.decided = true
	h := w.Header()
	if etag := h.Get(etagHeader); etag != "" {
		h.Set("ETag", quoted(etag))
		h.Del(etagHeader)
	}
	if modified, err := http.ParseTime(h.Get("Last-Modified")); err == nil && status < http.StatusMultipleChoices {
		if s := w.conditions.check(strings.Trim(h.Get("ETag"), `"`), modified); s != http.StatusOK {
			w.refuse(s)
			return
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *conditionalWriter) refuse(status int) {
	w.refused = true
	for _, name := range []string{"Content-Range", "Content-Length", "Accept-Ranges"} {
		w.Header().Del(name)
	}
	e := &aws.Error{Code: "PreconditionFailed",
		Message: "At least one of the pre-conditions you specified did not hold", Status: status}
	writeError(w.ResponseWriter, w.request, e)
}

// errRefused stops the copying of a body that is not wanted.
type errRefused struct{}

func (errRefused) Error() string { return "the request's conditions do not hold" }

func (w *conditionalWriter) Write(p []byte) (int, error) {
	if !w.decided {
		w.WriteHeader(http.StatusOK)
	}
	if w.refused {
		return 0, errRefused{}
	}
	return w.ResponseWriter.Write(p)
}

// finish writes the header of a response that has no body and has not been started.
func (w *conditionalWriter) finish() {
	if !w.decided {
		w.WriteHeader(http.StatusOK)
	}
}
