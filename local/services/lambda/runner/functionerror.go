package runner

import (
	"encoding/json"
	"fmt"
	"time"

	"stepback/tasks/lambda/invocation"
)

// answer is an execution environment's response to one invocation.
type answer struct {
	payload []byte
	failed  bool // payload is {"errorMessage", "errorType", …}
	logged  bool // the runtime has logged its error itself
	// log is the text that the service logs for an error, if that differs from the payload. status is the status in
	// the REPORT line.
	log, status string
	// contentType is the Content-Type of the payload.
	contentType string
	// streamed is true if the response was passed to the caller in pieces; the payload is then an error or empty.
	// refused is the error of the caller that did not take them.
	streamed bool
	refused  error
}

// failure returns the answer for an error that the service itself reports.
func failure(errorType, message string) answer {
	payload, err := json.Marshal(struct {
		Type    string `json:"errorType"`
		Message string `json:"errorMessage"`
	}{errorType, message})
	if err != nil {
		panic(err) // two strings can always be marshalled
	}
	return answer{payload: payload, failed: true}
}

func timedOut(requestID string, after time.Duration) answer {
	what := fmt.Sprintf("Task timed out after %.2f seconds", after.Seconds())
	a := failure("Sandbox.Timedout", "RequestId: "+requestID+" Error: "+what)
	a.log = time.Now().UTC().Format("2006-01-02T15:04:05.000Z") + " " + requestID + " " + what
	a.status = "\tStatus: timeout"
	return a
}

// exited returns the answer for a process that ended without a response. how describes its end: "exit status 1",
// "signal: killed", or empty for status 0.
func exited(requestID, how string) answer {
	message := "RequestId: " + requestID + " Error: Runtime exited without providing a reason"
	if how != "" {
		message = "RequestId: " + requestID + " Error: Runtime exited with error: " + how
	}
	a := failure(exitError, message)
	a.log = message + "\n" + exitError
	a.status = "\tStatus: error\tError Type: " + exitError
	return a
}

const exitError = "Runtime.ExitError"

func responseTooLarge(size int) answer {
	return failure("Function.ResponseSizeTooLarge", fmt.Sprintf(
		"Response payload size (%d bytes) exceeded maximum allowed payload size (%d bytes).", size,
		invocation.MaxResponseBytes))
}

// settle validates a function's result. Lambda passes on bytes that are not JSON, which no state machine can use.
// Here they become a function error that quotes them, unless any is true.
func settle(a answer, any bool) answer {
	switch {
	case len(a.payload) > invocation.MaxResponseBytes:
		return responseTooLarge(len(a.payload))
	case a.refused != nil, (any || a.streamed) && !a.failed, json.Valid(a.payload):
		return a
	case a.failed:
		return failure("Runtime.SerializationError",
			fmt.Sprintf("The function reported an error that is not JSON: %.100q", a.payload))
	default:
		return failure("Runtime.SerializationError", fmt.Sprintf(
			"The function answered %d bytes that are not JSON; they begin with %.100q. Return a value that encodes to JSON.", len(a.payload), a.payload))
	}
}
