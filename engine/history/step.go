package history

// Step is the step of a task's attempt that an event reports.
type Step uint8

// The steps of an attempt, in their order.
const (
	NoStep        Step = iota // the event belongs to no attempt
	StepScheduled             // the attempt begins
	StepStarted               // the function, worker or integration has taken the task
	StepSubmitted             // a job or a task with a token has been handed over; its end is awaited
	StepSucceeded             // the attempt ended with a result
	StepFailed                // the attempt ended without one: by an error, a timeout, or because it could not begin
)

// Task is the kind of task that an event belongs to.
type Task uint8

// The kinds of tasks.
const (
	NoTask         Task = iota
	Integration         // a service integration, such as arn:aws:states:::lambda:invoke; its events are named Task…
	LambdaFunction      // a function that the state names by its ARN
	Activity
	// DurableStep is a step of a durable execution of Lambda. Its name is the state of its attempts.
	DurableStep
)

// steps classifies the events of tasks. All other types have NoStep and NoTask.
var steps = [len(types)]struct {
	step     Step
	task     Task
	timedOut bool
}{
	TaskScheduled:    {StepScheduled, Integration, false},
	TaskStarted:      {StepStarted, Integration, false},
	TaskSubmitted:    {StepSubmitted, Integration, false},
	TaskSucceeded:    {StepSucceeded, Integration, false},
	TaskFailed:       {StepFailed, Integration, false},
	TaskTimedOut:     {StepFailed, Integration, true},
	TaskStartFailed:  {StepFailed, Integration, false},
	TaskSubmitFailed: {StepFailed, Integration, false},

	LambdaFunctionScheduled:      {StepScheduled, LambdaFunction, false},
	LambdaFunctionStarted:        {StepStarted, LambdaFunction, false},
	LambdaFunctionSucceeded:      {StepSucceeded, LambdaFunction, false},
	LambdaFunctionFailed:         {StepFailed, LambdaFunction, false},
	LambdaFunctionTimedOut:       {StepFailed, LambdaFunction, true},
	LambdaFunctionScheduleFailed: {StepFailed, LambdaFunction, false},
	LambdaFunctionStartFailed:    {StepFailed, LambdaFunction, false},

	ActivityScheduled:      {StepScheduled, Activity, false},
	ActivityStarted:        {StepStarted, Activity, false},
	ActivitySucceeded:      {StepSucceeded, Activity, false},
	ActivityFailed:         {StepFailed, Activity, false},
	ActivityTimedOut:       {StepFailed, Activity, true},
	ActivityScheduleFailed: {StepFailed, Activity, false},

	DurableStepStarted:   {StepScheduled, DurableStep, false},
	DurableStepSucceeded: {StepSucceeded, DurableStep, false},
	DurableStepFailed:    {StepFailed, DurableStep, false},
}

// Step returns the step of a task's attempt that events of the type report. It is the only place that decides which
// events count as failed attempts.
func (t Type) Step() Step {
	if int(t) >= len(steps) {
		return NoStep
	}
	return steps[t].step
}

// Task returns the kind of task that events of the type belong to.
func (t Type) Task() Task {
	if int(t) >= len(steps) {
		return NoTask
	}
	return steps[t].task
}

// TimedOut reports whether an event of the type ends an attempt because its state's timeout or heartbeat ran out.
func (t Type) TimedOut() bool { return int(t) < len(steps) && steps[t].timedOut }

// scheduleFailed reports whether an event of the type may replace a Scheduled event. In that case the attempt ended
// before it began.
func (t Type) scheduleFailed() bool {
	return t == LambdaFunctionScheduleFailed || t == ActivityScheduleFailed
}

// FailedTypes returns the types of Step Functions that count as failed attempts, for queries of the logs of state
// machines.
func FailedTypes() []Type {
	var failed []Type
	for t := range Type(len(types)) {
		if t.Step() == StepFailed && t.Task() != DurableStep {
			failed = append(failed, t)
		}
	}
	return failed
}

// StateOf returns the name of the state that an event belongs to. For an entered or exited event, that is the
// event's own state. For others, it is the state of the closest earlier event that names one, following Previous.
// It returns "" if there is none. events holds the history from its first known event on, without gaps up to e.
func StateOf(events []Event, e *Event) string {
	for !e.Type.Entered() && !e.Type.Exited() {
		if len(events) == 0 {
			return ""
		}
		i := e.Previous - events[0].ID
		if i < 0 || i >= int64(len(events)) || e.Previous >= e.ID {
			return "" // a damaged history could otherwise lead in a circle
		}
		before := &events[i]
		if before.ID != e.Previous {
			return ""
		}
		e = before
	}
	return e.Name
}
