package csvimport

// Permanent error names. A retrier with MaxAttempts 0 names them all, so none
// of them is ever tried again.
const (
	CSVFileNotFound        = "CSVFileNotFound"
	CSVKeyIsDirectory      = "CSVKeyIsDirectory"
	CSVFileEmpty           = "CSVFileEmpty"
	CSVFileTooLarge        = "CSVFileTooLarge"
	CSVFileBinary          = "CSVFileBinary"
	CSVEncodingUnsupported = "CSVEncodingUnsupported"
	CSVHeaderInvalid       = "CSVHeaderInvalid"
	CSVFileChanged         = "CSVFileChanged"

	// ValidationError is a record that breaks a business rule.
	ValidationError = "ValidationError"
	// DatabaseConstraintViolation is SQL the database refuses for good.
	DatabaseConstraintViolation = "DatabaseConstraintViolation"
	// InvalidInput is a malformed event.
	InvalidInput = "InvalidInput"
	// AccessDenied is a missing permission or a wrong credential.
	AccessDenied = "AccessDenied"
	// AggregateMismatch is a summary that does not account for every row.
	AggregateMismatch = "AggregateMismatch"
	// RetryNotWorthwhile is a failure that trying again cannot mend.
	RetryNotWorthwhile = "RetryNotWorthwhile"
	// CircuitOpen is an attempt that a circuit breaker refused to start.
	CircuitOpen = "CircuitOpen"
)

// Transient error names: those of the error → pattern map.
const (
	DatabaseConnectionError         = "DatabaseConnectionError"
	AuroraTemporaryError            = "AuroraTemporaryError"
	DeadlockException               = "DeadlockException"
	ConcurrentModificationException = "ConcurrentModificationException"
	OptimisticLockException         = "OptimisticLockException"
	TimeoutError                    = "TimeoutError"
	ConnectionTimeoutError          = "ConnectionTimeoutError"
	SocketTimeoutError              = "SocketTimeoutError"
	S3SlowDown                      = "S3.SlowDown"
	S3ServiceUnavailable            = "S3.ServiceUnavailable"
	S3InternalError                 = "S3.InternalError"
)
