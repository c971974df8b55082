package stepfunctions

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// ErrNotFound is returned if a Store does not have the requested record.
var ErrNotFound = errors.New("stepfunctions: no such record")

// Store stores state machines, without their executions, and activities. Implementations are safe for concurrent use;
// the records they return belong to the caller.
type Store interface {
	// Machine returns a state machine by its unqualified ARN, or ErrNotFound.
	Machine(arn string) (*Machine, error)
	// Machines returns the state machines whose ARNs start with prefix, in order of creation.
	Machines(prefix string) ([]*Machine, error)
	// MachinesBehind returns at most n of them, in the same order, after the machine with the given creation time and
	// ARN. Its duration does not depend on the number of others.
	MachinesBehind(prefix string, created time.Time, arn string, n int) ([]*Machine, error)
	PutMachine(m *Machine) error
	DeleteMachine(arn string) error
	// Revision returns a revision by its ID, or ErrNotFound. Revisions that executions were started from outlive
	// their state machine.
	Revision(id string) (*Revision, error)
	PutRevision(r *Revision) error
	DeleteRevision(id string) error
	// Activity returns an activity by its ARN, or ErrNotFound.
	Activity(arn string) (*Activity, error)
	// Activities returns the activities whose ARNs start with prefix, in order of creation.
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
	// Publish and VersionDescription come from the request that created the machine; Published is the ARN of the
	// version it published.
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

// Route routes a share of an alias's executions to a version; weights are percentages.
type Route struct {
	VersionARN string `json:"stateMachineVersionArn"`
	Weight     int    `json:"weight"`
}

// Revision is a revision of a state machine's definition and configuration.
type Revision struct {
	ID, MachineARN, Name, Type string
	// Initial is true for the revision that a machine is created with, whose ID the API does not show.
	Initial bool
	// Used is true if executions were started from the revision that refer to it: STANDARD executions, and those that
	// log.
	Used                bool
	Definition, RoleARN string
	Logging             Logging
	Tracing             Tracing
	Encryption          Encryption
	Updated             time.Time
}

// shown returns the revision's ID as the API shows it.
func (r *Revision) shown() string {
	if r.Initial {
		return ""
	}
	return r.ID
}

// same reports whether two revisions are equal except for their identity.
func (r *Revision) same(o *Revision) bool {
	return r.Definition == o.Definition && r.RoleARN == o.RoleARN && r.Logging.equal(o.Logging) &&
		r.Tracing == o.Tracing &&
		r.Encryption == o.Encryption
}
