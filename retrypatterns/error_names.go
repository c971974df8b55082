package retrypatterns

import "slices"

// Error names that retries cannot fix. Every compiled Retry array names them first with MaxAttempts 0 (see
// [PermanentErrors]), so that a later retrier for States.TaskFailed does not retry them.
const (
	CSVFileNotFound        = "CSVFileNotFound"        // the object or its bucket does not exist
	CSVKeyIsDirectory      = "CSVKeyIsDirectory"      // the key names a folder placeholder
	CSVFileEmpty           = "CSVFileEmpty"           // the file is empty
	CSVFileTooLarge        = "CSVFileTooLarge"        // above the configured size limit
	CSVFileBinary          = "CSVFileBinary"          // NUL bytes or another sign of a binary file
	CSVEncodingUnsupported = "CSVEncodingUnsupported" // neither UTF-8 nor Shift_JIS
	CSVHeaderInvalid       = "CSVHeaderInvalid"       // required columns missing, repeated or unknown
	CSVFileChanged         = "CSVFileChanged"         // the object's ETag differs from the event's

	ValidationError = "ValidationError" // a record breaks a business rule
	// the statement would be rejected again (SQLSTATE 22, 23, 42 and the like)
	DatabaseConstraintViolation = "DatabaseConstraintViolation"
	StorageError                = "StorageError"       // a disk is full, read-only or damaged: an operator has to act
	InvalidInput                = "InvalidInput"       // a malformed event or request
	AccessDenied                = "AccessDenied"       // missing or wrong credentials, permissions or trust
	AggregateMismatch           = "AggregateMismatch"  // the outcomes do not add up to the file's rows
	OperationCancelled          = "OperationCancelled" // cancelled on purpose
	RetryNotWorthwhile          = "RetryNotWorthwhile" // a retry would cost more than it can gain
)

// Error names for calls that were deferred: the call was not made, and the work is retried later by the pattern
// [Paced].
const (
	CircuitOpen          = "CircuitOpen"          // the circuit breaker in front of the callee is open
	RetryBudgetExhausted = "RetryBudgetExhausted" // the callee has no capacity for this call, or for another retry
)

// Error names in the source's error → pattern map.
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

// Transient error names that are missing from the source's map and added by this table.
const (
	OptimisticLockException               = "OptimisticLockException" // in the source's rows, but not in its map
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
)

// Error names that Step Functions and Lambda raise themselves and that retries cannot fix.
const (
	statesALL                       = "States.ALL"
	statesPermissions               = "States.Permissions"
	statesDataLimitExceeded         = "States.DataLimitExceeded"
	lambdaResourceNotFoundException = "Lambda.ResourceNotFoundException"
	lambdaRequestTooLargeException  = "Lambda.RequestTooLargeException"
)

// permanentErrors is one list for all states: a name that a state cannot raise does no harm there, and no state is
// forgotten when a name is added.
var permanentErrors = []string{
	CSVFileNotFound, CSVKeyIsDirectory, CSVFileEmpty, CSVFileTooLarge, CSVFileBinary,
	CSVEncodingUnsupported, CSVHeaderInvalid, CSVFileChanged,
	ValidationError, DatabaseConstraintViolation, StorageError, InvalidInput, AccessDenied,
	AggregateMismatch, OperationCancelled, RetryNotWorthwhile,
	lambdaResourceNotFoundException, lambdaRequestTooLargeException,
	statesPermissions, statesDataLimitExceeded,
}

// PermanentErrors returns the names that are never retried, in the order in which compiled Retry arrays list them.
// The slice is a copy.
func PermanentErrors() []string { return slices.Clone(permanentErrors) }

// IsPermanent reports whether the named error is permanent, so that no retry can fix it.
func IsPermanent(errorName string) bool { return slices.Contains(permanentErrors, errorName) }
