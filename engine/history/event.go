package history

import "time"

// Event is one event of an execution's history. What the flat fields hold depends on the type:
//
//	Name  the state of entered, exited and iteration events; the worker of ActivityStarted
//	Data  the JSON text of an input, an output or a task's parameters
//
// Everything rarer is in More, which is nil when there is none of it.
type Event struct {
	// ID counts from 1 without gaps; Previous is the event this one follows from, 0 for the first two.
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

// Details are the rarer members of an event.
type Details struct {
	Failure Failure
	// Resource and ResourceType name what a task calls: "invoke" and "lambda", or a whole ARN for functions and
	// activities.
	Resource, ResourceType string
	Region                 string
	// TimeoutInSeconds and HeartbeatInSeconds are 0 when a task has no such limit.
	TimeoutInSeconds, HeartbeatInSeconds int64
	// Length is the number of items of a Map state, Index the iteration's place from 0, RedriveCount counts redrives.
	Length, Index, RedriveCount int64
	RoleARN                     string // of the execution, or of a task's credentials
	MapRunARN                   string
	VersionARN, AliasARN        string // that an execution was started by
	Location                    string // of a failed evaluation
	// Assigned are the variables that a state set, as JSON text, in the order of their names.
	Assigned []Assignment
}

// Assignment is one variable and the JSON text of its value.
type Assignment struct{ Name, Value string }

// Instant formats a time as the context object shows it: UTC with milliseconds, without them when they are zero.
func Instant(t time.Time) string {
	t = t.UTC()
	if t.Nanosecond()/1e6 == 0 {
		return t.Format("2006-01-02T15:04:05Z")
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}
