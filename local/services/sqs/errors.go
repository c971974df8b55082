package sqs

import (
	"errors"
	"fmt"
	"net/http"

	"stepback/aws"
	"stepback/local/services/documents"
	"stepback/local/services/sqs/queue"
)

const (
	codeValue = "InvalidParameterValueException"
	// queryPrefix is the prefix of some error codes for clients of the Query protocol.
	queryPrefix = "AWS.SimpleQueueService."
)

// queryCodes maps errors to their codes in the Query protocol, if the code is not the name of the shape.
var queryCodes = map[string]string{
	codeValue: "InvalidParameterValue", "MissingRequiredParameterException": "MissingParameter",
	"QueueDoesNotExist": queryPrefix + "NonExistentQueue", "QueueNameExists": "QueueAlreadyExists",
	"BatchEntryIdsNotDistinct":     queryPrefix + "BatchEntryIdsNotDistinct",
	"BatchRequestTooLong":          queryPrefix + "BatchRequestTooLong",
	"EmptyBatchRequest":            queryPrefix + "EmptyBatchRequest",
	"InvalidBatchEntryId":          queryPrefix + "InvalidBatchEntryId",
	"MessageNotInflight":           queryPrefix + "MessageNotInflight",
	"PurgeQueueInProgress":         queryPrefix + "PurgeQueueInProgress",
	"TooManyEntriesInBatchRequest": queryPrefix + "TooManyEntriesInBatchRequest",
	"UnsupportedOperation":         queryPrefix + "UnsupportedOperation",
	"ServiceUnavailableException":  "ServiceUnavailable",
}

var (
	errNoQueue = &aws.Error{Code: "QueueDoesNotExist", Message: "The specified queue does not exist."}
	// errOverLimit is returned only for short polls, because long polls keep waiting.
	errOverLimit = &aws.Error{Code: "OverLimit", Status: http.StatusForbidden,
		Message: fmt.Sprintf("The maximum number of in flight messages is reached: %d", queue.MaxInFlight)}
	errTask = &aws.Error{Code: "ResourceNotFoundException", Status: http.StatusNotFound,
		Message: "Task does not exist."}
)

// invalid returns the error for an invalid value.
func invalid(format string, args ...any) *aws.Error {
	return &aws.Error{Code: codeValue, Message: fmt.Sprintf(format, args...)}
}

// invalidValue returns the error for an invalid value of a parameter.
func invalidValue(value any, parameter, reason string) *aws.Error {
	return invalid("Value %v for parameter %s is invalid. Reason: %s", value, parameter, reason)
}

func missing(parameter string) *aws.Error {
	return &aws.Error{Code: "MissingRequiredParameterException",
		Message: "The request must contain the parameter " + parameter + "."}
}

func unsupported(message string) *aws.Error {
	return &aws.Error{Code: "UnsupportedOperation", Message: message}
}

func noResource(parameter string) *aws.Error {
	return &aws.Error{Code: "ResourceNotFoundException", Status: http.StatusNotFound,
		Message: "The resource that you specified for the " + parameter + " parameter doesn't exist."}
}

// failure converts errors of the disk to errors that clients may see.
func failure(err error) *aws.Error {
	if errors.Is(err, documents.ErrBroken) || errors.Is(err, documents.ErrClosed) {
		return &aws.Error{Code: "ServiceUnavailableException", Status: http.StatusServiceUnavailable,
			Message: "The queues in the data directory cannot be read or written: " + err.Error()}
	}
	return nil
}
