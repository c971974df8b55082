package retrypatterns

import "slices"

// Provenance says where a row of a table comes from.
type Provenance string

// A row is either the source design's own, with its numbers untouched, or was added because the source leaves a gap
// there.
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

// errorPatterns is the source's map in its order, then the additions.
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
	// AWS names it in one breath with the three Lambda faults above.
	{LambdaClientExecutionTimeoutException, Aggressive, Addition},
	// A crash or a hang may repeat itself: little patience.
	{LambdaUnknown, Minimal, Addition},
	{RuntimeExitError, Minimal, Addition},
	{SandboxTimedout, Minimal, Addition},
	{StatesHeartbeatTimeout, Minimal, Addition},
	// Other callees, by the pattern of their S3 and Lambda counterparts.
	{TooManyRequestsError, Conservative, Addition},
	{ServiceUnavailableError, Aggressive, Addition},
	{InternalServerError, Aggressive, Addition},
	{SNSInternalErrorException, Aggressive, Addition},
	{SNSAmazonSNSException, Aggressive, Addition},
	{SNSSdkClientException, Aggressive, Addition},
	{SNSThrottledException, Conservative, Addition},
	// Put off on purpose, not failed.
	{CircuitOpen, Paced, Addition},
	{RetryBudgetExhausted, Paced, Addition},
}

// ErrorPatterns returns the error → pattern map: the source's rows in its order, then the additions. The slice is the
// caller's own.
func ErrorPatterns() []ErrorPattern { return slices.Clone(errorPatterns) }

// PatternFor returns the pattern by which the named error is retried. It is false for a permanent error and for a name
// that the map does not hold.
func PatternFor(errorName string) (Pattern, bool) {
	for _, row := range errorPatterns {
		if row.Error == errorName {
			return PatternNamed(row.Pattern)
		}
	}
	return Pattern{}, false
}
