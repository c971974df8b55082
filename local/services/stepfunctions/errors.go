package stepfunctions

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/journal"
	"stepback/jsonvalue"
)

func failure(code, text, subject string) error {
	return &aws.Error{Code: code, Message: text + ": '" + subject + "'"}
}

func invalidARN(why string) error { return failure("InvalidArn", "Invalid Arn", why) }

func invalidName(name string) error { return failure("InvalidName", "Invalid Name", name) }

const (
	codeNoMachine  = "StateMachineDoesNotExist"
	codeNoActivity = "ActivityDoesNotExist"
)

func noMachine(arn string) error {
	return failure(codeNoMachine, "State Machine Does Not Exist", arn)
}

func noActivity(arn string) error {
	return failure(codeNoActivity, "Activity Does Not Exist", arn)
}

func machineExists(arn string) error {
	return failure("StateMachineAlreadyExists", "State Machine Already Exists", arn)
}

func machineDeleting(arn string) error {
	return failure("StateMachineDeleting", "State Machine is being deleted", arn)
}

func noExecution(arn string) error {
	return failure("ExecutionDoesNotExist", "Execution Does Not Exist", arn)
}

func notRedrivable(reason string) error {
	return &aws.Error{Code: "ExecutionNotRedrivable", Message: reason}
}

func executionExists(arn string) error {
	return failure("ExecutionAlreadyExists", "Execution Already Exists", arn)
}

func invalidInput(why string) error {
	return failure("InvalidExecutionInput", "Invalid State Machine Execution Input", why)
}

// malformedInput returns the error for an input that is not JSON; an empty one has a different message.
func malformedInput(e *jsonvalue.SyntaxError, input string) error {
	if strings.TrimSpace(input) == "" {
		return invalidInput(jsonvalue.Empty)
	}
	return invalidInput(e.Message)
}

func resourceNotFound(arn string) error {
	return failure("ResourceNotFound", "Resource not found", arn)
}

func invalidLogging(why string) error {
	return &aws.Error{Code: "InvalidLoggingConfiguration", Message: "Invalid Logging Configuration: " + why}
}

func invalidEncryption(why string) error {
	return failure("InvalidEncryptionConfiguration", "Invalid Encryption Configuration", why)
}

func invalidDefinition(message string) error {
	return &aws.Error{Code: "InvalidDefinition", Message: message}
}

// unavailable returns the error for a write that cannot be stored now, which clients retry. It returns nil for other
// errors.
func unavailable(err error) *aws.Error {
	var why string
	switch {
	case errors.Is(err, journal.ErrDiskFull), errors.Is(err, syscall.ENOSPC):
		why = "The disk of the data directory is full; make room. What was acknowledged is kept."
	case errors.Is(err, journal.ErrBroken):
		why = "The disk of the data directory refused a write. What was acknowledged is kept; when the disk is well again, start stepback again."
	case errors.Is(err, journal.ErrClosed), errors.Is(err, engine.ErrClosed),
		errors.Is(err, context.Canceled): // by the server, if the client has not cancelled
		why = "The server is shutting down."
	default:
		return nil
	}
	return &aws.Error{Code: "ServiceUnavailable", Message: why, Status: http.StatusServiceUnavailable}
}

func conflict(message string) error {
	const status = 409
	return &aws.Error{Code: "ConflictException", Message: message, Status: status}
}

func quotaExceeded(message string) error {
	const status = 402
	return &aws.Error{Code: "ServiceQuotaExceededException", Message: message, Status: status}
}

var (
	errToken         = failure("InvalidToken", "Invalid Token", "Invalid token")
	errTypeSupported = &aws.Error{
		Code: "StateMachineTypeNotSupported", Message: "This operation is not supported by this type of state machine",
	}
	errNoReference = &aws.Error{Code: "ResourceNotFound",
		Message: "Request references a resource that does not exist."}
)
