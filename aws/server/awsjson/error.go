package awsjson

import (
	"fmt"
	"net/http"

	"stepback/aws"
)

const codeInvalid = "ValidationException"

// Invalid returns the ValidationException of a request that breaks a constraint.
func Invalid(message string) *aws.Error { return &aws.Error{Code: codeInvalid, Message: message} }

func tooLarge(limit int64) *aws.Error {
	return &aws.Error{
		Code: "RequestEntityTooLargeException", Message: fmt.Sprintf("Request size exceeded %d bytes", limit),
		Status: http.StatusRequestEntityTooLarge,
	}
}

func malformed(message string) *aws.Error {
	return &aws.Error{Code: "SerializationException", Message: message}
}

var (
	unknownOperation = &aws.Error{Code: "UnknownOperationException"}
	tooSlow          = &aws.Error{Code: "RequestTimeoutException", Message: "The body of the request did not come in time.",
		Status: http.StatusRequestTimeout}
	internal = &aws.Error{Code: "InternalFailure",
		Message: "The request processing has failed because of an internal error.",
		Status:  http.StatusInternalServerError}
)
