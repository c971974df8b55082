package statemachines

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/configuration"
	"stepback/local/services/stepfunctions/resource"
)

type describeStateMachineRequest struct {
	ARN          string `json:"stateMachineArn"`
	IncludedData string `json:"includedData"`
}

// RevisionDetails has the definition and the configuration of a revision as responses show them.
type RevisionDetails struct {
	Definition         string                   `json:"definition,omitempty"`
	RoleARN            string                   `json:"roleArn"`
	Logging            configuration.Logging    `json:"loggingConfiguration"`
	Tracing            configuration.Tracing    `json:"tracingConfiguration"`
	Encryption         configuration.Encryption `json:"encryptionConfiguration"`
	RevisionID         string                   `json:"revisionId,omitempty"`
	VariableReferences map[string][]string      `json:"variableReferences,omitempty"`
}

// DetailsOf returns the details of a revision. included is the request's includedData: METADATA_ONLY leaves out the
// definition.
func DetailsOf(r *Revision, included string) RevisionDetails {
	c := RevisionDetails{
		Definition: r.Definition, RoleARN: r.RoleARN, Logging: r.Logging, Tracing: r.Tracing, Encryption: r.Encryption,
		RevisionID: r.shown(), VariableReferences: variableReferences(r.Definition),
	}
	if included == "METADATA_ONLY" {
		c.Definition, c.VariableReferences = "", nil
	}
	return c
}

type describeStateMachineResponse struct {
	ARN         string      `json:"stateMachineArn"`
	Name        string      `json:"name"`
	Status      string      `json:"status"`
	Type        string      `json:"type"`
	Created     server.Time `json:"creationDate"`
	Description string      `json:"description,omitempty"`
	Label       string      `json:"label,omitempty"`
	RevisionDetails
}

func (s *Service) describeStateMachine(_ context.Context, scope aws.Scope,
	in *describeStateMachineRequest) (*describeStateMachineResponse, error) {
	at, err := resource.Parse(in.ARN, resource.KindMachine)
	if err != nil {
		return nil, err
	}
	if at.Labelled() {
		return s.describeLabelled(scope, at, in.IncludedData)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.machine(scope, at)
	if err != nil {
		return nil, err
	}
	out := &describeStateMachineResponse{ARN: m.ARN, Name: m.Name, Status: m.status(), Type: m.Type,
		Created: server.Time(m.Created)}
	revision := m.Revision
	if at.Qualified() {
		v := m.version(at.Text)
		if v == nil {
			return nil, apierror.NoMachine(at.Text)
		}
		out.ARN, out.Description, out.Created, revision = v.ARN, v.Description, server.Time(v.Created), v.Revision
	}
	r, err := s.cfg.Store.Revision(revision)
	if err != nil {
		return nil, err
	}
	out.RevisionDetails = DetailsOf(r, in.IncludedData)
	return out, nil
}

// status returns the machine's status as the API spells it.
func (m *Machine) status() string {
	if m.Deleting {
		return "DELETING"
	}
	return "ACTIVE"
}
