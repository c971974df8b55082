package stepfunctions

import "stepback/awsapi/awsjson"

func failure(code, text, subject string) error {
	return &awsjson.Error{Code: code, Message: text + ": '" + subject + "'"}
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

func executionExists(arn string) error {
	return failure("ExecutionAlreadyExists", "Execution Already Exists", arn)
}

func invalidInput(why string) error {
	return failure("InvalidExecutionInput", "Invalid State Machine Execution Input", why)
}

func resourceNotFound(arn string) error {
	return failure("ResourceNotFound", "Resource not found", arn)
}

func invalidLogging(why string) error {
	return &awsjson.Error{Code: "InvalidLoggingConfiguration", Message: "Invalid Logging Configuration: " + why}
}

func invalidDefinition(message string) error {
	return &awsjson.Error{Code: "InvalidDefinition", Message: message}
}

func conflict(message string) error {
	const status = 409
	return &awsjson.Error{Code: "ConflictException", Message: message, Status: status}
}

func quotaExceeded(message string) error {
	const status = 402
	return &awsjson.Error{Code: "ServiceQuotaExceededException", Message: message, Status: status}
}

var (
	errToken         = failure("InvalidToken", "Invalid Token", "Invalid token")
	errTypeSupported = &awsjson.Error{
		Code: "StateMachineTypeNotSupported", Message: "This operation is not supported by this type of state machine",
	}
	errNoReference = &awsjson.Error{Code: "ResourceNotFound", Message: "Request references a resource that does not exist."}
)
