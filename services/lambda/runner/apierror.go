package runner

import (
	"fmt"
	"net/http"
)

// APIError is an error of the Invoke call itself, as opposed to one of the function. Code is Lambda's error code; a
// state machine sees it as "Lambda." + Code.
type APIError struct {
	Code       string
	Message    string
	StatusCode int
	// Reason says which limit throttled a call (TooManyRequestsException only).
	Reason string
}

func (e *APIError) Error() string {
	return fmt.Sprintf("%s: %s (status %d)", e.Code, e.Message, e.StatusCode)
}

func notFound(arn string) *APIError {
	return &APIError{Code: "ResourceNotFoundException", Message: "Function not found: " + arn,
		StatusCode: http.StatusNotFound}
}

func invalidParameter(format string, args ...any) *APIError {
	return &APIError{Code: "InvalidParameterValueException", Message: fmt.Sprintf(format, args...),
		StatusCode: http.StatusBadRequest}
}

func invalidContent(reason string) *APIError {
	return &APIError{Code: "InvalidRequestContentException", Message: "Could not parse request body into json: " +
		reason, StatusCode: http.StatusBadRequest}
}

func requestTooLarge() *APIError {
	return &APIError{
		Code: "RequestTooLargeException", StatusCode: http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("Request must be smaller than %d bytes for the InvokeFunction operation", MaxRequestBytes),
	}
}

// throttled names the limit: one that was reserved for the function, or the account's.
func throttled(most int64) *APIError {
	reason := "ReservedFunctionConcurrentInvocationLimitExceeded"
	if most == DefaultConcurrency {
		reason = "ConcurrentInvocationLimitExceeded"
	}
	return &APIError{Code: "TooManyRequestsException", Message: "Rate Exceeded.",
		StatusCode: http.StatusTooManyRequests, Reason: reason}
}

func serviceClosed() *APIError {
	return &APIError{Code: "ServiceException", Message: "The Lambda service has been closed",
		StatusCode: http.StatusInternalServerError}
}
