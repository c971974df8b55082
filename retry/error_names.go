package retry

import "slices"

// The names of errors that retries cannot fix; see [PermanentErrors].
const (
	ValidationError = "ValidationError" // a record breaks a business rule
	// the statement would be rejected again (SQLSTATE 22, 23, 42 and the like)
	DatabaseConstraintViolation = "DatabaseConstraintViolation"
	StorageError                = "StorageError"       // a disk is full, read-only or damaged: an operator has to act
	InvalidInput                = "InvalidInput"       // a malformed event or request
	AccessDenied                = "AccessDenied"       // missing or wrong credentials, permissions or trust
	OperationCancelled          = "OperationCancelled" // cancelled on purpose
	RetryNotWorthwhile          = "RetryNotWorthwhile" // a retry would cost more than it can gain
)

// The names of errors for calls that were not made. The work is retried later, at a slow pace, except after
// [LimitReached].
const (
	CircuitOpen          = "CircuitOpen"          // the circuit breaker in front of the callee is open
	RetryBudgetExhausted = "RetryBudgetExhausted" // the callee has no capacity for this call, or for another retry
	LimitReached         = "LimitReached"         // the callee is busy at the moment, and keeps up with most calls
)

// IsDeferral reports whether name is an error for a call that was not made, because a breaker, a limiter or a budget
// refused it.
func IsDeferral(name string) bool {
	return name == CircuitOpen || name == RetryBudgetExhausted || name == LimitReached
}

// The error names in the error → pattern map of the retry design (package retrypatterns).
const (
	LambdaServiceException         = "Lambda.ServiceException"
	LambdaAWSLambdaException       = "Lambda.AWSLambdaException"
	LambdaSdkClientException       = "Lambda.SdkClientException"
	LambdaTooManyRequestsException = "Lambda.TooManyRequestsException"
	LambdaThrottledException       = "Lambda.ThrottledException"

	DatabaseConnectionError         = "DatabaseConnectionError"
	AuroraTemporaryError            = "AuroraTemporaryError"
	DeadlockException               = "DeadlockException"
	ConcurrentModificationException = "ConcurrentModificationException"

	TimeoutError           = "TimeoutError"
	ConnectionTimeoutError = "ConnectionTimeoutError"
	SocketTimeoutError     = "SocketTimeoutError"

	StatesTaskFailed             = "States.TaskFailed"
	StatesTimeout                = "States.Timeout"
	StatesExecutionLimitExceeded = "States.ExecutionLimitExceeded"

	S3SlowDown           = "S3.SlowDown"
	S3ServiceUnavailable = "S3.ServiceUnavailable"
	S3InternalError      = "S3.InternalError"
)

// Transient error names that are missing from the design's map.
const (
	OptimisticLockException               = "OptimisticLockException" // in the design's rows, but not in its map
	LambdaClientExecutionTimeoutException = "Lambda.ClientExecutionTimeoutException"
	LambdaUnknown                         = "Lambda.Unknown"    // crash or timeout on older runtimes
	RuntimeExitError                      = "Runtime.ExitError" // the process exited without a report
	SandboxTimedout                       = "Sandbox.Timedout"  // the function's own timeout
	StatesHeartbeatTimeout                = "States.HeartbeatTimeout"
	TooManyRequestsError                  = "TooManyRequestsError"    // HTTP 429 and similar errors of any callee
	ServiceUnavailableError               = "ServiceUnavailableError" // HTTP 503 and similar errors of any callee
	InternalServerError                   = "InternalServerError"     // HTTP 500 and similar errors of any callee
	SNSInternalErrorException             = "SNS.InternalErrorException"
	SNSThrottledException                 = "SNS.ThrottledException"
	SNSAmazonSNSException                 = "SNS.AmazonSNSException" // unmodelled service error
	SNSSdkClientException                 = "SNS.SdkClientException"
	// of states:startExecution
	StepFunctionsServiceException       = "StepFunctions.AWSStepFunctionsException" // unmodelled service error
	StepFunctionsSdkClientException     = "StepFunctions.SdkClientException"
	StepFunctionsThrottlingException    = "StepFunctions.ThrottlingException"
	StepFunctionsExecutionLimitExceeded = "StepFunctions.ExecutionLimitExceededException" // too many open executions
	// of aws-sdk:sfn
	SfnServiceException    = "Sfn.SfnException" // unmodelled service error
	SfnSdkClientException  = "Sfn.SdkClientException"
	SfnThrottlingException = "Sfn.ThrottlingException"
)

// StatesALL matches every error in ErrorEquals.
const StatesALL = "States.ALL"

// Error names that Step Functions and Lambda raise themselves and that retries cannot fix.
const (
	statesPermissions               = "States.Permissions"
	statesDataLimitExceeded         = "States.DataLimitExceeded"
	lambdaResourceNotFoundException = "Lambda.ResourceNotFoundException"
	lambdaRequestTooLargeException  = "Lambda.RequestTooLargeException"
)

var permanentErrors = []string{
	ValidationError, DatabaseConstraintViolation, StorageError, InvalidInput, AccessDenied,
	OperationCancelled, RetryNotWorthwhile,
	lambdaResourceNotFoundException, lambdaRequestTooLargeException,
	statesPermissions, statesDataLimitExceeded,
}

// PermanentErrors returns this package's names that retries cannot fix. A state machine may add names of its own. The
// slice is a copy.
func PermanentErrors() []string { return slices.Clone(permanentErrors) }

// IsPermanent reports whether the name is one of [PermanentErrors].
func IsPermanent(errorName string) bool { return slices.Contains(permanentErrors, errorName) }
