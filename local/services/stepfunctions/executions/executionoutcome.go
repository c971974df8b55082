package executions

import (
	"stepback/aws/server"
	"stepback/engine/history"
	"stepback/engine/journal"
)

const metadataOnly = "METADATA_ONLY"

// included reports whether a payload is part of the response.
type included struct {
	Included bool `json:"included"`
}

// executionOutcome is the outcome of an execution in responses. It does not include the redrive status.
type executionOutcome struct {
	ARN           string         `json:"executionArn"`
	Status        history.Status `json:"status"`
	Stopped       server.Time    `json:"stopDate,omitzero"`
	Input         *string        `json:"input,omitempty"`
	InputDetails  *included      `json:"inputDetails,omitempty"`
	Output        *string        `json:"output,omitempty"`
	OutputDetails *included      `json:"outputDetails,omitempty"`
	TraceHeader   string         `json:"traceHeader,omitempty"`
	Error         *string        `json:"error,omitempty"`
	Cause         *string        `json:"cause,omitempty"`
}

func outcomeOf(x *journal.Execution, data string) executionOutcome {
	out := executionOutcome{ARN: x.ARN, Status: x.Status, Stopped: server.Time(x.Stop), TraceHeader: x.TraceHeader}
	if data != metadataOnly {
		out.Input, out.InputDetails = &x.Input, &included{true}
		if x.Status == history.Succeeded {
			out.Output, out.OutputDetails = &x.Output, &included{true}
		}
	}
	if x.Status == history.TimedOut { // the service gives no further details
		return out
	}
	if x.Failure.HasName() {
		out.Error = &x.Failure.Name
	}
	if x.Failure.HasCause() {
		out.Cause = &x.Failure.Cause
	}
	return out
}
