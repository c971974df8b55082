package resultwriter

import (
	"strconv"
	"time"

	"stepback/jsonvalue"
)

// Status is the outcome of a child execution, as AWS names it.
type Status string

// The statuses that a result can have. Pending children were never started, because the Map Run stopped before.
const (
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	TimedOut  Status = "TIMED_OUT"
	Aborted   Status = "ABORTED"
	Pending   Status = "PENDING"
)

// ChildResult is a child execution as recorded in the result files. Empty fields are left out of the record.
type ChildResult struct {
	Status          Status
	ExecutionARN    string
	Name            string
	StateMachineARN string
	Input           string // JSON text
	Output          string // JSON text; only if the child succeeded
	Error, Cause    string // only if the child did not succeed

	RedriveCount        int64
	RedriveStatus       string
	RedriveStatusReason string

	StartDate, StopDate time.Time // written in UTC with milliseconds
}

const dateLayout = "2006-01-02T15:04:05.000Z"

// appendRecord appends the full record, members in alphabetical order as the service writes them.
func (r *ChildResult) appendRecord(dst []byte) []byte {
	o := record{dst: append(dst, '{')}
	o.text("Cause", r.Cause)
	o.text("Error", r.Error)
	o.text("ExecutionArn", r.ExecutionARN)
	o.payload("Input", r.Input)
	o.text("Name", r.Name)
	o.payload("Output", r.Output)
	if r.ExecutionARN != "" {
		o.name("RedriveCount")
		o.dst = strconv.AppendInt(o.dst, r.RedriveCount, 10)
	}
	o.text("RedriveStatus", r.RedriveStatus)
	o.text("RedriveStatusReason", r.RedriveStatusReason)
	o.date("StartDate", r.StartDate)
	o.text("StateMachineArn", r.StateMachineARN)
	o.text("Status", string(r.Status))
	o.date("StopDate", r.StopDate)
	return append(o.dst, '}')
}

// record appends the members of one JSON object.
type record struct {
	dst   []byte
	begun bool
}

func (o *record) name(name string) {
	if o.begun {
		o.dst = append(o.dst, ',')
	}
	o.begun = true
	o.dst = append(o.dst, '"')
	o.dst = append(o.dst, name...)
	o.dst = append(o.dst, '"', ':')
}

func (o *record) text(name, value string) {
	if value == "" {
		return
	}
	o.name(name)
	o.dst = jsonvalue.AppendQuoted(o.dst, value)
}

// payload appends JSON text as a JSON string, followed by the details member that states that the payload is
// included.
func (o *record) payload(name, value string) {
	if value == "" {
		return
	}
	o.text(name, value)
	o.name(name + "Details")
	o.dst = append(o.dst, `{"Included":true}`...)
}

func (o *record) date(name string, at time.Time) {
	if at.IsZero() {
		return
	}
	o.name(name)
	o.dst = append(o.dst, '"')
	o.dst = at.UTC().AppendFormat(o.dst, dateLayout)
	o.dst = append(o.dst, '"')
}
