package review

import "stepback/asl"

// The codes of the advice.
const (
	NeverMatched      asl.Code = "RETRIER_NEVER_MATCHES"     // no such error can reach the retrier
	LambdaNotRetried  asl.Code = "LAMBDA_FAULTS_NOT_RETRIED" // a hiccup of Lambda itself fails the state
	PermanentRetried  asl.Code = "PERMANENT_ERROR_RETRIED"   // the same attempt will fail again
	EverythingRetried asl.Code = "EVERY_ERROR_RETRIED"       // permanent errors are not excepted
	NoJitter          asl.Code = "NO_JITTER"                 // callers that failed together come back together
	FixedInterval     asl.Code = "FIXED_INTERVAL"            // waits do not grow
	NoCap             asl.Code = "NO_MAX_DELAY"              // waits grow beyond an hour
	NoLimit           asl.Code = "TOO_MANY_RETRIES"          // practically without an end
	LongerThanAllowed asl.Code = "RETRIES_OUTLAST_EXECUTION" // the execution ends before the retries do
	RetriesMultiplied asl.Code = "RETRIES_MULTIPLY"          // states on two levels retry
	FailureUnnoticed  asl.Code = "NO_TIMEOUT"                // an answer that never comes is never retried
)
