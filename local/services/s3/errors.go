package s3

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"

	"github.com/johannesboyne/gofakes3"
)

// Error codes that gofakes3 does not define.
const (
	errAlreadyOwned   = gofakes3.ErrorCode("BucketAlreadyOwnedByYou")
	errInvalidRequest = gofakes3.ErrorCode("InvalidRequest")
	errRequestTimeout = gofakes3.ErrorCode("RequestTimeout")
)

// statuses holds the HTTP statuses of errors for which gofakes3 has none, or a different one than S3.
var statuses = map[gofakes3.ErrorCode]int{
	errAlreadyOwned:              http.StatusConflict,
	errBadRequest:                http.StatusBadRequest,
	errInvalidRequest:            http.StatusBadRequest,
	errInvalidTag:                http.StatusBadRequest,
	errRequestTimeout:            http.StatusBadRequest,
	gofakes3.ErrNoSuchVersion:    http.StatusNotFound,
	gofakes3.ErrMethodNotAllowed: http.StatusMethodNotAllowed,
}

// messages holds S3's messages for errors that gofakes3 leaves without one.
var messages = map[gofakes3.ErrorCode]string{
	gofakes3.ErrBadDigest:            "The Content-MD5 you specified did not match what we received.",
	gofakes3.ErrBucketNotEmpty:       "The bucket you tried to delete is not empty",
	gofakes3.ErrInvalidDigest:        "The Content-MD5 you specified was invalid.",
	gofakes3.ErrInvalidPart:          "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
	gofakes3.ErrInvalidRange:         "The requested range is not satisfiable",
	gofakes3.ErrKeyTooLong:           "Your key is too long",
	gofakes3.ErrMethodNotAllowed:     "The specified method is not allowed against this resource.",
	gofakes3.ErrMissingContentLength: "You must provide the Content-Length HTTP header.",
	gofakes3.ErrNoSuchUpload:         "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.",
	gofakes3.ErrNotImplemented:       "A header you provided implies functionality that is not implemented",
}

// errorWriter holds back an error response until its body is known, so that it can set S3's status and message.
type errorWriter struct {
	http.ResponseWriter
	status int // HTTP status of the error; 0 if there is none
	body   bytes.Buffer
}

func (w *errorWriter) WriteHeader(status int) {
	w.Header().Del("Access-Control-Allow-Origin") // set by gofakes3; buckets here have no CORS rules
	if status >= http.StatusBadRequest && w.status == 0 {
		w.status = status
		return
	}
	if w.Header().Get("X-Amz-Delete-Marker") == "false" { // S3 does not send this
		w.Header().Del("X-Amz-Delete-Marker")
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *errorWriter) Write(p []byte) (int, error) {
	if w.status != 0 {
		return w.body.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

// errorBody is the XML of an S3 error, with the members that gofakes3 writes.
type errorBody struct {
	XMLName       xml.Name `xml:"Error"`
	Code          gofakes3.ErrorCode
	Message       string
	Resource      string `xml:",omitempty"`
	ArgumentName  string `xml:",omitempty"`
	ArgumentValue string `xml:",omitempty"`
	RequestID     string `xml:"RequestId,omitempty"`
	HostID        string `xml:"HostId,omitempty"`
}

// finish sends the error that was held back.
func (w *errorWriter) finish() {
	if w.status == 0 {
		return
	}
	var e errorBody
	if xml.Unmarshal(w.body.Bytes(), &e) != nil { // a HEAD request, or not an S3 error
		w.ResponseWriter.WriteHeader(w.status)
		_, _ = w.ResponseWriter.Write(w.body.Bytes())
		return
	}
	if e.Message == "" || e.Message == string(e.Code) {
		e.Message = messages[e.Code]
	}
	if status, ok := statuses[e.Code]; ok {
		w.status = status
	}
	e.RequestID, e.HostID = w.Header().Get("X-Amz-Request-Id"), w.Header().Get("X-Amz-Id-2")
	w.Header().Set("Content-Type", "application/xml")
	w.Header().Del("Content-Length")
	w.ResponseWriter.WriteHeader(w.status)
	fmt.Fprint(w.ResponseWriter, xml.Header)
	_ = xml.NewEncoder(w.ResponseWriter).Encode(e) // if this fails, the client has disconnected
}
