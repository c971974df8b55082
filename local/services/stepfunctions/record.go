package stepfunctions

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// ErrNotFound says that a Store does not have what it was asked for.
var ErrNotFound = errors.New("stepfunctions: no such record")

// Store keeps what is known of state machines beside their executions, and activities. Implementations are safe for
// concurrent use; what they hand out is the caller's own.
type Store interface {
	// Machine returns a state machine by its unqualified ARN, or ErrNotFound.
	Machine(arn string) (*Machine, error)
	// Machines returns the state machines whose ARN begins with a prefix, in the order of their creation.
	Machines(prefix string) ([]*Machine, error)
	// MachinesBehind returns at most n of them: those behind a place in that order, that of a machine which was created
	// at a time and has an ARN. It takes no longer when there are many others.
	MachinesBehind(prefix string, created time.Time, arn string, n int) ([]*Machine, error)
	PutMachine(m *Machine) error
	DeleteMachine(arn string) error
	// Revision returns a revision by its ID, or ErrNotFound. Revisions of which executions were started outlive their
	// machine.
	Revision(id string) (*Revision, error)
	PutRevision(r *Revision) error
	DeleteRevision(id string) error
	// Activity returns an activity by its ARN, or ErrNotFound.
	Activity(arn string) (*Activity, error)
	// Activities returns the activities whose ARN begins with a prefix, in the order of their creation.
	Activities(prefix string) ([]*Activity, error)
	PutActivity(a *Activity) error
	DeleteActivity(arn string) error
}

// Machine is a state machine.
type Machine struct {
	ARN, Name, Type string
	Created         time.Time
	Deleting        bool
	// Revision is the ID of the current revision.
	Revision string
	// Publish and VersionDescription are those of the request that created the machine, Published its version's ARN.
	Publish            bool
	VersionDescription string
	Published          string
	Tags               map[string]string
	Versions           []Version // oldest first
	LastVersion        int
	Aliases            []Alias // oldest first
}

func (m *Machine) clone() *Machine {
	c := *m
	c.Tags = maps.Clone(m.Tags)
	c.Versions = slices.Clone(m.Versions)
	c.Aliases = slices.Clone(m.Aliases)
	for i := range c.Aliases {
		c.Aliases[i].Routing = slices.Clone(c.Aliases[i].Routing)
	}
	return &c
}

// Version is a published revision.
type Version struct {
	ARN, Revision, Description string
	Created                    time.Time
}

// Alias routes executions to one or two versions.
type Alias struct {
	ARN, Name, Description string
	Routing                []Route
	Created, Updated       time.Time
}

// Route sends a share of an alias's executions to a version; weights are percentages.
type Route struct {
	VersionARN string `json:"stateMachineVersionArn"`
	Weight     int    `json:"weight"`
}

// Revision is one state of a state machine's definition and configuration.
type Revision struct {
	ID, MachineARN, Name, Type string
	// Initial marks the revision that a machine is created with, whose ID the API does not show.
	Initial bool
	// Used says that executions were started of the revision which refer to it: STANDARD ones, and those that log.
	Used                bool
	Definition, RoleARN string
	Logging             Logging
	Tracing             Tracing
	Encryption          Encryption
	Updated             time.Time
}

// shown is the revision's ID as the API shows it.
func (r *Revision) shown() string {
	if r.Initial {
		return ""
	}
	return r.ID
}

// same reports whether two revisions differ in nothing but their identity.
func (r *Revision) same(o *Revision) bool {
	return r.Definition == o.Definition && r.RoleARN == o.RoleARN && r.Logging.equal(o.Logging) &&
		r.Tracing == o.Tracing &&
		r.Encryption == o.Encryption
}
