package functions

import (
	"fmt"
	"net/http"

	"stepback/services/lambda/runner"
)

func invalid(format string, args ...any) error {
	return &runner.APIError{Code: "InvalidParameterValueException", Message: fmt.Sprintf(format, args...),
		StatusCode: http.StatusBadRequest}
}

func conflict(format string, args ...any) error {
	return &runner.APIError{Code: "ResourceConflictException", Message: fmt.Sprintf(format, args...),
		StatusCode: http.StatusConflict}
}

func notFound(format string, args ...any) error {
	return &runner.APIError{Code: "ResourceNotFoundException", Message: fmt.Sprintf(format, args...),
		StatusCode: http.StatusNotFound}
}

func stale() error {
	return &runner.APIError{
		Code: "PreconditionFailedException", StatusCode: http.StatusPreconditionFailed,
		Message: "The Revision Id provided does not match the latest Revision Id. Call the GetFunction/GetAlias API to retrieve the latest Revision Id",
	}
}
