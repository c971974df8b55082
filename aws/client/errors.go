package client

import (
	"fmt"
	"net/http"
	"time"

	"github.com/aws/smithy-go"

	"stepback/jsonvalue"
)

// Error is an error returned by a service.
type Error struct {
	// Shape is the name of the modelled error; empty if the service's model does not contain it.
	Shape string
	// Code is the error code from the model or the response; in older services it is not the shape's name.
	Code string
	// Message is the service's message; empty if there is none.
	Message string
	// Status is the HTTP status code.
	Status int
	// RetryAfter is the pause that the service asks for by the header x-amz-retry-after; 0 if it does not.
	RetryAfter time.Duration
	// RequestID is the service's ID of the request. HostID is S3's second ID. Each is empty if the response has
	// none.
	RequestID, HostID string
	// Document is the modelled error; null if the error is not modelled.
	Document jsonvalue.Value
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (status %d, request %s)", e.Code, e.Message, e.Status, e.RequestID)
}

// ErrorCode returns the error code. ErrorCode, ErrorMessage and ErrorFault implement smithy.APIError.
// HTTPStatusCode exists in the SDK's own errors. Retryers and classifications written for the SDK therefore accept
// this error as well.
func (e *Error) ErrorCode() string { return e.Code }

// ErrorMessage returns the service's message.
func (e *Error) ErrorMessage() string { return e.Message }

// ErrorFault returns the side at fault, derived from the status.
func (e *Error) ErrorFault() smithy.ErrorFault {
	if e.Status >= http.StatusInternalServerError {
		return smithy.FaultServer
	}
	return smithy.FaultClient
}

// HTTPStatusCode returns the HTTP status code.
func (e *Error) HTTPStatusCode() int { return e.Status }

// AnswerError reports that a response does not match the service's model.
type AnswerError struct {
	Service, Operation string
	// Status is the HTTP status code.
	Status int
	// Why describes the problem with the response.
	Why string
}

// Error implements error.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("the answer to %s:%s (status %d) is not what its API says: %s", e.Service, e.Operation, e.Status,
		e.Why)
}

// UnsupportedError reports that an operation cannot be called.
type UnsupportedError struct{ Service, Operation, Why string }

// Error implements error.
func (e *UnsupportedError) Error() string {
	return "The action " + e.Operation + " of the service " + e.Service + " cannot be called: it " + e.Why
}
