package stepfunctions

import (
	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/interpreter"
	"stepback/tasks/httptask"
)

// The values of inspectionLevel; the first is what holds when there is none.
const (
	inspectOutcome = "INFO"
	inspectData    = "DEBUG"
	inspectTrace   = "TRACE"
)

type testStateResponse struct {
	Status     string         `json:"status"`
	Output     *string        `json:"output,omitempty"`
	Error      *string        `json:"error,omitempty"`
	Cause      *string        `json:"cause,omitempty"`
	NextState  string         `json:"nextState,omitempty"`
	Inspection map[string]any `json:"inspectionData,omitempty"`
}

// errorDetails say what handles the error of a state; the backoff is in seconds.
type errorDetails struct {
	CatchIndex *int     `json:"catchIndex,omitempty"`
	RetryIndex *int     `json:"retryIndex,omitempty"`
	Backoff    *float64 `json:"retryBackoffIntervalSeconds,omitempty"`
}

// testStateOutcome is the answer for a state that has been tested.
func testStateOutcome(in *testStateRequest, info interpreter.Info, tr *interpreter.Trial,
	done engine.TestedState) *testStateResponse {
	out := &testStateResponse{NextState: tr.Next}
	switch {
	case done.Status == interpreter.Succeeded && tr.Catcher != nil:
		out.Status, out.Output = "CAUGHT_ERROR", &done.Output
		out.failed(tr.Caught)
	case done.Status == interpreter.Succeeded:
		out.Status, out.Output = "SUCCEEDED", &done.Output
	default:
		out.Status = "FAILED"
		if tr.Backoff != nil {
			out.Status = "RETRIABLE"
		}
		out.failed(done.Failure)
	}
	if in.InspectionLevel == inspectData || in.InspectionLevel == inspectTrace {
		out.Inspection = inspectionOf(info, tr)
	}
	return out
}

func (r *testStateResponse) failed(f history.Failure) {
	if f.HasError {
		r.Error = &f.Error
	}
	if f.HasCause {
		r.Cause = &f.Cause
	}
}

// inspectionOf is the data of every step of the state that was reached.
func inspectionOf(info interpreter.Info, tr *interpreter.Trial) map[string]any {
	data := map[string]any{"input": info.Input}
	for stage, text := range tr.Stages {
		data[string(stage)] = text
	}
	if tr.MaxConcurrency != nil {
		data["maxConcurrency"] = *tr.MaxConcurrency
	}
	if tr.ToleratedFailureCount != nil {
		data["toleratedFailureCount"] = int64(*tr.ToleratedFailureCount)
	}
	if tr.ToleratedFailurePercentage != nil {
		data["toleratedFailurePercentage"] = *tr.ToleratedFailurePercentage
	}
	if tr.Catcher != nil || tr.Retrier != nil {
		d := errorDetails{CatchIndex: tr.Catcher, RetryIndex: tr.Retrier}
		if tr.Backoff != nil {
			seconds := tr.Backoff.Seconds()
			d.Backoff = &seconds
		}
		data["errorDetails"] = d
	}
	return data
}

// The request and the response of an HTTP Task.
type (
	inspectedRequest struct {
		Protocol string `json:"protocol"`
		Method   string `json:"method"`
		URL      string `json:"url"`
		Headers  string `json:"headers"`
		Body     string `json:"body,omitempty"`
	}
	inspectedResponse struct {
		Protocol      string `json:"protocol"`
		StatusCode    string `json:"statusCode"`
		StatusMessage string `json:"statusMessage"`
		Headers       string `json:"headers"`
		Body          string `json:"body,omitempty"`
	}
)

// exchanged shows what an HTTP Task sent and was answered.
func (r *testStateResponse) exchanged(t *httptask.Trace) {
	if t.Request != nil {
		r.Inspection["request"] = inspectedRequest(*t.Request)
	}
	if t.Response != nil {
		r.Inspection["response"] = inspectedResponse(*t.Response)
	}
}
