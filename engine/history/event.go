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
	Failure
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

// Failure is an error name and a cause, each of which may be absent (which differs from being empty).
type Failure struct {
	Error, Cause       string
	HasError, HasCause bool
}

// The longest error name and cause of the API's model, in characters.
const (
	maxError = 256
	maxCause = 32_768
)

// NewFailure returns a failure with both an error name and a cause, cut to the lengths that the API allows.
func NewFailure(name, cause string) Failure {
	return Failure{Error: cut(name, maxError), Cause: cut(cause, maxCause), HasError: true, HasCause: true}
}

// cut returns at most the first n characters of a text.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Named returns a failure that has an error name and no cause.
func Named(name string) Failure { return Failure{Error: name, HasError: true} }
