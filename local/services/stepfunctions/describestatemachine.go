package stepfunctions

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
)

type describeStateMachineRequest struct {
	ARN          string `json:"stateMachineArn"`
	IncludedData string `json:"includedData"`
}

// configuration is a revision's configuration in responses.
type configuration struct {
	Definition         string              `json:"definition,omitempty"`
	RoleARN            string              `json:"roleArn"`
	Logging            Logging             `json:"loggingConfiguration"`
	Tracing            Tracing             `json:"tracingConfiguration"`
	Encryption         Encryption          `json:"encryptionConfiguration"`
	RevisionID         string              `json:"revisionId,omitempty"`
	VariableReferences map[string][]string `json:"variableReferences,omitempty"`
}

func configurationOf(r *Revision, included string) configuration {
	c := configuration{
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
	configuration
}

func (s *Service) describeStateMachine(_ context.Context, scope aws.Scope,
	in *describeStateMachineRequest) (*describeStateMachineResponse, error) {
	at, err := parseARN(in.ARN, kindMachine)
	if err != nil {
		return nil, err
	}
	if at.labelled() {
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
	if at.qualified() {
		v := m.version(at.text)
		if v == nil {
			return nil, noMachine(at.text)
		}
		out.ARN, out.Description, out.Created, revision = v.ARN, v.Description, server.Time(v.Created), v.Revision
	}
	r, err := s.cfg.Store.Revision(revision)
	if err != nil {
		return nil, err
	}
	out.configuration = configurationOf(r, in.IncludedData)
	return out, nil
}

// status returns the machine's status as the API spells it.
func (m *Machine) status() string {
	if m.Deleting {
		return "DELETING"
	}
	return "ACTIVE"
}
