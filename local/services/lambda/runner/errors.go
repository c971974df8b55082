package runner

import (
	"fmt"
	"net/http"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

func notFound(arn string) error {
	return &aws.Error{Code: "ResourceNotFoundException", Message: "Function not found: " + arn,
		Status: http.StatusNotFound}
}

func invalidContent(reason string) error {
	return &aws.Error{Code: "InvalidRequestContentException", Message: "Could not parse request body into json: " +
		reason, Status: http.StatusBadRequest}
}

// RequestTooLarge returns the error for a payload larger than MaxRequestBytes.
func RequestTooLarge() *aws.Error {
	return &aws.Error{
		Code: "RequestTooLargeException", Status: http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("Request must be smaller than %d bytes for the InvokeFunction operation",
			invocation.MaxRequestBytes),
	}
}

// throttled returns the throttling error. most, the function's maximum concurrency, determines the reason: the
// function's reserved concurrency, or the account's limit.
func throttled(most int64) error {
	reason := "ReservedFunctionConcurrentInvocationLimitExceeded"
	if most == DefaultConcurrency {
		reason = "ConcurrentInvocationLimitExceeded"
	}
	return &aws.Error{Code: "TooManyRequestsException", Message: "Rate Exceeded.",
		Status: http.StatusTooManyRequests, Members: map[string]any{"Reason": reason}}
}

func serviceClosed() error {
	return &aws.Error{Code: "ServiceException", Message: "The Lambda service has been closed",
		Status: http.StatusInternalServerError}
}
