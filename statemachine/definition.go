package statemachine

import (
	"fmt"
	"slices"
	"time"

	"stepback/retry"
	"stepback/retrypatterns"
)

// The states that are not in the retry table, which names all others.
const (
	initialize        = "Initialize"
	checkValidation   = "CheckValidation"
	invalidFile       = "InvalidFile"
	validationFailure = "ValidationFailure"
	checkRejection    = "CheckRejection"
	checkFailure      = "CheckFailure"
	importRejected    = "ImportRejected"
	processBatch      = "ProcessBatch"
	splitBatch        = "SplitBatch"
	processOneByOne   = "ProcessOneByOne"
	rejectRecord      = "RejectRecord"
	deadLetterRecord  = "DeadLetterRecord"
	checkTolerance    = "CheckTolerance"
	takeNextPart      = "NextPart"
	mapRunFailed      = "MapRunFailed"
	toleranceExceeded = "ToleranceExceeded"
	importSucceeded   = "ImportSucceeded"
	importFailed      = "ImportFailed"
)

// ToleranceExceeded is the error of an execution in which too many rows were rejected or dead-lettered.
const ToleranceExceeded = ToleratedFailurePercentageExceeded

// The distributed Maps. Their names are also their Labels.
const (
	ProcessUserRecords = "ProcessUserRecords" // over the rows of a file, or of a part of a large one
	ValidateRanges     = "ValidateRanges"     // over the ranges of a large file
)

// TaskStates returns the names of the states that invoke a Lambda function, in the order in which an execution
// reaches them. ApplyBatch only exists in the shape Bulk. ValidateRange is reached by large files only.
func TaskStates() []string {
	return []string{ValidateCSVFile, ValidateRange, ApplyBatch, ProcessSingleUserRecord,
		AggregateResults}
}

// ChildTask returns the name of the only Task state in the child executions of a shape; empty for Bulk, whose children
// have two.
func ChildTask(shape Shape) string {
	if shape == Bulk {
		return ""
	}
	return ProcessSingleUserRecord
}

// WorkPrefix returns the key prefix, in the result bucket, of data that an execution needs only while it runs.
func WorkPrefix(execution string) string { return "work/" + execution }

// OutputPrefix returns the key prefix, in the result bucket, of an execution's output for its users: summary, dead
// letters, corrections.
func OutputPrefix(execution string) string { return "output/" + execution }

// Definition returns the state machine as indented JSON. It takes Retry arrays, timeouts and heartbeats from the
// table's states of the same names. The same table and options always give the same text. The error names each option
// that is out of range, or comes from [retrypatterns.Table.Compile].
func Definition(table retrypatterns.Table, o Options) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("state machine options: %w", err)
	}
	if err := o.checkExpress(table); err != nil {
		return nil, fmt.Errorf("state machine options: %w", err)
	}
	b := builder{Options: o, limits: map[string]object{}, brief: map[string]int{}}
	for _, s := range table.States {
		compiled, err := s.Compile()
		if err != nil {
			return nil, err
		}
		b.limits[s.State], b.brief[s.State] = limits(s, compiled.Retry), briefRetries(compiled.Retry)
	}
	for _, state := range append(TaskStates(), NotifyValidationFailure, NotifyCompletion,
		NotifyFailure) {
		if _, ok := b.limits[state]; !ok {
			return nil, fmt.Errorf("state %q is not in the retry table", state)
		}
	}
	return b.machine().indented()
}

// builder holds the data from which the states are built.
type builder struct {
	Options
	limits map[string]object // each state's timeout, heartbeat and Retry
	brief  map[string]int    // each state's retries after LimitReached
}

// briefRetries returns the number of retries after LimitReached; 0 if a function must not fail with it.
func briefRetries(retriers []retrypatterns.Retrier) int {
	for _, r := range retriers {
		if slices.Contains(r.ErrorEquals, retry.LimitReached) {
			return r.MaxAttempts
		}
	}
	return 0
}

// limits returns the members of a state that the retry table determines.
func limits(s retrypatterns.StateRetries, retriers []retrypatterns.Retrier) object {
	o := object{{"TimeoutSeconds", int(s.Timeout / time.Second)}}
	if s.Heartbeat > 0 {
		o = append(o, member{"HeartbeatSeconds", int(s.Heartbeat / time.Second)})
	}
	return append(o, member{"Retry", retriers})
}

func (b builder) machine() object {
	return object{
		{"Comment", "CSV import: validates a file of user activity, applies it row by row, and accounts for every row"},
		{"StartAt", initialize},
		{"TimeoutSeconds", int(b.Timeout / time.Second)},
		{"States", object{
			{initialize, b.initialize()},
			{ValidateCSVFile, b.validateCSVFile()},
			{checkValidation, b.checkValidation()},
			{ValidateRanges, b.validateRanges()},
			{invalidFile, b.invalidFile()},
			{validationFailure, b.validationFailure()},
			{checkRejection, unlessPart(importRejected, NotifyValidationFailure)},
			{NotifyValidationFailure, b.notifyValidationFailure()},
			{importRejected, fail("The file was not imported")},
			{ProcessUserRecords, b.processUserRecords()},
			{AggregateResults, b.aggregateResults()},
			{checkTolerance, b.checkTolerance()},
			{takeNextPart, nextPart()},
			{NotifyCompletion, b.notifyCompletion()},
			{importSucceeded, object{{"Type", "Succeed"}, {"OutputPath", "$.aggregation.summary"}}},
			{mapRunFailed, b.mapRunFailed()},
			{toleranceExceeded, b.toleranceExceeded()},
			{checkFailure, unlessPart(importFailed, NotifyFailure)},
			{NotifyFailure, b.notifyFailure()},
			{importFailed, fail("Not all rows are accounted for, or too many of them failed")},
		}},
	}
}

// task returns a Task state with its call, the members from the retry table, and the further members in then.
func (b builder) task(state, comment, resource string, parameters object, then object) object {
	o := object{{"Type", "Task"}, {"Comment", comment}, {"Resource", resource}, {"Parameters", parameters}}
	o = append(o, b.limits[state]...)
	return append(o, then...)
}

// lambda returns a Task state that invokes a function. The optimized integration, unlike a bare function ARN, also
// distinguishes Lambda's own faults by name. The payload includes the number of the attempt, because a failing
// function may know that another attempt would not be worth its cost, and the number of retries after LimitReached.
func (b builder) lambda(state, comment, function string, payload object, then object) object {
	attempt := object{
		{"state.$", "$$.State.Name"}, {"retries.$", "$$.State.RetryCount"}, {"entered.$", "$$.State.EnteredTime"},
	}
	if n := b.brief[state]; n > 0 {
		attempt = append(attempt, member{"brief", n})
	}
	payload = append(payload[:len(payload):len(payload)], member{"attempt", attempt})
	return b.task(state, comment, "arn:aws:states:::lambda:invoke", object{{"FunctionName", function},
		{"Payload", payload}}, then)
}

// catchAll returns a Catch that writes any error to path and transitions to next.
func catchAll(path, next string) member {
	return member{"Catch", []object{{{"ErrorEquals", []string{"States.ALL"}}, {"ResultPath", path}, {"Next", next}}}}
}

// fail returns a Fail state that ends the execution with the error that led to it.
func fail(comment string) object {
	return object{{"Type", "Fail"}, {"Comment", comment}, {"ErrorPath", "$.error.Error"},
		{"CausePath", "$.error.Cause"}}
}
