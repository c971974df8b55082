package apierror

import (
	"errors"
	"strings"

	"stepback/aws"
	"stepback/jsonvalue"
)

// New returns an error whose message is text and, in quotes, subject.
func New(code, text, subject string) error {
	return &aws.Error{Code: code, Message: text + ": '" + subject + "'"}
}

// InvalidARN reports an ARN that is malformed or of the wrong kind.
func InvalidARN(why string) error { return New("InvalidArn", "Invalid Arn", why) }

// InvalidName reports a name with characters that names must not have.
func InvalidName(name string) error { return New("InvalidName", "Invalid Name", name) }

const (
	codeNoMachine  = "StateMachineDoesNotExist"
	codeNoActivity = "ActivityDoesNotExist"
)

// NoMachine reports a state machine, version or alias that does not exist.
func NoMachine(arn string) error {
	return New(codeNoMachine, "State Machine Does Not Exist", arn)
}

// NoActivity reports an activity that does not exist.
func NoActivity(arn string) error {
	return New(codeNoActivity, "Activity Does Not Exist", arn)
}

// MachineExists reports a state machine of the same name with another definition or configuration.
func MachineExists(arn string) error {
	return New("StateMachineAlreadyExists", "State Machine Already Exists", arn)
}

// MachineDeleting reports a state machine that is being deleted.
func MachineDeleting(arn string) error {
	return New("StateMachineDeleting", "State Machine is being deleted", arn)
}

// NoExecution reports an execution that does not exist.
func NoExecution(arn string) error {
	return New("ExecutionDoesNotExist", "Execution Does Not Exist", arn)
}

// NotRedrivable reports an execution that cannot be redriven.
func NotRedrivable(reason string) error {
	return &aws.Error{Code: "ExecutionNotRedrivable", Message: reason}
}

// ExecutionExists reports an execution of the same name with another input.
func ExecutionExists(arn string) error {
	return New("ExecutionAlreadyExists", "Execution Already Exists", arn)
}

// InvalidInput reports an execution's invalid input.
func InvalidInput(why string) error {
	return New("InvalidExecutionInput", "Invalid State Machine Execution Input", why)
}

// MalformedInput returns the error for an input that is not JSON; an empty one has a different message.
func MalformedInput(e *jsonvalue.SyntaxError, input string) error {
	if strings.TrimSpace(input) == "" {
		return InvalidInput("Invalid execution input.")
	}
	return InvalidInput(e.Message)
}

// ResourceNotFound reports a resource that does not exist, for operations on resources of several kinds.
func ResourceNotFound(arn string) error {
	return New("ResourceNotFound", "Resource not found", arn)
}

// InvalidLogging reports an invalid loggingConfiguration.
func InvalidLogging(why string) error {
	return &aws.Error{Code: "InvalidLoggingConfiguration", Message: "Invalid Logging Configuration: " + why}
}

// InvalidEncryption reports an invalid encryptionConfiguration.
func InvalidEncryption(why string) error {
	return New("InvalidEncryptionConfiguration", "Invalid Encryption Configuration", why)
}

// InvalidDefinition reports a definition that AWS rejects.
func InvalidDefinition(message string) error {
	return &aws.Error{Code: "InvalidDefinition", Message: message}
}

// Conflict returns a ConflictException, status 409.
func Conflict(message string) error {
	const status = 409
	return &aws.Error{Code: "ConflictException", Message: message, Status: status}
}

// QuotaExceeded returns a ServiceQuotaExceededException, status 402.
func QuotaExceeded(message string) error {
	const status = 402
	return &aws.Error{Code: "ServiceQuotaExceededException", Message: message, Status: status}
}

// These errors have no subject.
var (
	ErrToken         = New("InvalidToken", "Invalid Token", "Invalid token")
	ErrTypeSupported = &aws.Error{
		Code: "StateMachineTypeNotSupported", Message: "This operation is not supported by this type of state machine",
	}
	ErrNoReference = &aws.Error{Code: "ResourceNotFound",
		Message: "Request references a resource that does not exist."}
)

// IsMissing reports whether err means that a state machine or an activity does not exist.
func IsMissing(err error) bool {
	var e *aws.Error
	return errors.As(err, &e) && (e.Code == codeNoMachine || e.Code == codeNoActivity)
}
