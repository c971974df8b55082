package retrypatterns

import "slices"

// Provenance is the origin of a table row.
type Provenance string

// A row either comes from the source design, with its numbers unchanged, or was added to fill a gap in it.
const (
	FromSource Provenance = "source"
	Addition   Provenance = "addition"
)

// ErrorPattern is one row of the error → pattern map.
type ErrorPattern struct {
	Error      string
	Pattern    PatternName
	Provenance Provenance
}

// errorPatterns holds the source's map in its order, then the additions.
var errorPatterns = []ErrorPattern{
	{LambdaServiceException, Aggressive, FromSource},
	{LambdaAWSLambdaException, Aggressive, FromSource},
	{LambdaSdkClientException, Aggressive, FromSource},
	{LambdaTooManyRequestsException, Conservative, FromSource},
	{LambdaThrottledException, Conservative, FromSource},

	{DatabaseConnectionError, DatabaseOptimized, FromSource},
	{AuroraTemporaryError, DatabaseOptimized, FromSource},
	{DeadlockException, DatabaseOptimized, FromSource},
	{ConcurrentModificationException, Aggressive, FromSource},

	{TimeoutError, Conservative, FromSource},
	{ConnectionTimeoutError, Conservative, FromSource},
	{SocketTimeoutError, Conservative, FromSource},

	{StatesTaskFailed, Minimal, FromSource},
	{StatesTimeout, Minimal, FromSource},
	{StatesExecutionLimitExceeded, Minimal, FromSource},

	{S3SlowDown, Conservative, FromSource},
	{S3ServiceUnavailable, Aggressive, FromSource},
	{S3InternalError, Aggressive, FromSource},

	// The source's rows treat it like ConcurrentModificationException.
	{OptimisticLockException, Aggressive, Addition},
	// AWS lists it together with the three Lambda errors above.
	{LambdaClientExecutionTimeoutException, Aggressive, Addition},
	// A crash or a hang may well repeat itself, so few retries.
	{LambdaUnknown, Minimal, Addition},
	{RuntimeExitError, Minimal, Addition},
	{SandboxTimedout, Minimal, Addition},
	{StatesHeartbeatTimeout, Minimal, Addition},
	// Errors of other callees, with the pattern of the corresponding S3 and Lambda errors.
	{TooManyRequestsError, Conservative, Addition},
	{ServiceUnavailableError, Aggressive, Addition},
	{InternalServerError, Aggressive, Addition},
	{SNSInternalErrorException, Aggressive, Addition},
	{SNSAmazonSNSException, Aggressive, Addition},
	{SNSSdkClientException, Aggressive, Addition},
	{SNSThrottledException, Conservative, Addition},
	// Deferred on purpose, not failed.
	{CircuitOpen, Paced, Addition},
	{RetryBudgetExhausted, Paced, Addition},
}

// ErrorPatterns returns the error → pattern map: the source's rows in its order, then the additions. The slice is a
// copy.
func ErrorPatterns() []ErrorPattern { return slices.Clone(errorPatterns) }

// PatternFor returns the pattern by which the named error is retried. It is false for a permanent error and for a
// name that is not in the map.
func PatternFor(errorName string) (Pattern, bool) {
	for _, row := range errorPatterns {
		if row.Error == errorName {
			return PatternNamed(row.Pattern)
		}
	}
	return Pattern{}, false
}
