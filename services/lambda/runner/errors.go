package runner

import (
	"fmt"
	"net/http"

	"stepback/services/lambda/invocation"
)

func notFound(arn string) error {
	return &invocation.Error{Code: "ResourceNotFoundException", Message: "Function not found: " + arn,
		StatusCode: http.StatusNotFound}
}

func invalidContent(reason string) error {
	return &invocation.Error{Code: "InvalidRequestContentException", Message: "Could not parse request body into json: " +
		reason, StatusCode: http.StatusBadRequest}
}

func requestTooLarge() error {
	return &invocation.Error{
		Code: "RequestTooLargeException", StatusCode: http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf("Request must be smaller than %d bytes for the InvokeFunction operation", invocation.MaxRequestBytes),
	}
}

// throttled names the limit: one that was reserved for the function, or the account's.
func throttled(most int64) error {
	reason := "ReservedFunctionConcurrentInvocationLimitExceeded"
	if most == DefaultConcurrency {
		reason = "ConcurrentInvocationLimitExceeded"
	}
	return &invocation.Error{Code: "TooManyRequestsException", Message: "Rate Exceeded.",
		StatusCode: http.StatusTooManyRequests, Reason: reason}
}

func serviceClosed() error {
	return &invocation.Error{Code: "ServiceException", Message: "The Lambda service has been closed",
		StatusCode: http.StatusInternalServerError}
}
