package executions

import (
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/jsonvalue"
)

// The source and the detail type of execution status change events.
const (
	EventSource       = "aws.states"
	StatusChangeEvent = "Step Functions Execution Status Change"
)

// StatusChange is a change of an execution's status: its time, and the detail of the EventBridge event.
type StatusChange struct {
	At     time.Time
	Detail jsonvalue.Value
}

// maxEventData is the maximum size of an input or output that is included in an event, in bytes.
const maxEventData = 248 << 10

var statusOfEvent = map[history.Type]string{
	history.ExecutionStarted: "RUNNING", history.ExecutionRedriven: "RUNNING", history.ExecutionSucceeded: "SUCCEEDED",
	history.ExecutionFailed: "FAILED", history.ExecutionAborted: "ABORTED", history.ExecutionTimedOut: "TIMED_OUT",
}

// StatusChanges returns the status changes in the events of a step of an execution. As on AWS, Express executions
// have none.
func StatusChanges(x *journal.Execution, events []history.Event) []StatusChange {
	if x.Express {
		return nil
	}
	var changes []StatusChange
	for i := range events {
		if status, ok := statusOfEvent[events[i].Type]; ok {
			changes = append(changes, StatusChange{events[i].At(), statusDetail(x, status)})
		}
	}
	return changes
}

// statusDetail returns the detail of the event, in the form that AWS documents.
func statusDetail(x *journal.Execution, status string) jsonvalue.Value {
	var null jsonvalue.Value
	text := func(s string) jsonvalue.Value {
		if s == "" {
			return null
		}
		return jsonvalue.OfString(s)
	}
	moment := func(t time.Time) jsonvalue.Value {
		if t.IsZero() {
			return null
		}
		return jsonvalue.OfInt(t.UnixMilli())
	}
	running := status == "RUNNING"
	stop, output, failure := x.Stop, x.Output, x.Failure
	if running {
		stop, output, failure = time.Time{}, "", history.Failure{}
	}
	input, inputDetails := eventData(x.Input)
	outcome, outputDetails := eventData(output)
	if output == "" {
		outcome, outputDetails = null, null
	}
	redrive, reason := "NOT_REDRIVABLE", text("Execution is "+status+" and cannot be redriven")
	switch {
	case running || status == "SUCCEEDED":
	case x.MapRunARN != "":
		redrive, reason = "REDRIVABLE_BY_MAP_RUN", null
	default:
		redrive, reason = "REDRIVABLE", null
	}
	b := jsonvalue.NewObject(20)
	b.Set("executionArn", text(x.ARN))
	b.Set("stateMachineArn", text(x.MachineARN))
	b.Set("name", text(x.Name))
	b.Set("status", text(status))
	b.Set("startDate", moment(x.Start))
	b.Set("stopDate", moment(stop))
	b.Set("input", input)
	b.Set("output", outcome)
	b.Set("stateMachineVersionArn", text(x.VersionARN))
	b.Set("stateMachineAliasArn", text(x.AliasARN))
	b.Set("redriveCount", jsonvalue.OfInt(x.RedriveCount))
	b.Set("redriveDate", moment(x.Redriven))
	b.Set("redriveStatus", text(redrive))
	b.Set("redriveStatusReason", reason)
	b.Set("inputDetails", inputDetails)
	b.Set("outputDetails", outputDetails)
	b.Set("error", text(failure.Name))
	b.Set("cause", text(failure.Cause))
	return b.Value()
}

// eventData returns an input or output, or null if it is too long. details says whether it is included.
func eventData(data string) (value, details jsonvalue.Value) {
	included := len(data) <= maxEventData
	if included {
		value = jsonvalue.OfString(data)
	}
	b := jsonvalue.NewObject(1)
	b.Set("included", jsonvalue.OfBool(included))
	return value, b.Value()
}
