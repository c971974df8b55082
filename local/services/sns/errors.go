package sns

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"stepback/aws"
	"stepback/local/services/documents"
)

var (
	errNoTopic        = &aws.Error{Code: "NotFound", Message: "Topic does not exist", Status: http.StatusNotFound}
	errNoSubscription = &aws.Error{Code: "NotFound", Message: "Subscription does not exist", Status: http.StatusNotFound}
	errNoResource     = &aws.Error{Code: "ResourceNotFound", Message: "Resource does not exist",
		Status: http.StatusNotFound}
)

// invalid returns the error for an invalid parameter.
func invalid(format string, args ...any) *aws.Error {
	return &aws.Error{Code: "InvalidParameter", Message: "Invalid parameter: " + fmt.Sprintf(format, args...)}
}

// invalidValue returns the error for an invalid message attribute.
func invalidValue(format string, args ...any) *aws.Error {
	return &aws.Error{Code: "ParameterValueInvalid", Message: fmt.Sprintf(format, args...)}
}

// notServed returns the error for a feature that AWS has and this service does not.
func notServed(format string, args ...any) *aws.Error {
	return &aws.Error{Code: "NotImplemented", Status: http.StatusNotImplemented, Message: fmt.Sprintf(format, args...)}
}

func internal(what string, err error) *aws.Error {
	return &aws.Error{Code: "InternalError", Status: http.StatusInternalServerError, Message: what + ": " + err.Error()}
}

// failure converts errors of the disk to errors that clients may see.
func failure(err error) *aws.Error {
	if errors.Is(err, documents.ErrBroken) || errors.Is(err, documents.ErrClosed) {
		return internal("The topics in the data directory cannot be read or written", err)
	}
	return nil
}

// byClient reports whether err is permanent, so that a retry would fail in the same way.
func byClient(err error) bool {
	var e *aws.Error
	return errors.As(err, &e) && !e.ByServer() && e.HTTPStatus() != http.StatusTooManyRequests
}

// parseARN parses the ARN in a parameter.
func parseARN(parameter, text string) (aws.ARN, error) {
	if text == "" {
		return aws.ARN{}, invalid("%s Reason: no value for required parameter", parameter)
	}
	a, ok := aws.ParseARN(text)
	if !ok {
		return a, invalid("%s Reason: An ARN must have at least 6 elements, not %d", parameter,
			strings.Count(text, ":")+1)
	}
	return a, nil
}
