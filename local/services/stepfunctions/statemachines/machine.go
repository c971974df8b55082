package statemachines

import (
	"maps"
	"slices"
	"time"

	"stepback/local/services/stepfunctions/configuration"
)

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

// Clone returns a copy that shares nothing with the machine.
func (m *Machine) Clone() *Machine {
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
	// Used is true if stored executions or logs may refer to the revision: a STANDARD execution was started from
	// it, or an EXPRESS execution that logs.
	Used                bool
	Definition, RoleARN string
	Logging             configuration.Logging
	Tracing             configuration.Tracing
	Encryption          configuration.Encryption
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
	return r.Definition == o.Definition && r.RoleARN == o.RoleARN && r.Logging.Equal(o.Logging) &&
		r.Tracing == o.Tracing &&
		r.Encryption == o.Encryption
}
