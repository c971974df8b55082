package functions

import (
	"fmt"
	"net/http"

	"stepback/aws"
)

func invalid(format string, args ...any) error {
	return &aws.Error{Code: "InvalidParameterValueException", Message: fmt.Sprintf(format, args...),
		Status: http.StatusBadRequest}
}

func conflict(format string, args ...any) error {
	return &aws.Error{Code: "ResourceConflictException", Message: fmt.Sprintf(format, args...),
		Status: http.StatusConflict}
}

func notFound(format string, args ...any) error {
	return &aws.Error{Code: "ResourceNotFoundException", Message: fmt.Sprintf(format, args...),
		Status: http.StatusNotFound}
}

func stale() error {
	return &aws.Error{
		Code: "PreconditionFailedException", Status: http.StatusPreconditionFailed,
		Message: "The Revision Id provided does not match the latest Revision Id. Call the GetFunction/GetAlias API to retrieve the latest Revision Id",
	}
}
