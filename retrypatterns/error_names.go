package retrypatterns

import "slices"

// Error names that no retry can mend. Every compiled Retry array names them first with MaxAttempts 0 (see
// [PermanentErrors]), so that a later retrier on States.TaskFailed does not try them again.
const (
	CSVFileNotFound        = "CSVFileNotFound"        // the object or its bucket does not exist
	CSVKeyIsDirectory      = "CSVKeyIsDirectory"      // the key names a folder placeholder
	CSVFileEmpty           = "CSVFileEmpty"           // nothing in it
	CSVFileTooLarge        = "CSVFileTooLarge"        // above the configured size limit
	CSVFileBinary          = "CSVFileBinary"          // NUL bytes or another sign of a binary file
	CSVEncodingUnsupported = "CSVEncodingUnsupported" // neither UTF-8 nor Shift_JIS
	CSVHeaderInvalid       = "CSVHeaderInvalid"       // required columns missing, repeated or unknown
	CSVFileChanged         = "CSVFileChanged"         // the object's ETag is no longer the event's

	ValidationError             = "ValidationError"             // a record breaks a business rule
	DatabaseConstraintViolation = "DatabaseConstraintViolation" // the statement will be refused again (SQLSTATE 22, 23, 42 and the like)
	StorageError                = "StorageError"                // a disk is full, read-only or damaged: a person has to act
	InvalidInput                = "InvalidInput"                // a malformed event or request
	AccessDenied                = "AccessDenied"                // missing or wrong credentials, rights or trust
	AggregateMismatch           = "AggregateMismatch"           // the outcomes do not add up to the file's rows
	OperationCancelled          = "OperationCancelled"          // somebody stopped it on purpose
	RetryNotWorthwhile          = "RetryNotWorthwhile"          // a retry would cost more than it can gain
)

// Error names that mean: not now. The call was not made, and the work comes back later by the pattern [Paced].
const (
	CircuitOpen          = "CircuitOpen"          // the circuit breaker in front of the callee is open
	RetryBudgetExhausted = "RetryBudgetExhausted" // the callee has no room for this call, or for another retry
)

// Error names that the source's error → pattern map holds.
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

// Transient error names that the source's map lacks and this table adds.
const (
	OptimisticLockException               = "OptimisticLockException" // in the source's rows, missing in its map
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
	statesALL                       = "States.ALL"
	statesPermissions               = "States.Permissions"
	statesDataLimitExceeded         = "States.DataLimitExceeded"
	lambdaResourceNotFoundException = "Lambda.ResourceNotFoundException"
	lambdaRequestTooLargeException  = "Lambda.RequestTooLargeException"
)

// permanentErrors is one list for all states: a name that a state cannot raise costs nothing there, and no state can be
// forgotten when a name is added.
var permanentErrors = []string{
	CSVFileNotFound, CSVKeyIsDirectory, CSVFileEmpty, CSVFileTooLarge, CSVFileBinary,
	CSVEncodingUnsupported, CSVHeaderInvalid, CSVFileChanged,
	ValidationError, DatabaseConstraintViolation, StorageError, InvalidInput, AccessDenied,
	AggregateMismatch, OperationCancelled, RetryNotWorthwhile,
	lambdaResourceNotFoundException, lambdaRequestTooLargeException,
	statesPermissions, statesDataLimitExceeded,
}

// PermanentErrors returns the names that are never retried, in the order in which compiled Retry arrays list them. The
// slice is the caller's own.
func PermanentErrors() []string { return slices.Clone(permanentErrors) }

// IsPermanent reports whether no retry can mend the named error.
func IsPermanent(errorName string) bool { return slices.Contains(permanentErrors, errorName) }
