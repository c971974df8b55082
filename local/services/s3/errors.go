package s3

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"stepback/aws"
)

// statuses holds the HTTP statuses of S3's error codes; the status of all others is 400.
var statuses = map[string]int{
	"AccessDenied":                                   http.StatusForbidden,
	"AccessForbidden":                                http.StatusForbidden,
	"AllAccessDisabled":                              http.StatusForbidden,
	"BucketAlreadyExists":                            http.StatusConflict,
	"BucketAlreadyOwnedByYou":                        http.StatusConflict,
	"BucketNotEmpty":                                 http.StatusConflict,
	"ConditionalRequestConflict":                     http.StatusConflict,
	"InternalError":                                  http.StatusInternalServerError,
	"InvalidAccessKeyId":                             http.StatusForbidden,
	"InvalidBucketState":                             http.StatusConflict,
	"InvalidObjectState":                             http.StatusForbidden,
	"InvalidRange":                                   http.StatusRequestedRangeNotSatisfiable,
	"MethodNotAllowed":                               http.StatusMethodNotAllowed,
	"MissingContentLength":                           http.StatusLengthRequired,
	"NoSuchBucket":                                   http.StatusNotFound,
	"NoSuchBucketPolicy":                             http.StatusNotFound,
	"NoSuchCORSConfiguration":                        http.StatusNotFound,
	"NoSuchKey":                                      http.StatusNotFound,
	"NoSuchLifecycleConfiguration":                   http.StatusNotFound,
	"NoSuchObjectLockConfiguration":                  http.StatusNotFound,
	"NoSuchPublicAccessBlockConfiguration":           http.StatusNotFound,
	"NoSuchTagSet":                                   http.StatusNotFound,
	"NoSuchUpload":                                   http.StatusNotFound,
	"NoSuchVersion":                                  http.StatusNotFound,
	"NoSuchWebsiteConfiguration":                     http.StatusNotFound,
	"NotImplemented":                                 http.StatusNotImplemented,
	"ObjectLockConfigurationNotFoundError":           http.StatusNotFound,
	"OperationAborted":                               http.StatusConflict,
	"OwnershipControlsNotFoundError":                 http.StatusNotFound,
	"PreconditionFailed":                             http.StatusPreconditionFailed,
	"ReplicationConfigurationNotFoundError":          http.StatusNotFound,
	"RequestTimeTooSkewed":                           http.StatusForbidden,
	"RestoreAlreadyInProgress":                       http.StatusConflict,
	"ServerSideEncryptionConfigurationNotFoundError": http.StatusNotFound,
	"SignatureDoesNotMatch":                          http.StatusForbidden,
	StorageFull:                                      http.StatusInternalServerError,
}

// members are the further elements of an error, by name.
type members = map[string]any

// fail returns an error with the status of its code. others holds its further elements; it may be nil.
func fail(code, message string, others members) *aws.Error {
	return &aws.Error{Code: code, Message: message, Status: statuses[code], Members: others}
}

// isCode reports whether err is an error of S3 with a code.
func isCode(err error, code string) bool {
	if err == nil {
		return false
	}
	var e *aws.Error
	return errors.As(err, &e) && e.Code == code
}

func notImplemented(message string) *aws.Error { return fail("NotImplemented", message, nil) }

func accessDenied() *aws.Error { return fail("AccessDenied", "Access Denied", nil) }

func noSuchBucket(bucket string) *aws.Error {
	return fail("NoSuchBucket", "The specified bucket does not exist", members{"BucketName": bucket})
}

func noSuchKey(key string) *aws.Error {
	return fail("NoSuchKey", "The specified key does not exist.", members{"Key": key})
}

func noSuchVersion(key, id string) *aws.Error {
	return fail("NoSuchVersion", "The specified version does not exist.", members{"Key": key, "VersionId": id})
}

func noSuchUpload(id string) *aws.Error {
	return fail("NoSuchUpload", "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.",
		members{"UploadId": id})
}

func invalidArgument(name, value, message string) *aws.Error {
	return fail("InvalidArgument", message, members{"ArgumentName": name, "ArgumentValue": value})
}

func malformedXML() *aws.Error {
	return fail("MalformedXML", "The XML you provided was not well-formed or did not validate against our published schema", nil)
}

func methodNotAllowed(method, resource string) *aws.Error {
	return fail("MethodNotAllowed", "The specified method is not allowed against this resource.",
		members{"Method": method, "ResourceType": resource})
}

// conditionFailed returns the error of a precondition, which is named as its header is.
func conditionFailed(condition string) *aws.Error {
	return fail("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", members{"Condition": condition})
}

// errorElement is the XML of an error.
type errorElement struct {
	XMLName   xml.Name `xml:"Error"`
	Code      string
	Message   string
	Members   []namedElement
	RequestID string `xml:"RequestId,omitempty"`
	HostID    string `xml:"HostId,omitempty"`
}

// namedElement is an element with a text.
type namedElement struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
}

// writeError responds with an error.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	var e *aws.Error
	if !errors.As(err, &e) {
		e = fail("InternalError", err.Error(), nil)
	}
	h := w.Header()
	for _, name := range []string{"Content-Length", "Content-Range", "Content-Encoding", "Content-Disposition", "Content-Language",
		"Cache-Control", "Accept-Ranges"} {
		h.Del(name)
	}
	status := e.HTTPStatus()
	if r.Method == http.MethodHead || status == http.StatusNotModified {
		w.WriteHeader(status)
		return
	}
	out := errorElement{Code: e.Code, Message: e.Message, RequestID: h.Get(requestIDHeader), HostID: h.Get("X-Amz-Id-2")}
	for name, value := range e.Members {
		out.Members = append(out.Members, namedElement{xml.Name{Local: name}, fmt.Sprint(value)})
	}
	slices.SortFunc(out.Members, func(a, b namedElement) int {
		return strings.Compare(a.XMLName.Local,
			b.XMLName.Local)
	})
	h.Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprint(w, xml.Header)
	_ = xml.NewEncoder(w).Encode(out) // if this fails, the client has disconnected
}
