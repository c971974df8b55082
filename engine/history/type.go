// Package history defines the record of an execution: the event types of AWS Step Functions, their details, their
// JSON as GetExecutionHistory returns it, and a compact binary form for storage. It describes events; it never
// decides which event comes next.
package history

// Type is the type of a history event. The numbers are stored, so new types must be added at the end.
type Type uint8

// The event types of the Step Functions API.
const (
	Unknown Type = iota
	ExecutionStarted
	ExecutionSucceeded
	ExecutionFailed
	ExecutionAborted
	ExecutionTimedOut
	ExecutionRedriven
	ChoiceStateEntered
	FailStateEntered
	MapStateEntered
	ParallelStateEntered
	PassStateEntered
	SucceedStateEntered
	TaskStateEntered
	WaitStateEntered
	ChoiceStateExited
	MapStateExited
	ParallelStateExited
	PassStateExited
	SucceedStateExited
	TaskStateExited
	WaitStateExited
	TaskScheduled
	TaskStarted
	TaskSubmitted
	TaskSucceeded
	TaskFailed
	TaskTimedOut
	TaskStartFailed
	TaskSubmitFailed
	TaskStateAborted
	WaitStateAborted
	LambdaFunctionScheduled
	LambdaFunctionStarted
	LambdaFunctionSucceeded
	LambdaFunctionFailed
	LambdaFunctionTimedOut
	LambdaFunctionScheduleFailed
	LambdaFunctionStartFailed
	ActivityScheduled
	ActivityStarted
	ActivitySucceeded
	ActivityFailed
	ActivityTimedOut
	ActivityScheduleFailed
	MapStateStarted
	MapStateSucceeded
	MapStateFailed
	MapStateAborted
	MapIterationStarted
	MapIterationSucceeded
	MapIterationFailed
	MapIterationAborted
	MapRunStarted
	MapRunSucceeded
	MapRunFailed
	MapRunAborted
	MapRunRedriven
	ParallelStateStarted
	ParallelStateSucceeded
	ParallelStateFailed
	ParallelStateAborted
	EvaluationFailed
)

// The event types of the durable executions of Lambda, which begin and end with the types of executions above. Data is
// the event in the form of Lambda's API, without its type, number and time; see package durable.
const (
	DurableContextStarted = iota + EvaluationFailed + 1
	DurableContextSucceeded
	DurableContextFailed
	DurableWaitStarted
	DurableWaitSucceeded
	DurableWaitCancelled
	DurableStepStarted
	DurableStepSucceeded
	DurableStepFailed
	DurableInvokeStarted
	DurableInvokeSucceeded
	DurableInvokeFailed
	DurableInvokeTimedOut
	DurableInvokeStopped
	DurableCallbackStarted
	DurableCallbackSucceeded
	DurableCallbackFailed
	DurableCallbackTimedOut
	DurableInvocationCompleted
)

// kind says which details member of the API holds an event's details.
type kind uint8

const (
	none kind = iota
	executionStarted
	output
	failure
	redriven
	stateEntered
	stateExited
	taskScheduled
	task
	taskOutput
	taskFailure
	lambdaScheduled
	activityScheduled
	activityStarted
	length
	iteration
	mapRun
	mapRunRedriven
	evaluationFailed
)

var types = [...]struct {
	name string
	kind kind
}{
	Unknown:                      {"Unknown", none},
	ExecutionStarted:             {"ExecutionStarted", executionStarted},
	ExecutionSucceeded:           {"ExecutionSucceeded", output},
	ExecutionFailed:              {"ExecutionFailed", failure},
	ExecutionAborted:             {"ExecutionAborted", failure},
	ExecutionTimedOut:            {"ExecutionTimedOut", failure},
	ExecutionRedriven:            {"ExecutionRedriven", redriven},
	ChoiceStateEntered:           {"ChoiceStateEntered", stateEntered},
	FailStateEntered:             {"FailStateEntered", stateEntered},
	MapStateEntered:              {"MapStateEntered", stateEntered},
	ParallelStateEntered:         {"ParallelStateEntered", stateEntered},
	PassStateEntered:             {"PassStateEntered", stateEntered},
	SucceedStateEntered:          {"SucceedStateEntered", stateEntered},
	TaskStateEntered:             {"TaskStateEntered", stateEntered},
	WaitStateEntered:             {"WaitStateEntered", stateEntered},
	ChoiceStateExited:            {"ChoiceStateExited", stateExited},
	MapStateExited:               {"MapStateExited", stateExited},
	ParallelStateExited:          {"ParallelStateExited", stateExited},
	PassStateExited:              {"PassStateExited", stateExited},
	SucceedStateExited:           {"SucceedStateExited", stateExited},
	TaskStateExited:              {"TaskStateExited", stateExited},
	WaitStateExited:              {"WaitStateExited", stateExited},
	TaskScheduled:                {"TaskScheduled", taskScheduled},
	TaskStarted:                  {"TaskStarted", task},
	TaskSubmitted:                {"TaskSubmitted", taskOutput},
	TaskSucceeded:                {"TaskSucceeded", taskOutput},
	TaskFailed:                   {"TaskFailed", taskFailure},
	TaskTimedOut:                 {"TaskTimedOut", taskFailure},
	TaskStartFailed:              {"TaskStartFailed", taskFailure},
	TaskSubmitFailed:             {"TaskSubmitFailed", taskFailure},
	TaskStateAborted:             {"TaskStateAborted", none},
	WaitStateAborted:             {"WaitStateAborted", none},
	LambdaFunctionScheduled:      {"LambdaFunctionScheduled", lambdaScheduled},
	LambdaFunctionStarted:        {"LambdaFunctionStarted", none},
	LambdaFunctionSucceeded:      {"LambdaFunctionSucceeded", output},
	LambdaFunctionFailed:         {"LambdaFunctionFailed", failure},
	LambdaFunctionTimedOut:       {"LambdaFunctionTimedOut", failure},
	LambdaFunctionScheduleFailed: {"LambdaFunctionScheduleFailed", failure},
	LambdaFunctionStartFailed:    {"LambdaFunctionStartFailed", failure},
	ActivityScheduled:            {"ActivityScheduled", activityScheduled},
	ActivityStarted:              {"ActivityStarted", activityStarted},
	ActivitySucceeded:            {"ActivitySucceeded", output},
	ActivityFailed:               {"ActivityFailed", failure},
	ActivityTimedOut:             {"ActivityTimedOut", failure},
	ActivityScheduleFailed:       {"ActivityScheduleFailed", failure},
	MapStateStarted:              {"MapStateStarted", length},
	MapStateSucceeded:            {"MapStateSucceeded", none},
	MapStateFailed:               {"MapStateFailed", none},
	MapStateAborted:              {"MapStateAborted", none},
	MapIterationStarted:          {"MapIterationStarted", iteration},
	MapIterationSucceeded:        {"MapIterationSucceeded", iteration},
	MapIterationFailed:           {"MapIterationFailed", iteration},
	MapIterationAborted:          {"MapIterationAborted", iteration},
	MapRunStarted:                {"MapRunStarted", mapRun},
	MapRunSucceeded:              {"MapRunSucceeded", none},
	MapRunFailed:                 {"MapRunFailed", failure},
	MapRunAborted:                {"MapRunAborted", none},
	MapRunRedriven:               {"MapRunRedriven", mapRunRedriven},
	ParallelStateStarted:         {"ParallelStateStarted", none},
	ParallelStateSucceeded:       {"ParallelStateSucceeded", none},
	ParallelStateFailed:          {"ParallelStateFailed", none},
	ParallelStateAborted:         {"ParallelStateAborted", none},
	EvaluationFailed:             {"EvaluationFailed", evaluationFailed},
	DurableContextStarted:        {"ContextStarted", none},
	DurableContextSucceeded:      {"ContextSucceeded", none},
	DurableContextFailed:         {"ContextFailed", none},
	DurableWaitStarted:           {"WaitStarted", none},
	DurableWaitSucceeded:         {"WaitSucceeded", none},
	DurableWaitCancelled:         {"WaitCancelled", none},
	DurableStepStarted:           {"StepStarted", none},
	DurableStepSucceeded:         {"StepSucceeded", none},
	DurableStepFailed:            {"StepFailed", none},
	DurableInvokeStarted:         {"ChainedInvokeStarted", none},
	DurableInvokeSucceeded:       {"ChainedInvokeSucceeded", none},
	DurableInvokeFailed:          {"ChainedInvokeFailed", none},
	DurableInvokeTimedOut:        {"ChainedInvokeTimedOut", none},
	DurableInvokeStopped:         {"ChainedInvokeStopped", none},
	DurableCallbackStarted:       {"CallbackStarted", none},
	DurableCallbackSucceeded:     {"CallbackSucceeded", none},
	DurableCallbackFailed:        {"CallbackFailed", none},
	DurableCallbackTimedOut:      {"CallbackTimedOut", none},
	DurableInvocationCompleted:   {"InvocationCompleted", none},
}

// String returns the type's name in the API's spelling.
func (t Type) String() string {
	if int(t) < len(types) {
		return types[t].name
	}
	return types[Unknown].name
}

// Entered reports whether the event is a state's entry.
func (t Type) Entered() bool { return t >= ChoiceStateEntered && t <= WaitStateEntered }

// Exited reports whether the event is a state's exit.
func (t Type) Exited() bool { return t >= ChoiceStateExited && t <= WaitStateExited }

// Terminal reports whether the event ends its execution.
func (t Type) Terminal() bool { return t >= ExecutionSucceeded && t <= ExecutionTimedOut }
