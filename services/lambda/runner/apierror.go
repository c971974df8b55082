package runner

import (
	"fmt"
	"net/http"

	"stepback/aws"
)

// The refusals of the Invoke call itself, as opposed to errors of a function. A state machine sees their codes behind
// "Lambda.".

func notFound(arn string) *aws.Error {
	return &aws.Error{Code: "ResourceNotFoundException", Message: "Function not found: " + arn,
		Status: http.StatusNotFound}
}

func invalidParameter(format string, args ...any) *aws.Error {
	return &aws.Error{Code: "InvalidParameterValueException", Message: fmt.Sprintf(format, args...),
		Status: http.StatusBadRequest}
}

func invalidContent(reason string) *aws.Error {
	return &aws.Error{Code: "InvalidRequestContentException", Message: "Could not parse request body into json: " +
		reason, Status: http.StatusBadRequest}
}

func requestTooLarge() *aws.Error {
	return &aws.Error{
		Code: "RequestTooLargeException", Status: http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("Request must be smaller than %d bytes for the InvokeFunction operation", MaxRequestBytes),
	}
}

// throttled names the limit: one that was reserved for the function, or the account's.
func throttled(most int64) *aws.Error {
	reason := "ReservedFunctionConcurrentInvocationLimitExceeded"
	if most == DefaultConcurrency {
		reason = "ConcurrentInvocationLimitExceeded"
	}
	return &aws.Error{Code: "TooManyRequestsException", Message: "Rate Exceeded.",
		Status: http.StatusTooManyRequests, Members: map[string]any{"Reason": reason}}
}

func serviceClosed() *aws.Error {
	return &aws.Error{Code: "ServiceException", Message: "The Lambda service has been closed",
		Status: http.StatusInternalServerError}
}
