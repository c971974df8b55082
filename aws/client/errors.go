package client

import (
	"fmt"
	"net/http"

	"github.com/aws/smithy-go"

	"stepback/jsonvalue"
)

// Error is an error that a service answered with.
type Error struct {
	// Shape is the name of the modelled error; empty for one that the service's model does not have.
	Shape string
	// Code is the error's code: that of the model or of the answer, in older services not the shape's name.
	Code string
	// Message is the service's; empty when there is none.
	Message string
	// Status is that of HTTP.
	Status int
	// RequestID is how the service calls the request, HostID S3's second name for it; empty when they were not told.
	RequestID, HostID string
	// Document is the modelled error; null for one that is not modelled.
	Document jsonvalue.Value
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (status %d, request %s)", e.Code, e.Message, e.Status, e.RequestID)
}

// ErrorCode, ErrorMessage and ErrorFault implement smithy.APIError, and HTTPStatusCode is what the SDK's own errors have:
// retryers and classifications written for the SDK take this error as well.
func (e *Error) ErrorCode() string { return e.Code }

// ErrorMessage is the service's message.
func (e *Error) ErrorMessage() string { return e.Message }

// ErrorFault is the side at fault, by the status.
func (e *Error) ErrorFault() smithy.ErrorFault {
	if e.Status >= http.StatusInternalServerError {
		return smithy.FaultServer
	}
	return smithy.FaultClient
}

// HTTPStatusCode is the status of HTTP.
func (e *Error) HTTPStatusCode() int { return e.Status }

// AnswerError says that an answer is not what the model of the service says.
type AnswerError struct {
	Service, Operation string
	// Status is that of HTTP.
	Status int
	// Why is what is wrong with the answer.
	Why string
}

// Error implements error.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("the answer to %s:%s (status %d) is not what its API says: %s", e.Service, e.Operation, e.Status,
		e.Why)
}

// UnsupportedError says that an operation cannot be called.
type UnsupportedError struct{ Service, Operation, Why string }

// Error implements error.
func (e *UnsupportedError) Error() string {
	return "The action " + e.Operation + " of the service " + e.Service + " cannot be called: it " + e.Why
}
