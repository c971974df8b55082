package retry

import "slices"

// overloadErrors are evidence of too much load: a timeout, a throttle, a rejection.
var overloadErrors = []string{
	StatesTimeout, StatesHeartbeatTimeout, SandboxTimedout,
	TimeoutError, ConnectionTimeoutError, SocketTimeoutError,
	LambdaTooManyRequestsException, LambdaThrottledException,
	TooManyRequestsError,
	LambdaClientExecutionTimeoutException,
	S3SlowDown, S3ServiceUnavailable, ServiceUnavailableError,
	SNSThrottledException,
}

// brokenErrors are of the load type too: the callee or the way to it is broken, which too much load may be the cause
// of.
var brokenErrors = []string{
	DatabaseConnectionError, AuroraTemporaryError,
	LambdaServiceException, LambdaAWSLambdaException,
	LambdaSdkClientException,
	LambdaUnknown, InternalServerError, S3InternalError,
	SNSInternalErrorException, SNSAmazonSNSException, SNSSdkClientException,
	StatesTaskFailed, StatesALL,
}

// IsLoadError reports whether an error name is of the load type: it speaks of the callee's health and not of the
// request. Deadlocks and other conflicts are not, as they are resolved by trying again.
func IsLoadError(name string) bool { return IsOverload(name) || slices.Contains(brokenErrors, name) }

// IsOverload reports whether an error name is evidence of too much load.
func IsOverload(name string) bool { return slices.Contains(overloadErrors, name) }
