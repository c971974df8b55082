package statemachine

import (
	"slices"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
)

// The states of the CSV state machine that the default table covers.
const (
	ValidateCSVFile         = "ValidateCSVFile"
	ValidateRange           = "ValidateRange"
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
// The three Notify states are not in the source; all their rows are additions. ValidateRange is not in the source
// either; it validates a part of a file and has the rows and limits of ValidateCSVFile. Nor is ApplyBatch in the
// source. It applies many records at once and has the rows and limits of ProcessSingleUserRecord, except for a batch
// that Lambda throttles, which waits like a call that a limiter refused. If the batch were given up, its records would
// become as many invocations of a function that has no capacity even for one.
func DefaultTable() retrypatterns.Table {
	return retrypatterns.Table{States: []retrypatterns.StateRetries{
		state(ValidateCSVFile, 300*time.Second, 30*time.Second, validateRows()),
		state(ValidateRange, 300*time.Second, 30*time.Second, validateRows()),
		state(ApplyBatch, 30*time.Second, 10*time.Second, batchRows()),
		state(ProcessSingleUserRecord, 30*time.Second, 10*time.Second, processRows()),
		state(AggregateResults, 120*time.Second, 20*time.Second, aggregateRows()),
		state(NotifyValidationFailure, 30*time.Second, 0, notifyRows()),
		state(NotifyCompletion, 30*time.Second, 0, notifyRows()),
		state(NotifyFailure, 30*time.Second, 0, notifyRows()),
	}}
}

// ExpressTable is DefaultTable for records that are processed in EXPRESS executions, which last at most five minutes:
// calls that a breaker, a limiter or a budget deferred are retried sooner and fewer times. The source's rows are the
// same.
func ExpressTable() retrypatterns.Table {
	table := DefaultTable()
	for _, s := range table.States {
		if s.State != ApplyBatch && s.State != ProcessSingleUserRecord {
			continue
		}
		for k, row := range s.Rows {
			if row.Policy.MaxAttempts == pacedAttempts() {
				s.Rows[k].Policy = retry.Seconds(5, 2.0, 30, 3, retry.JitterFull)
				s.Rows[k].Comment = "Addition: a call that was deferred, not made, within an EXPRESS execution"
			}
		}
	}
	return table
}

func validateRows() []retrypatterns.Row {
	return []retrypatterns.Row{
		neverRetry(),
		// "Aggressive retry of Lambda service exceptions"
		source("AWS Lambda サービス例外の積極的再試行", retry.Seconds(1, 2.0, 60, 5, retry.JitterFull),
			retry.LambdaServiceException, retry.LambdaAWSLambdaException, retry.LambdaSdkClientException),
		// "Conservative retry of Lambda throttling"
		source("Lambda スロットリング用の保守的再試行", retry.Seconds(5, 2.5, 300, 3, retry.JitterPartial),
			retry.LambdaTooManyRequestsException, retry.LambdaThrottledException),
		// "Adaptive retry of S3 errors"
		source("S3関連エラーの適応的再試行", retry.Seconds(2, 2.0, 120, 4, retry.JitterFull),
			retry.S3ServiceUnavailable, retry.S3InternalError),
		addition("S3 or another callee asks for a slower rate", retrypatterns.Conservative, retry.S3SlowDown, retry.TooManyRequestsError),
		addition("a callee fails", retrypatterns.Aggressive, retry.ServiceUnavailableError, retry.InternalServerError),
		addition("network errors on the way to S3", retrypatterns.Conservative, retry.TimeoutError, retry.ConnectionTimeoutError,
			retry.SocketTimeoutError),
		briefly(),
		paced(),
		// "Minimal retry of general task failures"
		source("一般的タスク失敗の最小再試行", retry.Seconds(2, 1.5, 10, 2, retry.JitterNone), retry.StatesTaskFailed),
		addition("a hang, which States.TaskFailed does not match", retrypatterns.Minimal, retry.StatesTimeout),
	}
}

func processRows() []retrypatterns.Row {
	return []retrypatterns.Row{
		neverRetry(),
		// "Retry tuned for database connection errors"
		source("データベース接続エラー最適化再試行", retry.Seconds(2, 1.8, 30, 4, retry.JitterFull),
			retry.DatabaseConnectionError, retry.AuroraTemporaryError, retry.DeadlockException),
		// "Aggressive retry of concurrent update conflicts"
		source("同時更新競合の積極的再試行", retry.Seconds(1, 2.0, 15, 5, retry.JitterFull),
			retry.ConcurrentModificationException, retry.OptimisticLockException),
		// "Lambda throttling control"
		source("Lambda スロットリング制御", retry.Seconds(3, 2.5, 60, 4, retry.JitterPartial),
			retry.LambdaThrottledException, retry.LambdaTooManyRequestsException),
		// "Network errors"
		source("ネットワーク関連エラー", retry.Seconds(5, 2.5, 300, 3, retry.JitterPartial),
			retry.TimeoutError, retry.ConnectionTimeoutError, retry.SocketTimeoutError),
		addition("faults of Lambda itself", retrypatterns.Aggressive,
			retry.LambdaServiceException, retry.LambdaAWSLambdaException, retry.LambdaSdkClientException,
			retry.LambdaClientExecutionTimeoutException),
		addition("a callee asks for a slower rate", retrypatterns.Conservative, retry.TooManyRequestsError),
		addition("a callee fails", retrypatterns.Aggressive, retry.ServiceUnavailableError, retry.InternalServerError),
		addition("a hang", retrypatterns.Minimal, retry.StatesTimeout, retry.StatesHeartbeatTimeout),
		addition("a crash or the function's own timeout", retrypatterns.Minimal, retry.RuntimeExitError, retry.LambdaUnknown, retry.SandboxTimedout),
		briefly(),
		paced(),
	}
}

// batchRows returns processRows with one difference: a batch that Lambda throttles is retried for forty minutes on
// average. The first delays are the source's, and later ones are five minutes.
func batchRows() []retrypatterns.Row {
	rows := processRows()
	for i := range rows {
		if slices.Contains(rows[i].Errors, retry.LambdaTooManyRequestsException) {
			rows[i].Policy = retry.Seconds(3, 2.5, 300, pacedAttempts(), retry.JitterFull)
			rows[i].Comment = "Addition: Lambda has no capacity for the batch, nor for its records one by one"
			rows[i].Provenance = retrypatterns.Addition
		}
	}
	return rows
}

func aggregateRows() []retrypatterns.Row {
	return []retrypatterns.Row{
		neverRetry(),
		// "Retry of temporary errors of the aggregation"
		source("集約処理の一時的エラー再試行", retry.Seconds(3, 2.0, 180, 3, retry.JitterFull),
			retry.LambdaServiceException, retry.LambdaAWSLambdaException),
		// "Retry of S3 write errors"
		source("S3書き込みエラーの再試行", retry.Seconds(5, 2.5, 300, 3, retry.JitterPartial),
			retry.S3SlowDown, retry.S3ServiceUnavailable),
		addition("faults on the way to Lambda", retrypatterns.Aggressive, retry.LambdaSdkClientException,
			retry.LambdaClientExecutionTimeoutException),
		addition("Lambda or another callee asks for a slower rate", retrypatterns.Conservative, retry.LambdaTooManyRequestsException,
			retry.LambdaThrottledException, retry.TooManyRequestsError),
		addition("S3 or another callee fails", retrypatterns.Aggressive, retry.S3InternalError, retry.ServiceUnavailableError,
			retry.InternalServerError),
		addition("dead letters are settled in the database", retrypatterns.DatabaseOptimized, retry.DatabaseConnectionError,
			retry.AuroraTemporaryError, retry.DeadlockException),
		addition("concurrent update conflicts", retrypatterns.Aggressive, retry.ConcurrentModificationException, retry.OptimisticLockException),
		addition("network errors", retrypatterns.Conservative, retry.TimeoutError, retry.ConnectionTimeoutError, retry.SocketTimeoutError),
		addition("a hang", retrypatterns.Minimal, retry.StatesTimeout, retry.StatesHeartbeatTimeout),
		addition("a crash or the function's own timeout", retrypatterns.Minimal, retry.RuntimeExitError, retry.LambdaUnknown, retry.SandboxTimedout),
		briefly(),
		paced(),
	}
}

func notifyRows() []retrypatterns.Row {
	return []retrypatterns.Row{
		neverRetry(),
		addition("faults of SNS itself", retrypatterns.Aggressive, retry.SNSInternalErrorException, retry.SNSAmazonSNSException,
			retry.SNSSdkClientException),
		addition("SNS throttling", retrypatterns.Conservative, retry.SNSThrottledException),
		addition("a hang", retrypatterns.Minimal, retry.StatesTimeout, retry.StatesHeartbeatTimeout),
	}
}

func neverRetry() retrypatterns.Row {
	return retrypatterns.Row{Errors: PermanentErrors(), Comment: "Addition: permanent errors, never retried", Provenance: retrypatterns.Addition}
}

// briefly retries calls that a limiter refused for the moment. The guard of the functions fails with this error only
// for as many retries as the event allows (member brief of attempt), and with one of paced afterwards.
func briefly() retrypatterns.Row {
	return addition("a call that was deferred for a moment", retrypatterns.Brief, retry.LimitReached)
}

// paced retries calls that a breaker, a limiter or a budget refused; its retries do not count for any other row.
func paced() retrypatterns.Row {
	return addition("a call that was deferred, not made", retrypatterns.Paced, retry.CircuitOpen, retry.RetryBudgetExhausted)
}

func source(comment string, policy retry.Policy, errors ...string) retrypatterns.Row {
	return retrypatterns.Row{Errors: errors, Policy: policy, Comment: comment, Provenance: retrypatterns.FromDesign}
}

func addition(what string, name retrypatterns.PatternName, errors ...string) retrypatterns.Row {
	pattern, _ := retrypatterns.PatternNamed(name)
	comment := "Addition: " + what + ", pattern " + string(name)
	return retrypatterns.Row{
		Errors: errors, Policy: pattern.Policy, Comment: comment, Provenance: retrypatterns.Addition,
	}
}

// pacedAttempts returns the number of retries of the pattern paced.
func pacedAttempts() int {
	paced, _ := retrypatterns.PatternNamed(retrypatterns.Paced)
	return paced.Policy.MaxAttempts
}

func state(name string, timeout, heartbeat time.Duration, rows []retrypatterns.Row) retrypatterns.StateRetries {
	return retrypatterns.StateRetries{State: name, Timeout: timeout, Heartbeat: heartbeat, Rows: rows}
}
