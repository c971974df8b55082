package statemachines

import (
	"context"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

type deleteVersionRequest struct {
	ARN string `json:"stateMachineVersionArn"`
}

// deleteStateMachineVersion deletes a version. It succeeds if the version does not exist.
func (s *Service) deleteStateMachineVersion(_ context.Context, scope aws.Scope, in *deleteVersionRequest) (*none,
	error) {
	at, err := resource.Parse(in.ARN, resource.KindMachine)
	if err != nil {
		return nil, err
	}
	if !at.Qualified() || strings.Trim(at.Names[1], "0123456789") != "" { // an alias is none
		return nil, apierror.InvalidARN("Invalid ARN: " + in.ARN)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.machine(scope, at)
	if apierror.IsMissing(err) {
		return &none{}, nil
	}
	if err != nil {
		return nil, err
	}
	if using := m.aliasesOf(in.ARN); len(using) > 0 {
		return nil, apierror.Conflict("Version to be deleted must not be referenced by an alias. Current list of aliases referencing this version: [" +
			strings.Join(using, ", ") + "]")
	}
	v := m.version(in.ARN)
	if v == nil {
		return &none{}, nil
	}
	revision := v.Revision
	m.Versions = slices.DeleteFunc(m.Versions, func(v Version) bool { return v.ARN == in.ARN })
	if err := s.cfg.Store.PutMachine(m); err != nil {
		return nil, err
	}
	return &none{}, s.forget(m, revision)
}

// aliasesOf returns the names of the aliases that route to a version.
func (m *Machine) aliasesOf(version string) []string {
	var names []string
	for _, a := range m.Aliases {
		if slices.ContainsFunc(a.Routing, func(r Route) bool { return r.VersionARN == version }) {
			names = append(names, a.Name)
		}
	}
	return names
}
