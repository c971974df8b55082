package retry

import "slices"

// overloadErrors are errors that indicate overload: timeouts, throttles, rejections.
var overloadErrors = []string{
	StatesTimeout, StatesHeartbeatTimeout, SandboxTimedout,
	TimeoutError, ConnectionTimeoutError, SocketTimeoutError,
	LambdaTooManyRequestsException, LambdaThrottledException,
	TooManyRequestsError,
	LambdaClientExecutionTimeoutException,
	S3SlowDown, S3ServiceUnavailable, ServiceUnavailableError,
	SNSThrottledException,
}

// brokenErrors are load errors too: the callee or the connection to it is broken, possibly because of overload.
var brokenErrors = []string{
	DatabaseConnectionError, AuroraTemporaryError,
	LambdaServiceException, LambdaAWSLambdaException,
	LambdaSdkClientException,
	LambdaUnknown, InternalServerError, S3InternalError,
	SNSInternalErrorException, SNSAmazonSNSException, SNSSdkClientException,
	StatesTaskFailed, StatesALL,
}

// IsLoadError reports whether an error name is a load error, which concerns the callee's health and not the request.
// Deadlocks and other conflicts are not, because retrying resolves them.
func IsLoadError(name string) bool { return IsOverload(name) || slices.Contains(brokenErrors, name) }

// timeoutErrors are the errors of a call that did not end in time.
var timeoutErrors = []string{
	StatesTimeout, StatesHeartbeatTimeout, SandboxTimedout, TimeoutError, ConnectionTimeoutError, SocketTimeoutError,
	LambdaClientExecutionTimeoutException,
}

// IsTimeout reports whether an error name stands for a call that did not end in time.
func IsTimeout(name string) bool { return slices.Contains(timeoutErrors, name) }

// IsOverload reports whether an error name indicates overload.
func IsOverload(name string) bool { return slices.Contains(overloadErrors, name) }
