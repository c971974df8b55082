package awsjson

import (
	"fmt"
	"net/http"
)

// Error is an error as a client sees it.
type Error struct {
	// Code is the error's name, such as ValidationException; Message is what it says.
	Code, Message string
	// Status is the HTTP status; 0 means 400.
	Status int
	// Reason is the member of that name that some errors carry; empty means none.
	Reason string
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

func (e *Error) status() int {
	if e.Status == 0 {
		return http.StatusBadRequest
	}
	return e.Status
}

const codeInvalid = "ValidationException"

// Invalid returns the ValidationException of a request that breaks a constraint.
func Invalid(message string) *Error { return &Error{Code: codeInvalid, Message: message} }

func tooLarge(limit int64) *Error {
	return &Error{
		Code: "RequestEntityTooLargeException", Message: fmt.Sprintf("Request size exceeded %d bytes", limit),
		Status: http.StatusRequestEntityTooLarge,
	}
}

func malformed(message string) *Error {
	return &Error{Code: "SerializationException", Message: message}
}

var (
	unknownOperation = &Error{Code: "UnknownOperationException"}
	tooSlow          = &Error{Code: "RequestTimeoutException", Message: "The body of the request did not come in time.",
		Status: http.StatusRequestTimeout}
	internal = &Error{Code: "InternalFailure",
		Message: "The request processing has failed because of an internal error.",
		Status:  http.StatusInternalServerError}
)
