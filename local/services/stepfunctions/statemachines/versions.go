package statemachines

import (
	"slices"
	"strconv"
	"time"
)

// maxVersions is how many versions a machine may have.
const maxVersions = 1000

// version finds a version by its ARN; nil when there is none.
func (m *Machine) version(arn string) *Version {
	for i := range m.Versions {
		if m.Versions[i].ARN == arn {
			return &m.Versions[i]
		}
	}
	return nil
}

// published reports whether a revision has a version.
func (m *Machine) published(revision string) bool {
	return slices.ContainsFunc(m.Versions, func(v Version) bool { return v.Revision == revision })
}

// publish returns the version of the current revision, or makes the first one. PublishStateMachineVersion is idempotent
// in this way whatever the description says.
func (m *Machine) publish(description string, now time.Time) *Version {
	for i := range m.Versions {
		if m.Versions[i].Revision == m.Revision {
			return &m.Versions[i]
		}
	}
	return m.publishAnew(description, now)
}

// publishDescribed returns the version of the current revision with this description (any, if it is empty), or
// makes one: an update that changes nothing but the description names a version that has it.
func (m *Machine) publishDescribed(description string, now time.Time) *Version {
	for i := range m.Versions {
		if m.Versions[i].Revision == m.Revision && (description == "" || m.Versions[i].Description == description) {
			return &m.Versions[i]
		}
	}
	return m.publishAnew(description, now)
}

// publishAnew makes a version of the current revision. Numbers are never used again.
func (m *Machine) publishAnew(description string, now time.Time) *Version {
	m.LastVersion++
	m.Versions = append(m.Versions, Version{
		ARN: m.ARN + ":" + strconv.Itoa(m.LastVersion), Revision: m.Revision, Description: description, Created: now,
	})
	return &m.Versions[len(m.Versions)-1]
}
