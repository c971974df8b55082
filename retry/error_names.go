package retry

import "slices"

// Error names that no retry can mend; see [PermanentErrors].
const (
	ValidationError             = "ValidationError"             // a record breaks a business rule
	DatabaseConstraintViolation = "DatabaseConstraintViolation" // the statement will be refused again (SQLSTATE 22, 23, 42 and the like)
	StorageError                = "StorageError"                // a disk is full, read-only or damaged: a person has to act
	InvalidInput                = "InvalidInput"                // a malformed event or request
	AccessDenied                = "AccessDenied"                // missing or wrong credentials, rights or trust
	OperationCancelled          = "OperationCancelled"          // somebody stopped it on purpose
	RetryNotWorthwhile          = "RetryNotWorthwhile"          // a retry would cost more than it can gain
)

// Error names that mean: not now. The call was not made, and the work comes back later at a slow pace.
const (
	CircuitOpen          = "CircuitOpen"          // the circuit breaker in front of the callee is open
	RetryBudgetExhausted = "RetryBudgetExhausted" // the callee has no room for this call, or for another retry
)

// Error names that the error → pattern map of the retry design holds (package retrypatterns).
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

// Transient error names that the design's map lacks.
const (
	OptimisticLockException               = "OptimisticLockException" // in the design's rows, missing in its map
	LambdaClientExecutionTimeoutException = "Lambda.ClientExecutionTimeoutException"
	LambdaUnknown                         = "Lambda.Unknown"    // crash or timeout on older runtimes
	RuntimeExitError                      = "Runtime.ExitError" // the process exited without a report
	SandboxTimedout                       = "Sandbox.Timedout"  // the function's own timeout
	StatesHeartbeatTimeout                = "States.HeartbeatTimeout"
	TooManyRequestsError                  = "TooManyRequestsError"    // HTTP 429 and its like from any callee
	ServiceUnavailableError               = "ServiceUnavailableError" // HTTP 503 and its like from any callee
	InternalServerError                   = "InternalServerError"     // HTTP 500 and its like from any callee
	SNSInternalErrorException             = "SNS.InternalErrorException"
	SNSThrottledException                 = "SNS.ThrottledException"
	SNSAmazonSNSException                 = "SNS.AmazonSNSException" // unmodelled service error
	SNSSdkClientException                 = "SNS.SdkClientException"
)

// Names that Step Functions and Lambda raise themselves and no retry mends.
const (
	StatesALL                       = "States.ALL"
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

// PermanentErrors returns the names of this package that no retry mends. A state machine may add names of its own. The
// slice is the caller's own.
func PermanentErrors() []string { return slices.Clone(permanentErrors) }

// IsPermanent reports whether the name is one of [PermanentErrors].
func IsPermanent(errorName string) bool { return slices.Contains(permanentErrors, errorName) }
