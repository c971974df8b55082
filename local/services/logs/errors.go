package logs

import (
	"errors"
	"io/fs"
	"net/http"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

const codeInvalid = "InvalidParameterException"

func invalid(message string) error { return &aws.Error{Code: codeInvalid, Message: message} }

var (
	errNoGroup = &aws.Error{Code: "ResourceNotFoundException",
		Message: "The specified log group does not exist."}
	errNoStream = &aws.Error{Code: "ResourceNotFoundException",
		Message: "The specified log stream does not exist."}
	errGroupExists = &aws.Error{Code: "ResourceAlreadyExistsException",
		Message: "The specified log group already exists"}
	errStreamExists = &aws.Error{Code: "ResourceAlreadyExistsException",
		Message: "The specified log stream already exists"}
	errNoSubscription = &aws.Error{Code: "ResourceNotFoundException",
		Message: "The specified subscription filter does not exist."}
	errNoMetricFilter = &aws.Error{Code: "ResourceNotFoundException",
		Message: "The specified metric filter does not exist."}
	errNoQuery = &aws.Error{Code: "ResourceNotFoundException",
		Message: "The specified query definition does not exist."}
	errTooMany = &aws.Error{Code: "LimitExceededException", Message: "Resource limit exceeded."}
	errToken   = &aws.Error{Code: codeInvalid, Message: "The specified nextToken is invalid."}
)

// failure converts the store's errors to the API's.
func failure(err error) *aws.Error {
	switch {
	case errors.Is(err, logstore.ErrNoGroup):
		return errNoGroup
	case errors.Is(err, logstore.ErrNoStream):
		return errNoStream
	case errors.As(err, new(*fs.PathError)):
		return &aws.Error{
			Code:    "ServiceUnavailableException",
			Message: "The log groups in the data directory cannot be read or written: " + err.Error(),
			Status:  http.StatusServiceUnavailable,
		}
	}
	return nil
}
