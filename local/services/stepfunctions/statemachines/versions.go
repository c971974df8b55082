package statemachines

import (
	"slices"
	"strconv"
	"time"
)

// maxVersions is the maximum number of versions per state machine.
const maxVersions = 1000

// version returns the version with an ARN, or nil if there is none.
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

// publish returns the first version of the current revision, or creates one if there is none. This makes
// PublishStateMachineVersion idempotent, whatever its description.
func (m *Machine) publish(description string, now time.Time) *Version {
	for i := range m.Versions {
		if m.Versions[i].Revision == m.Revision {
			return &m.Versions[i]
		}
	}
	return m.publishAnew(description, now)
}

// publishDescribed returns the version of the current revision with this description (or any, if it is empty), or
// creates one. So an update that only changes the version description returns a version with that description.
func (m *Machine) publishDescribed(description string, now time.Time) *Version {
	for i := range m.Versions {
		if m.Versions[i].Revision == m.Revision && (description == "" || m.Versions[i].Description == description) {
			return &m.Versions[i]
		}
	}
	return m.publishAnew(description, now)
}

// publishAnew creates a version of the current revision. Version numbers are never reused.
func (m *Machine) publishAnew(description string, now time.Time) *Version {
	m.LastVersion++
	m.Versions = append(m.Versions, Version{
		ARN: m.ARN + ":" + strconv.Itoa(m.LastVersion), Revision: m.Revision, Description: description, Created: now,
	})
	return &m.Versions[len(m.Versions)-1]
}
