package teststate

import (
	"stepback/engine"
	"stepback/engine/history"
	"stepback/tasks/httptask"
)

// The values of inspectionLevel; the first is the default.
const (
	inspectOutcome = "INFO"
	inspectData    = "DEBUG"
	inspectTrace   = "TRACE"
)

// Response is the operation's response. Its members have the names of the API.
type Response struct {
	Status     string         `json:"status"`
	Output     *string        `json:"output,omitempty"`
	Error      *string        `json:"error,omitempty"`
	Cause      *string        `json:"cause,omitempty"`
	NextState  string         `json:"nextState,omitempty"`
	Inspection map[string]any `json:"inspectionData,omitempty"`
}

// errorDetails describes how a state's error is handled; the backoff is in seconds.
type errorDetails struct {
	CatchIndex *int     `json:"catchIndex,omitempty"`
	RetryIndex *int     `json:"retryIndex,omitempty"`
	Backoff    *float64 `json:"retryBackoffIntervalSeconds,omitempty"`
}

// testStateOutcome returns the response for a tested state.
func testStateOutcome(in *Request, input string, done *engine.TestedState) *Response {
	out := &Response{NextState: done.Next}
	switch {
	case done.Status == history.Succeeded && done.Catcher != nil:
		out.Status, out.Output = "CAUGHT_ERROR", &done.Output
		out.failed(done.Caught)
	case done.Status == history.Succeeded:
		out.Status, out.Output = "SUCCEEDED", &done.Output
	default:
		out.Status = "FAILED"
		if done.Backoff != nil {
			out.Status = "RETRIABLE"
		}
		out.failed(done.Failure)
	}
	if in.InspectionLevel == inspectData || in.InspectionLevel == inspectTrace {
		out.Inspection = inspectionOf(input, done)
	}
	return out
}

func (r *Response) failed(f history.Failure) {
	if f.HasName() {
		r.Error = &f.Name
	}
	if f.HasCause() {
		r.Cause = &f.Cause
	}
}

// inspectionOf returns the inspection data: the input, and the data of every stage that the state reached.
func inspectionOf(input string, done *engine.TestedState) map[string]any {
	data := map[string]any{"input": input}
	for stage, text := range done.Stages {
		data[stage] = text
	}
	if done.MaxConcurrency != nil {
		data["maxConcurrency"] = *done.MaxConcurrency
	}
	if done.ToleratedFailureCount != nil {
		data["toleratedFailureCount"] = int64(*done.ToleratedFailureCount)
	}
	if done.ToleratedFailurePercentage != nil {
		data["toleratedFailurePercentage"] = *done.ToleratedFailurePercentage
	}
	if done.Catcher != nil || done.Retrier != nil {
		d := errorDetails{CatchIndex: done.Catcher, RetryIndex: done.Retrier}
		if done.Backoff != nil {
			seconds := done.Backoff.Seconds()
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

// exchanged adds the request and the response of an HTTP Task to the inspection data.
func (r *Response) exchanged(t *httptask.Trace) {
	if t.Request != nil {
		r.Inspection["request"] = inspectedRequest(*t.Request)
	}
	if t.Response != nil {
		r.Inspection["response"] = inspectedResponse(*t.Response)
	}
}
