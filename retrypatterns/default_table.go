package retrypatterns

import (
	"slices"
	"time"
)

// The states of the CSV state machine that the default table covers.
const (
	ValidateCSVFile         = "ValidateCSVFile"
	ApplyBatch              = "ApplyBatch"
	ProcessSingleUserRecord = "ProcessSingleUserRecord"
	AggregateResults        = "AggregateResults"
	NotifyValidationFailure = "NotifyValidationFailure"
	NotifyCompletion        = "NotifyCompletion"
	NotifyFailure           = "NotifyFailure"
)

// DefaultTable returns the CSV system's retry table, a fresh copy each time.
//
// Each state's rows start with one that names the permanent errors and never retries them. The source's rows follow,
// in the source's order and with the source's numbers, and after them the additions: errors that the state can raise
// but the source's rows omit, each with its pattern in the error map. There is one exception: a row for
// States.TaskFailed matches every error except a timeout, so in ValidateCSVFile the additions that it would shadow
// come before it.
//
// The three Notify states are not in the source; all their rows are additions. ApplyBatch is not in the source
// either. It applies many records at once and has the rows and limits of ProcessSingleUserRecord, except for a batch
// that Lambda throttles, which waits like a call that a limiter refused. If the batch were given up, its records
// would become as many invocations of a function that has no capacity even for one.
func DefaultTable() Table {
	return Table{States: []StateRetries{
		{ValidateCSVFile, 300 * time.Second, 30 * time.Second, validateRows()},
		{ApplyBatch, 30 * time.Second, 10 * time.Second, batchRows()},
		{ProcessSingleUserRecord, 30 * time.Second, 10 * time.Second, processRows()},
		{AggregateResults, 120 * time.Second, 20 * time.Second, aggregateRows()},
		{NotifyValidationFailure, 30 * time.Second, 0, notifyRows()},
		{NotifyCompletion, 30 * time.Second, 0, notifyRows()},
		{NotifyFailure, 30 * time.Second, 0, notifyRows()},
	}}
}

// ExpressTable is DefaultTable for records that are processed in EXPRESS executions, which last at most five minutes:
// calls that a breaker, a limiter or a budget deferred are retried sooner and fewer times. The source's rows are the
// same.
func ExpressTable() Table {
	table := DefaultTable()
	for _, s := range table.States {
		if s.State != ApplyBatch && s.State != ProcessSingleUserRecord {
			continue
		}
		for k, row := range s.Rows {
			if row.Policy.MaxAttempts == pacedAttempts {
				s.Rows[k].Policy = seconds(5, 2.0, 30, 3, JitterFull)
				s.Rows[k].Comment = "Addition: a call that was deferred, not made, within an EXPRESS execution"
			}
		}
	}
	return table
}

func validateRows() []Row {
	return []Row{
		neverRetry(),
		// "Aggressive retry of Lambda service exceptions"
		source("AWS Lambda サービス例外の積極的再試行", seconds(1, 2.0, 60, 5, JitterFull),
			LambdaServiceException, LambdaAWSLambdaException, LambdaSdkClientException),
		// "Conservative retry of Lambda throttling"
		source("Lambda スロットリング用の保守的再試行", seconds(5, 2.5, 300, 3, JitterPartial),
			LambdaTooManyRequestsException, LambdaThrottledException),
		// "Adaptive retry of S3 errors"
		source("S3関連エラーの適応的再試行", seconds(2, 2.0, 120, 4, JitterFull),
			S3ServiceUnavailable, S3InternalError),
		addition("S3 or another callee asks for a slower rate", Conservative, S3SlowDown, TooManyRequestsError),
		addition("a callee fails", Aggressive, ServiceUnavailableError, InternalServerError),
		addition("network errors on the way to S3", Conservative, TimeoutError, ConnectionTimeoutError,
			SocketTimeoutError),
		paced(),
		// "Minimal retry of general task failures"
		source("一般的タスク失敗の最小再試行", seconds(2, 1.5, 10, 2, JitterNone), StatesTaskFailed),
		addition("a hang, which States.TaskFailed does not match", Minimal, StatesTimeout),
	}
}

func processRows() []Row {
	return []Row{
		neverRetry(),
		// "Retry tuned for database connection errors"
		source("データベース接続エラー最適化再試行", seconds(2, 1.8, 30, 4, JitterFull),
			DatabaseConnectionError, AuroraTemporaryError, DeadlockException),
		// "Aggressive retry of concurrent update conflicts"
		source("同時更新競合の積極的再試行", seconds(1, 2.0, 15, 5, JitterFull),
			ConcurrentModificationException, OptimisticLockException),
		// "Lambda throttling control"
		source("Lambda スロットリング制御", seconds(3, 2.5, 60, 4, JitterPartial),
			LambdaThrottledException, LambdaTooManyRequestsException),
		// "Network errors"
		source("ネットワーク関連エラー", seconds(5, 2.5, 300, 3, JitterPartial),
			TimeoutError, ConnectionTimeoutError, SocketTimeoutError),
		addition("faults of Lambda itself", Aggressive,
			LambdaServiceException, LambdaAWSLambdaException, LambdaSdkClientException,
			LambdaClientExecutionTimeoutException),
		addition("a callee asks for a slower rate", Conservative, TooManyRequestsError),
		addition("a callee fails", Aggressive, ServiceUnavailableError, InternalServerError),
		addition("a hang", Minimal, StatesTimeout, StatesHeartbeatTimeout),
		addition("a crash or the function's own timeout", Minimal, RuntimeExitError, LambdaUnknown, SandboxTimedout),
		paced(),
	}
}

// batchRows returns processRows, except that a batch that Lambda throttles is retried for forty minutes on average:
// after the source's first delays, finally every five minutes.
func batchRows() []Row {
	rows := processRows()
	for i := range rows {
		if slices.Contains(rows[i].Errors, LambdaTooManyRequestsException) {
			rows[i].Policy = seconds(3, 2.5, 300, pacedAttempts, JitterFull)
			rows[i].Comment = "Addition: Lambda has no capacity for the batch, nor for its records one by one"
			rows[i].Provenance = Addition
		}
	}
	return rows
}

func aggregateRows() []Row {
	return []Row{
		neverRetry(),
		// "Retry of temporary errors of the aggregation"
		source("集約処理の一時的エラー再試行", seconds(3, 2.0, 180, 3, JitterFull),
			LambdaServiceException, LambdaAWSLambdaException),
		// "Retry of S3 write errors"
		source("S3書き込みエラーの再試行", seconds(5, 2.5, 300, 3, JitterPartial),
			S3SlowDown, S3ServiceUnavailable),
		addition("faults on the way to Lambda", Aggressive, LambdaSdkClientException,
			LambdaClientExecutionTimeoutException),
		addition("Lambda or another callee asks for a slower rate", Conservative, LambdaTooManyRequestsException,
			LambdaThrottledException, TooManyRequestsError),
		addition("S3 or another callee fails", Aggressive, S3InternalError, ServiceUnavailableError,
			InternalServerError),
		addition("dead letters are settled in the database", DatabaseOptimized, DatabaseConnectionError,
			AuroraTemporaryError, DeadlockException),
		addition("concurrent update conflicts", Aggressive, ConcurrentModificationException, OptimisticLockException),
		addition("network errors", Conservative, TimeoutError, ConnectionTimeoutError, SocketTimeoutError),
		addition("a hang", Minimal, StatesTimeout, StatesHeartbeatTimeout),
		addition("a crash or the function's own timeout", Minimal, RuntimeExitError, LambdaUnknown, SandboxTimedout),
		paced(),
	}
}

func notifyRows() []Row {
	return []Row{
		neverRetry(),
		addition("faults of SNS itself", Aggressive, SNSInternalErrorException, SNSAmazonSNSException,
			SNSSdkClientException),
		addition("SNS throttling", Conservative, SNSThrottledException),
		addition("a hang", Minimal, StatesTimeout, StatesHeartbeatTimeout),
	}
}

func neverRetry() Row {
	return Row{Errors: PermanentErrors(), Comment: "Addition: permanent errors, never retried", Provenance: Addition}
}

// paced retries calls that a breaker, a limiter or a budget refused; its retries do not count for any other row.
func paced() Row {
	return addition("a call that was deferred, not made", Paced, CircuitOpen, RetryBudgetExhausted)
}

func source(comment string, policy Policy, errors ...string) Row {
	return Row{Errors: errors, Policy: policy, Comment: comment, Provenance: FromSource}
}

func addition(what string, name PatternName, errors ...string) Row {
	pattern, _ := PatternNamed(name)
	comment := "Addition: " + what + ", pattern " + string(name)
	return Row{Errors: errors, Policy: pattern.Policy, Comment: comment, Provenance: Addition}
}
