package histories

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/engine/history"
)

// eventOf converts the parts of an event that concern retries: its state, the call, and the failure.
func eventOf(e *types.HistoryEvent) history.Event {
	out := history.Event{
		ID: e.Id, Previous: e.PreviousEventId, Time: aws.ToTime(e.Timestamp).UnixNano(),
		Type: history.TypeNamed(string(e.Type)),
	}
	if d := e.StateEnteredEventDetails; d != nil {
		out.Name = aws.ToString(d.Name)
	}
	calls := func(kind, resource, parameters *string) {
		out.Data = aws.ToString(parameters)
		out.More = &history.Details{ResourceType: aws.ToString(kind), Resource: aws.ToString(resource)}
	}
	fails := func(name, cause *string) {
		var f history.Failure
		if name != nil {
			f.SetName(*name)
		}
		if cause != nil {
			f.SetCause(*cause)
		}
		out.More = &history.Details{Failure: f}
	}
	switch {
	case e.TaskScheduledEventDetails != nil:
		d := e.TaskScheduledEventDetails
		calls(d.ResourceType, d.Resource, d.Parameters)
	case e.LambdaFunctionScheduledEventDetails != nil:
		calls(nil, e.LambdaFunctionScheduledEventDetails.Resource, nil)
	case e.ActivityScheduledEventDetails != nil:
		calls(nil, e.ActivityScheduledEventDetails.Resource, nil)
	case e.TaskFailedEventDetails != nil:
		fails(e.TaskFailedEventDetails.Error, e.TaskFailedEventDetails.Cause)
	case e.TaskTimedOutEventDetails != nil:
		fails(e.TaskTimedOutEventDetails.Error, e.TaskTimedOutEventDetails.Cause)
	case e.TaskStartFailedEventDetails != nil:
		fails(e.TaskStartFailedEventDetails.Error, e.TaskStartFailedEventDetails.Cause)
	case e.TaskSubmitFailedEventDetails != nil:
		fails(e.TaskSubmitFailedEventDetails.Error, e.TaskSubmitFailedEventDetails.Cause)
	case e.LambdaFunctionFailedEventDetails != nil:
		fails(e.LambdaFunctionFailedEventDetails.Error, e.LambdaFunctionFailedEventDetails.Cause)
	case e.LambdaFunctionTimedOutEventDetails != nil:
		fails(e.LambdaFunctionTimedOutEventDetails.Error, e.LambdaFunctionTimedOutEventDetails.Cause)
	case e.LambdaFunctionScheduleFailedEventDetails != nil:
		fails(e.LambdaFunctionScheduleFailedEventDetails.Error, e.LambdaFunctionScheduleFailedEventDetails.Cause)
	case e.LambdaFunctionStartFailedEventDetails != nil:
		fails(e.LambdaFunctionStartFailedEventDetails.Error, e.LambdaFunctionStartFailedEventDetails.Cause)
	case e.ActivityFailedEventDetails != nil:
		fails(e.ActivityFailedEventDetails.Error, e.ActivityFailedEventDetails.Cause)
	case e.ActivityTimedOutEventDetails != nil:
		fails(e.ActivityTimedOutEventDetails.Error, e.ActivityTimedOutEventDetails.Cause)
	case e.ActivityScheduleFailedEventDetails != nil:
		fails(e.ActivityScheduleFailedEventDetails.Error, e.ActivityScheduleFailedEventDetails.Cause)
	}
	return out
}
