package faults

import (
	"encoding/json"
	"net/http"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// serviceErrors are the errors of the Invoke call, in the wording of Lambda. Errors without a status come from the
// client and have its wording.
var serviceErrors = map[string]aws.Error{
	"ServiceException": {Status: http.StatusInternalServerError,
		Message: "Service encountered an internal error."},
	"AWSLambdaException": {Status: http.StatusInternalServerError,
		Message: "We currently do not have sufficient capacity in the region you requested."},
	"SdkClientException":              {Message: "Unable to execute HTTP request: Connection reset by peer"},
	"ClientExecutionTimeoutException": {Message: "Client execution did not complete before the specified timeout configuration"},
	"TooManyRequestsException": {Status: http.StatusTooManyRequests, Message: "Rate Exceeded.",
		Members: map[string]any{"Reason": "ConcurrentInvocationLimitExceeded"}},
	"ThrottledException": {Status: http.StatusTooManyRequests, Message: "Rate Exceeded."},
	"ResourceNotFoundException": {Status: http.StatusNotFound,
		Message: "The resource you requested does not exist."},
	"RequestTooLargeException": {Status: http.StatusRequestEntityTooLarge,
		Message: "Request must be smaller than 6291456 bytes for the InvokeFunction operation"},
	"ResourceNotReadyException": {Status: http.StatusBadGateway,
		Message: "The function is inactive and its VPC connection is no longer available."},
	"EC2ThrottledException": {Status: http.StatusBadGateway,
		Message: "Amazon EC2 throttled the request."},
	"ResourceConflictException": {Status: http.StatusConflict,
		Message: "The resource already exists, or another operation is in progress."},
	"InvalidParameterValueException": {Status: http.StatusBadRequest,
		Message: "One of the parameters in the request is not valid."},
}

func serviceError(code string) error {
	e, known := serviceErrors[code]
	if !known {
		e = aws.Error{Status: http.StatusInternalServerError, Message: "Injected fault Lambda." + code}
	}
	e.Code = code
	return &e
}

// functionMessages are the messages that the functions, or their callees, would return.
var functionMessages = map[string]string{
	"DatabaseConnectionError":         "failed to connect to `host=users.cluster user=app database=users`: dial tcp 10.0.12.34:5432: connect: connection refused",
	"AuroraTemporaryError":            "FATAL: the database system is starting up (SQLSTATE 57P03)",
	"DeadlockException":               "ERROR: deadlock detected (SQLSTATE 40P01)",
	"ConcurrentModificationException": "ERROR: could not serialize access due to concurrent update (SQLSTATE 40001)",
	"OptimisticLockException":         "the row was changed by another writer since it was read",
	"TimeoutError":                    "context deadline exceeded",
	"ConnectionTimeoutError":          "dial tcp 10.0.12.34:5432: connect: connection timed out",
	"SocketTimeoutError":              "read tcp 10.0.1.2:51632->10.0.12.34:5432: i/o timeout",
	"S3.SlowDown":                     "Please reduce your request rate. (Service: S3, Status Code: 503)",
	"S3.ServiceUnavailable":           "Service is unable to handle request. (Service: S3, Status Code: 503)",
	"S3.InternalError":                "We encountered an internal error. Please try again. (Service: S3, Status Code: 500)",
	"States.TaskFailed":               "The task failed.",
	"States.ExecutionLimitExceeded":   "The maximum number of running executions has been reached.",
	"Lambda.Unknown":                  "The cause could not be determined because Lambda did not return an error type.",
	"Sandbox.Timedout":                "Error: Task timed out after 30.00 seconds",
	"Runtime.OutOfMemory":             "Error: Runtime exited with error: signal: killed",
}

func messageOf(errorType string) string {
	if message, known := functionMessages[errorType]; known {
		return message
	}
	return "Injected fault " + errorType
}

// functionError returns the response of a failed function.
func functionError(d draw, errorType, message string) *invocation.Answer {
	payload, err := json.Marshal(struct {
		Message string `json:"errorMessage"`
		Type    string `json:"errorType"`
	}{message, errorType})
	if err != nil {
		panic(err) // two strings are always marshalable
	}
	return &invocation.Answer{
		StatusCode: http.StatusOK, FunctionError: invocation.Unhandled, Payload: payload,
		ExecutedVersion: "$LATEST", RequestID: d.requestID(),
	}
}
