package statemachine

import (
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
)

// FilesTable returns the retry table of the state machine that imports many files as one, a fresh copy each time. All
// its rows are additions to the source design. importTimeout is the Timeout of the import of a file.
func FilesTable(importTimeout time.Duration) retrypatterns.Table {
	// The import ends by its own timeout; this one is for a task whose end is never reported.
	const margin = time.Hour
	return retrypatterns.Table{States: []retrypatterns.StateRetries{
		state(ListFiles, 300*time.Second, 0, filesRows()),
		state(ImportFile, importTimeout+margin, 0, startRows()),
		state(DescribeImport, 30*time.Second, 0, describeRows()),
		state(SumFiles, 300*time.Second, 0, filesRows()),
		state(NotifyFilesRejected, 30*time.Second, 0, notifyRows()),
		state(NotifyFilesCompletion, 30*time.Second, 0, notifyRows()),
		state(NotifyFilesFailure, 30*time.Second, 0, notifyRows()),
	}}
}

func filesRows() []retrypatterns.Row {
	return []retrypatterns.Row{
		neverRetry(),
		addition(
			"faults of Lambda itself",
			retrypatterns.Aggressive,
			retry.LambdaServiceException,
			retry.LambdaAWSLambdaException,
			retry.LambdaSdkClientException,
			retry.LambdaClientExecutionTimeoutException,
		),
		addition(
			"Lambda or S3 asks for a slower rate",
			retrypatterns.Conservative,
			retry.LambdaTooManyRequestsException,
			retry.LambdaThrottledException,
			retry.S3SlowDown,
			retry.TooManyRequestsError,
		),
		addition("S3 fails", retrypatterns.Aggressive, retry.S3ServiceUnavailable, retry.S3InternalError,
			retry.ServiceUnavailableError, retry.InternalServerError),
		addition(
			"network errors on the way to S3",
			retrypatterns.Conservative,
			retry.TimeoutError,
			retry.ConnectionTimeoutError,
			retry.SocketTimeoutError,
		),
		addition("a hang, a crash or the function's own timeout", retrypatterns.Minimal, retry.StatesTimeout,
			retry.RuntimeExitError, retry.LambdaUnknown, retry.SandboxTimedout),
	}
}

// startRows has no row for States.TaskFailed, the error of an import that failed: a retry would only find that the
// execution exists.
func startRows() []retrypatterns.Row {
	return []retrypatterns.Row{
		neverRetry(),
		addition("faults of Step Functions itself", retrypatterns.Aggressive, retry.StepFunctionsServiceException,
			retry.StepFunctionsSdkClientException),
		addition("Step Functions asks for a slower rate, or has too many executions", retrypatterns.Conservative,
			retry.StepFunctionsThrottlingException, retry.StepFunctionsExecutionLimitExceeded),
	}
}

func describeRows() []retrypatterns.Row {
	return []retrypatterns.Row{
		neverRetry(),
		addition(
			"faults of Step Functions itself",
			retrypatterns.Aggressive,
			retry.SfnServiceException,
			retry.SfnSdkClientException,
		),
		addition("Step Functions asks for a slower rate", retrypatterns.Conservative, retry.SfnThrottlingException),
		addition("a hang", retrypatterns.Minimal, retry.StatesTimeout),
	}
}
