package expression

import (
	"errors"

	"stepback/asl/jsonata"
	"stepback/jsonvalue"
)

// expression is a single {% … %}.
type expression struct {
	place string
	text  string // trimmed, for messages
	code  *jsonata.Expression
}

func (e *expression) eval(env jsonata.Env) (jsonvalue.Value, error) {
	result, err := e.code.Eval(env)
	switch {
	case internal(err) != "":
		return jsonvalue.Value{}, e.failure("threw an internal error during evaluation. " + internal(err))
	case err != nil:
		return jsonvalue.Value{}, e.failure("threw an error during evaluation" + described(err))
	case result.Kind() == jsonata.Undefined:
		return jsonvalue.Value{}, e.failure("returned nothing (undefined).")
	case result.Kind() == jsonata.Function:
		return jsonvalue.Value{}, e.failure("returned an unsupported result type.")
	default:
		return result.Value(), nil
	}
}

func (e *expression) failure(problem string) *Error {
	return &Error{Field: e.place, Expression: e.text, Problem: problem}
}

// limitExceeded is the code of the error for an expression that exceeded a limit. The service reports such errors
// without a code.
const limitExceeded = "U1001"

// described returns the part of a message that describes an error: ". CODE: message", or ": message" if there is no
// code.
func described(err error) string {
	var e *jsonata.Error
	if errors.As(err, &e) && e.Code != "" && e.Code != limitExceeded {
		return ". " + e.Code + ": " + e.Message
	}
	return ": " + err.Error()
}

// internal returns the ID of an error that the service calls internal; empty for all others.
func internal(err error) string {
	var e *jsonata.Error
	if errors.As(err, &e) && e.Code == jsonata.InternalError {
		return e.Message
	}
	return ""
}

// Error reports why a field has no value, in the service's wording.
type Error struct {
	// Field is the path in the state, such as Output/orders[0]: the location of an EvaluationFailed event.
	Field string
	// Expression is the trimmed text between {% and %}.
	Expression string
	// Problem describes the problem. It forms the end of the message.
	Problem string
}

// Error implements error.
func (e *Error) Error() string {
	return "The JSONata expression '" + e.Expression + "' specified for the field '" + e.Field + "' " + e.Problem
}
