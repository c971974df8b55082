package history_test

import (
	"slices"
	"testing"

	"stepback/aws/model"
	"stepback/engine/history"
)

// stepOf lists what each type of the API means for an attempt, of which task, and whether it timed out.
var stepOf = map[string]struct {
	step     history.Step
	task     history.Task
	timedOut bool
}{
	"ActivityFailed":               {history.StepFailed, history.Activity, false},
	"ActivityScheduled":            {history.StepScheduled, history.Activity, false},
	"ActivityScheduleFailed":       {history.StepFailed, history.Activity, false},
	"ActivityStarted":              {history.StepStarted, history.Activity, false},
	"ActivitySucceeded":            {history.StepSucceeded, history.Activity, false},
	"ActivityTimedOut":             {history.StepFailed, history.Activity, true},
	"ChoiceStateEntered":           {},
	"ChoiceStateExited":            {},
	"EvaluationFailed":             {},
	"ExecutionAborted":             {},
	"ExecutionFailed":              {},
	"ExecutionRedriven":            {},
	"ExecutionStarted":             {},
	"ExecutionSucceeded":           {},
	"ExecutionTimedOut":            {},
	"FailStateEntered":             {},
	"LambdaFunctionFailed":         {history.StepFailed, history.LambdaFunction, false},
	"LambdaFunctionScheduled":      {history.StepScheduled, history.LambdaFunction, false},
	"LambdaFunctionScheduleFailed": {history.StepFailed, history.LambdaFunction, false},
	"LambdaFunctionStarted":        {history.StepStarted, history.LambdaFunction, false},
	"LambdaFunctionStartFailed":    {history.StepFailed, history.LambdaFunction, false},
	"LambdaFunctionSucceeded":      {history.StepSucceeded, history.LambdaFunction, false},
	"LambdaFunctionTimedOut":       {history.StepFailed, history.LambdaFunction, true},
	"MapIterationAborted":          {},
	"MapIterationFailed":           {},
	"MapIterationStarted":          {},
	"MapIterationSucceeded":        {},
	"MapRunAborted":                {},
	"MapRunFailed":                 {},
	"MapRunRedriven":               {},
	"MapRunStarted":                {},
	"MapRunSucceeded":              {},
	"MapStateAborted":              {},
	"MapStateEntered":              {},
	"MapStateExited":               {},
	"MapStateFailed":               {},
	"MapStateStarted":              {},
	"MapStateSucceeded":            {},
	"ParallelStateAborted":         {},
	"ParallelStateEntered":         {},
	"ParallelStateExited":          {},
	"ParallelStateFailed":          {},
	"ParallelStateStarted":         {},
	"ParallelStateSucceeded":       {},
	"PassStateEntered":             {},
	"PassStateExited":              {},
	"SucceedStateEntered":          {},
	"SucceedStateExited":           {},
	"TaskFailed":                   {history.StepFailed, history.Integration, false},
	"TaskScheduled":                {history.StepScheduled, history.Integration, false},
	"TaskStarted":                  {history.StepStarted, history.Integration, false},
	"TaskStartFailed":              {history.StepFailed, history.Integration, false},
	"TaskStateAborted":             {},
	"TaskStateEntered":             {},
	"TaskStateExited":              {},
	"TaskSubmitFailed":             {history.StepFailed, history.Integration, false},
	"TaskSubmitted":                {history.StepSubmitted, history.Integration, false},
	"TaskSucceeded":                {history.StepSucceeded, history.Integration, false},
	"TaskTimedOut":                 {history.StepFailed, history.Integration, true},
	"WaitStateAborted":             {},
	"WaitStateEntered":             {},
	"WaitStateExited":              {},
}

// TestStepOfEveryType checks Step, Task and TimedOut for every type that AWS's model of Step Functions has.
func TestStepOfEveryType(t *testing.T) {
	t.Parallel()
	service, err := model.Find("sfn")
	if err != nil {
		t.Fatal(err)
	}
	get, err := service.Operation("GetExecutionHistory")
	if err != nil {
		t.Fatal(err)
	}
	names := get.Output.Member("events").Shape.Element.Shape.Member("type").Shape.Enum
	if len(names) == 0 {
		t.Fatal("the model has no event types")
	}
	known := map[string]history.Type{}
	for i := history.Unknown + 1; i <= history.EvaluationFailed; i++ {
		known[i.String()] = i
	}
	var failed []string
	for _, name := range names {
		want, ok := stepOf[name]
		if !ok {
			t.Errorf("%s is a type of the API that the table lacks", name)
			continue
		}
		typ, ok := known[name]
		if !ok {
			t.Errorf("%s is a type of the API that package history lacks", name)
			continue
		}
		if typ.Step() != want.step || typ.Task() != want.task || typ.TimedOut() != want.timedOut {
			t.Errorf("%s: step %d, task %d, timed out %v; want %+v", name, typ.Step(), typ.Task(), typ.TimedOut(), want)
		}
		if want.step == history.StepFailed {
			failed = append(failed, name)
		}
	}
	for name := range known {
		if !slices.Contains(names, name) {
			t.Errorf("%s is no type of the API", name)
		}
	}
	var got []string
	for _, typ := range history.FailedTypes() {
		got = append(got, typ.String())
	}
	slices.Sort(failed)
	if slices.Sort(got); !slices.Equal(got, failed) {
		t.Errorf("failed types\n%v, want\n%v", got, failed)
	}
	if u := history.Type(255); u.Step() != history.NoStep || u.Task() != history.NoTask || u.TimedOut() {
		t.Error("a type that does not exist has a step")
	}
}
