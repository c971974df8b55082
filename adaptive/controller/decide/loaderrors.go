package decide

import (
	"slices"

	"stepback/retrypatterns"
)

// overloadErrors are evidence of too much load: a timeout, a throttle, a rejection.
var overloadErrors = []string{
	retrypatterns.StatesTimeout, retrypatterns.StatesHeartbeatTimeout, retrypatterns.SandboxTimedout,
	retrypatterns.TimeoutError, retrypatterns.ConnectionTimeoutError, retrypatterns.SocketTimeoutError,
	retrypatterns.LambdaTooManyRequestsException, retrypatterns.LambdaThrottledException,
	retrypatterns.TooManyRequestsError,
	retrypatterns.LambdaClientExecutionTimeoutException,
	retrypatterns.S3SlowDown, retrypatterns.S3ServiceUnavailable, retrypatterns.ServiceUnavailableError,
	retrypatterns.SNSThrottledException,
}

// brokenErrors are of the load type too: the callee or the way to it is broken, which too much load may be the cause
// of.
var brokenErrors = []string{
	retrypatterns.DatabaseConnectionError, retrypatterns.AuroraTemporaryError,
	retrypatterns.LambdaServiceException, retrypatterns.LambdaAWSLambdaException,
	retrypatterns.LambdaSdkClientException,
	retrypatterns.LambdaUnknown, retrypatterns.InternalServerError, retrypatterns.S3InternalError,
	retrypatterns.SNSInternalErrorException, retrypatterns.SNSAmazonSNSException, retrypatterns.SNSSdkClientException,
	retrypatterns.StatesTaskFailed, "States.ALL",
}

// IsLoadError reports whether an error name is of the load type: it speaks of the callee's health and not of the
// request. Deadlocks and other conflicts are not, as they are resolved by trying again.
func IsLoadError(name string) bool { return IsOverload(name) || slices.Contains(brokenErrors, name) }

// IsOverload reports whether an error name is evidence of too much load.
func IsOverload(name string) bool { return slices.Contains(overloadErrors, name) }
