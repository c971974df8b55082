package server

import (
	"fmt"
	"net/http"

	"stepback/aws"
	"stepback/aws/model"
)

const codeInvalid = "ValidationException"

// Invalid returns the ValidationException for a request that violates a constraint.
func Invalid(message string) *aws.Error { return &aws.Error{Code: codeInvalid, Message: message} }

func tooLarge(limit int64) *aws.Error {
	return &aws.Error{
		Code: "RequestEntityTooLargeException", Message: fmt.Sprintf("Request size exceeded %d bytes", limit),
		Status: http.StatusRequestEntityTooLarge,
	}
}

func malformed(message string) *aws.Error {
	return &aws.Error{Code: codeMalformed, Message: message}
}

// unreadable reports that a body is not in the protocol's format.
type unreadable struct{ reason string }

// Error implements error.
func (u *unreadable) Error() string { return u.reason }

const codeMalformed = "SerializationException"

// codeNotImplemented is the code of the errors for operations and members that this server does not implement.
const codeNotImplemented = "NotImplemented"

// notServed returns the error for an operation that the service has but that is not implemented here.
func notServed(m *model.Service, operation string) *aws.Error {
	return &aws.Error{
		Code: codeNotImplemented, Status: http.StatusNotImplemented,
		Message: fmt.Sprintf("The operation %s of %s is not served here. Those that are: stepback services %s, "+
			"docs/services.md.", operation, m.ID, m.Name),
	}
}

// unknown returns the error for an operation that the model does not have. It carries AWS's code and status, and says
// where to find the operations.
func (s *Service) unknown(name, code string, status int) *aws.Error {
	return &aws.Error{Code: code, Status: status, Message: fmt.Sprintf("%s has no operation %s that is known here. "+
		"Those that are served: stepback services %s, docs/services.md.", s.model.ID, name, s.model.Name)}
}

const codeUnknown = "UnknownOperationException"

// wrongProtocol returns the error for a request that does not name its operation as the JSON protocol requires.
func (s *Service) wrongProtocol(r *http.Request) *aws.Error {
	return &aws.Error{Code: codeUnknown, Message: fmt.Sprintf("%s is asked by POST with Content-Type: %s%s and X-Amz-Target: "+
		"%s.OPERATION; this is %s with Content-Type: %.100s and X-Amz-Target: %.100s. The Query protocol is not spoken here.", s.model.ID, mediaJSON,
		s.model.JSONVersion, s.model.TargetPrefix, r.Method, r.Header.Get("Content-Type"), r.Header.Get("X-Amz-Target"))}
}

var (
	tooSlow = &aws.Error{Code: "RequestTimeoutException",
		Message: "The body of the request did not come in time.", Status: http.StatusRequestTimeout}
	internal = &aws.Error{Code: "InternalFailure",
		Message: "The request processing has failed because of an internal error.",
		Status:  http.StatusInternalServerError}
)
