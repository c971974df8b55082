package history

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"stepback/jsonvalue"
)

// AppendJSON appends the event as GetExecutionHistory returns it: the timestamp in epoch seconds with milliseconds,
// the details member of the event's type, and …Details{truncated:false} members next to inputs and outputs. If data
// is false, inputs, outputs and parameters are left out.
func (e *Event) AppendJSON(dst []byte, data bool) []byte {
	w := writer{dst: append(dst, '{'), first: true}
	w.key("timestamp")
	w.dst = appendSeconds(w.dst, e.Time)
	w.str("type", e.Type.String())
	w.num("id", e.ID)
	w.num("previousEventId", e.Previous)
	if k := types[e.Type].kind; k != none {
		w.key(memberName(e.Type))
		w.object(e, k, data)
	}
	return append(w.dst, '}')
}

func memberName(t Type) string {
	switch {
	case t.Entered():
		return "stateEnteredEventDetails"
	case t.Exited():
		return "stateExitedEventDetails"
	default:
		n := t.String()
		return strings.ToLower(n[:1]) + n[1:] + "EventDetails"
	}
}

// appendSeconds appends nanoseconds since the epoch as seconds with three decimals.
func appendSeconds(dst []byte, ns int64) []byte {
	ms := ns / 1e6
	dst = strconv.AppendInt(dst, ms/1000, 10)
	frac := ms % 1000
	return append(dst, '.', byte('0'+frac/100), byte('0'+frac/10%10), byte('0'+frac%10))
}

type writer struct {
	dst   []byte
	first bool
	limit int // maximum bytes of the data; 0 means unlimited
}

// object writes the details of an event as a JSON object.
func (w *writer) object(e *Event, k kind, data bool) {
	w.dst = append(w.dst, '{')
	w.first = true
	w.details(e, k, data)
	w.dst = append(w.dst, '}')
	w.first = false
}

func (w *writer) key(k string) {
	if !w.first {
		w.dst = append(w.dst, ',')
	}
	w.first = false
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, k...)
	w.dst = append(w.dst, '"', ':')
}

func (w *writer) str(k, v string) {
	w.key(k)
	w.dst = jsonvalue.AppendQuoted(w.dst, v)
}

func (w *writer) num(k string, v int64) {
	w.key(k)
	w.dst = strconv.AppendInt(w.dst, v, 10)
}

func (w *writer) some(k, v string) {
	if v != "" {
		w.str(k, v)
	}
}

// text writes a JSON text as a string, and the member that says whether it was truncated.
func (w *writer) text(k, v string, data bool) {
	if !data {
		return
	}
	shown := w.truncate(v)
	w.str(k, shown)
	w.key(k + "Details")
	w.dst = append(w.dst, `{"truncated":`...)
	w.dst = append(strconv.AppendBool(w.dst, len(shown) < len(v)), '}')
}

// truncate truncates a text to the writer's limit, between two characters.
func (w *writer) truncate(v string) string {
	if w.limit == 0 || len(v) <= w.limit {
		return v
	}
	end := w.limit
	for end > 0 && !utf8.RuneStart(v[end]) {
		end--
	}
	return v[:end]
}

func (w *writer) failure(f Failure) {
	if f.HasName() {
		w.str("error", f.Name)
	}
	if f.HasCause() {
		w.str("cause", f.Cause)
	}
}

func (w *writer) resource(m *Details) {
	w.str("resourceType", m.ResourceType)
	w.str("resource", m.Resource)
}

func (w *writer) limits(m *Details) {
	if m.TimeoutInSeconds > 0 {
		w.num("timeoutInSeconds", m.TimeoutInSeconds)
	}
	if m.HeartbeatInSeconds > 0 {
		w.num("heartbeatInSeconds", m.HeartbeatInSeconds)
	}
}

func (w *writer) credentials(m *Details) {
	if m.RoleARN != "" {
		w.key("taskCredentials")
		w.dst = append(w.dst, `{"roleArn":`...)
		w.dst = jsonvalue.AppendQuoted(w.dst, m.RoleARN)
		w.dst = append(w.dst, '}')
	}
}

var noDetails Details

func (w *writer) details(e *Event, k kind, data bool) {
	m := e.More
	if m == nil {
		m = &noDetails
	}
	switch k {
	case executionStarted:
		w.text("input", e.Data, data)
		w.some("roleArn", m.RoleARN)
		w.some("stateMachineAliasArn", m.AliasARN)
		w.some("stateMachineVersionArn", m.VersionARN)
	case output:
		w.text("output", e.Data, data)
	case failure:
		w.failure(m.Failure)
	case redriven:
		w.num("redriveCount", m.RedriveCount)
	case stateEntered:
		w.str("name", e.Name)
		w.text("input", e.Data, data)
	case stateExited:
		w.exited(e, m, data)
	case task:
		w.resource(m)
	case taskOutput:
		w.resource(m)
		w.text("output", e.Data, data)
	case taskFailure:
		w.resource(m)
		w.failure(m.Failure)
	case taskScheduled, lambdaScheduled, activityScheduled:
		w.scheduled(e, m, k, data)
	case activityStarted:
		w.some("workerName", e.Name)
	case length:
		w.num("length", m.Length)
	case iteration:
		w.str("name", e.Name)
		w.num("index", m.Index)
	case mapRun:
		w.str("mapRunArn", m.MapRunARN)
	case mapRunRedriven:
		w.str("mapRunArn", m.MapRunARN)
		w.num("redriveCount", m.RedriveCount)
	case evaluationFailed:
		w.str("state", e.Name)
		w.failure(m.Failure)
		w.some("location", m.Location)
	case none:
	}
}

func (w *writer) scheduled(e *Event, m *Details, k kind, data bool) {
	switch k {
	case taskScheduled:
		w.resource(m)
		w.str("region", m.Region)
		if data {
			w.str("parameters", w.truncate(e.Data))
		}
	case lambdaScheduled, activityScheduled:
		w.str("resource", m.Resource)
		w.text("input", e.Data, data)
	default: // other types are never scheduled
	}
	w.limits(m)
	w.credentials(m)
}

func (w *writer) exited(e *Event, m *Details, data bool) {
	w.str("name", e.Name)
	w.text("output", e.Data, data)
	if len(m.Assigned) == 0 || !data {
		return
	}
	w.key("assignedVariables")
	w.dst = append(w.dst, '{')
	for i, a := range m.Assigned {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = jsonvalue.AppendQuoted(w.dst, a.Name)
		w.dst = append(w.dst, ':')
		w.dst = jsonvalue.AppendQuoted(w.dst, a.Value)
	}
	w.dst = append(w.dst, `},"assignedVariablesDetails":{"truncated":false}`...)
}
