package retrypatterns

import (
	"slices"
	"strings"

	"stepback/retry"
)

// Provenance is the origin of a table row.
type Provenance string

// A row either comes from the source design, with its numbers unchanged, or was added to fill a gap in it.
const (
	FromDesign Provenance = "source"
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
	{retry.LambdaServiceException, Aggressive, FromDesign},
	{retry.LambdaAWSLambdaException, Aggressive, FromDesign},
	{retry.LambdaSdkClientException, Aggressive, FromDesign},
	{retry.LambdaTooManyRequestsException, Conservative, FromDesign},
	{retry.LambdaThrottledException, Conservative, FromDesign},

	{retry.DatabaseConnectionError, DatabaseOptimized, FromDesign},
	{retry.AuroraTemporaryError, DatabaseOptimized, FromDesign},
	{retry.DeadlockException, DatabaseOptimized, FromDesign},
	{retry.ConcurrentModificationException, Aggressive, FromDesign},

	{retry.TimeoutError, Conservative, FromDesign},
	{retry.ConnectionTimeoutError, Conservative, FromDesign},
	{retry.SocketTimeoutError, Conservative, FromDesign},

	{retry.StatesTaskFailed, Minimal, FromDesign},
	{retry.StatesTimeout, Minimal, FromDesign},
	{retry.StatesExecutionLimitExceeded, Minimal, FromDesign},

	{retry.S3SlowDown, Conservative, FromDesign},
	{retry.S3ServiceUnavailable, Aggressive, FromDesign},
	{retry.S3InternalError, Aggressive, FromDesign},

	// The source's rows treat this error like ConcurrentModificationException.
	{retry.OptimisticLockException, Aggressive, Addition},
	// AWS lists it together with the three Lambda errors above.
	{retry.LambdaClientExecutionTimeoutException, Aggressive, Addition},
	// A crash or a hang is likely to happen again, so there are few retries.
	{retry.LambdaUnknown, Minimal, Addition},
	{retry.RuntimeExitError, Minimal, Addition},
	{retry.SandboxTimedout, Minimal, Addition},
	{retry.StatesHeartbeatTimeout, Minimal, Addition},
	// Errors of other callees, with the pattern of the corresponding S3 and Lambda errors.
	{retry.TooManyRequestsError, Conservative, Addition},
	{retry.ServiceUnavailableError, Aggressive, Addition},
	{retry.InternalServerError, Aggressive, Addition},
	{retry.SNSInternalErrorException, Aggressive, Addition},
	{retry.SNSAmazonSNSException, Aggressive, Addition},
	{retry.SNSSdkClientException, Aggressive, Addition},
	{retry.SNSThrottledException, Conservative, Addition},
	// The call was deferred on purpose; it has not failed.
	{retry.CircuitOpen, Paced, Addition},
	{retry.RetryBudgetExhausted, Paced, Addition},
	{retry.LimitReached, Brief, Addition},
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

// PolicyFor returns the policy of an error's pattern. For a name that is not in the map, it returns the policy of
// States.TaskFailed.
func PolicyFor(errorName string) retry.Policy {
	p, ok := PatternFor(errorName)
	if !ok {
		p, _ = PatternFor(retry.StatesTaskFailed)
	}
	return p.Policy
}

// Rules returns the error → pattern map as rules for a caller in Go: one for each pattern, with the names that it is
// for. Names that only Step Functions raises (States.…) are left out.
func Rules() []retry.Rule {
	rules := make([]retry.Rule, 0, len(patterns))
	for _, p := range patterns {
		names := []string{}
		for _, e := range errorPatterns {
			if e.Pattern == p.Name && !strings.HasPrefix(e.Error, "States.") {
				names = append(names, e.Error)
			}
		}
		rules = append(rules, retry.Rule{Errors: names, Policy: p.Policy})
	}
	return rules
}
