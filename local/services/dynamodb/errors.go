package dynamodb

import (
	"errors"
	"fmt"
	"net/http"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/item"
)

const invalidParameter = "One or more parameter values were invalid: "

// invalid returns a ValidationException.
func invalid(message string) *aws.Error { return server.Invalid(message) }

func invalidf(format string, args ...any) *aws.Error { return invalid(fmt.Sprintf(format, args...)) }

func noTable(name string) *aws.Error {
	return &aws.Error{Code: "ResourceNotFoundException", Message: "Requested resource not found: Table: " + name +
		" not found"}
}

var errNoTable = &aws.Error{Code: "ResourceNotFoundException", Message: "Requested resource not found"}

func inUse(message string) *aws.Error {
	return &aws.Error{Code: "ResourceInUseException", Message: message}
}

// unsupported returns an error that names an unsupported feature.
func unsupported(what string) *aws.Error {
	return invalidf("%s is not supported by this DynamoDB.", what)
}

func missing(member string) *aws.Error {
	return invalidf("The parameter '%s' is required but was not present in the request", member)
}

// failure converts internal errors to errors for clients.
func failure(err error) *aws.Error {
	var message item.Invalid
	switch {
	case errors.As(err, &message):
		return server.Invalid(string(message))
	case errors.Is(err, item.ErrBase64):
		return &aws.Error{Code: "SerializationException", Message: "Invalid base64 character"}
	case errors.Is(err, documents.ErrBroken), errors.Is(err, documents.ErrClosed):
		return &aws.Error{Code: "InternalServerError", Status: http.StatusInternalServerError,
			Message: "The tables in the data directory cannot be read or written: " + err.Error()}
	}
	return nil
}

// failureOf returns the client error within an error; nil if there is none.
func failureOf(err error) *aws.Error {
	var e *aws.Error
	if errors.As(err, &e) {
		return e
	}
	return failure(err)
}
