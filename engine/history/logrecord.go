package history

import (
	"slices"
	"strconv"
	"strings"

	"stepback/jsonvalue"
)

// LogLevel is the level of a loggingConfiguration: ALL, ERROR, FATAL or OFF; empty means OFF.
type LogLevel string

// Includes reports whether events of type t are logged at this level.
func (l LogLevel) Includes(t Type) bool {
	switch l {
	case "ALL":
		return true
	case "ERROR":
		return t.fatal() || t.problem()
	case "FATAL":
		return t.fatal()
	}
	return false
}

// fatal reports whether events of the type end an execution without success.
func (t Type) fatal() bool {
	return t == ExecutionFailed || t == ExecutionAborted || t == ExecutionTimedOut
}

// problem reports whether events of a type that is not fatal are failures, or aborts because of a failure
// elsewhere.
func (t Type) problem() bool {
	if t == FailStateEntered || t == EvaluationFailed {
		return true
	}
	name := t.String()
	return slices.ContainsFunc([]string{"Failed", "TimedOut", "Aborted"},
		func(end string) bool { return strings.HasSuffix(name, end) })
}

// maxLogged is the maximum number of bytes of an input or output in a log record. CloudWatch Logs allows 256 KiB
// for a whole record.
const maxLogged = 248 << 10

// AppendLogRecord appends the event as Step Functions writes it to CloudWatch Logs: a JSON object that has numbers
// as strings and the details of GetExecutionHistory. If data is false, inputs, outputs and parameters are left out.
// Otherwise, long ones are truncated.
func (e *Event) AppendLogRecord(dst []byte, executionARN string, redriveCount int64, data bool) []byte {
	w := writer{dst: append(dst, '{'), first: true, limit: maxLogged}
	number := func(k string, v int64) { w.str(k, strconv.FormatInt(v, 10)) }
	number("id", e.ID)
	w.str("type", e.Type.String())
	w.key("details")
	w.object(e, types[e.Type].kind, data)
	number("previous_event_id", e.Previous)
	const millisecond = 1e6
	number("event_timestamp", e.Time/millisecond)
	w.key("execution_arn")
	w.dst = jsonvalue.AppendQuoted(w.dst, executionARN)
	number("redrive_count", redriveCount)
	return append(w.dst, '}')
}
