package history

import "time"

// Event is one event of an execution's history. The flat fields depend on the type:
//
//	Name  the state of entered, exited and iteration events; the worker of ActivityStarted
//	Data  the JSON text of an input, an output or a task's parameters
//
// All rarer details are in More, which is nil if there are none.
type Event struct {
	// ID counts from 1 without gaps. Previous is the ID of the event that this one follows from; it is 0 for the
	// first two events.
	ID, Previous int64
	// Time is in nanoseconds since 1970-01-01 UTC.
	Time int64
	Type Type
	Name string
	Data string
	More *Details
}

// At returns the event's time in UTC.
func (e *Event) At() time.Time { return time.Unix(0, e.Time).UTC() }

// Details are the less frequent details of an event.
type Details struct {
	Failure Failure
	// Resource and ResourceType name the target of a task: "invoke" and "lambda", or a whole ARN for functions and
	// activities.
	Resource, ResourceType string
	Region                 string
	// TimeoutInSeconds and HeartbeatInSeconds are 0 if a task has no such limit.
	TimeoutInSeconds, HeartbeatInSeconds int64
	// Length is the number of items of a Map state. Index is the index of an iteration, from 0. RedriveCount is the
	// number of redrives.
	Length, Index, RedriveCount int64
	RoleARN                     string // of the execution, or of a task's credentials
	MapRunARN                   string
	VersionARN, AliasARN        string // by which an execution was started
	Location                    string // of a failed evaluation
	// Assigned are the variables that a state set, as JSON text, in the order of their names.
	Assigned []Assignment
}

// Assignment is one variable and the JSON text of its value.
type Assignment struct{ Name, Value string }

// Instant formats a time as in the context object: UTC with milliseconds, or without them if they are zero.
func Instant(t time.Time) string {
	t = t.UTC()
	if t.Nanosecond()/1e6 == 0 {
		return t.Format("2006-01-02T15:04:05Z")
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}
