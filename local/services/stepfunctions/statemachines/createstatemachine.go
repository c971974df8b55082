package statemachines

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/configuration"
	"stepback/local/services/stepfunctions/resource"
	"stepback/local/services/stepfunctions/tags"
)

// The types of state machines.
const (
	TypeStandard = "STANDARD"
	TypeExpress  = "EXPRESS"
)

type createStateMachineRequest struct {
	Name               string                    `json:"name"`
	Definition         string                    `json:"definition"`
	RoleARN            string                    `json:"roleArn"`
	Type               string                    `json:"type"`
	Logging            *configuration.Logging    `json:"loggingConfiguration"`
	Tracing            *configuration.Tracing    `json:"tracingConfiguration"`
	Encryption         *configuration.Encryption `json:"encryptionConfiguration"`
	Tags               []tags.Tag                `json:"tags"`
	Publish            bool                      `json:"publish"`
	VersionDescription string                    `json:"versionDescription"`
}

type createStateMachineResponse struct {
	ARN        string      `json:"stateMachineArn"`
	Created    server.Time `json:"creationDate"`
	VersionARN string      `json:"stateMachineVersionArn,omitempty"`
}

func (s *Service) createStateMachine(_ context.Context, scope aws.Scope,
	in *createStateMachineRequest) (*createStateMachineResponse, error) {
	if !aws.ValidStatesName(in.Name) {
		return nil, apierror.InvalidName(in.Name)
	}
	if !in.Publish && in.VersionDescription != "" {
		return nil, server.Invalid("Version description can only be set when publish is true")
	}
	if err := resource.CheckRole(in.RoleARN); err != nil {
		return nil, err
	}
	m, r, err := s.newMachine(scope, in)
	if err != nil {
		return nil, err
	}
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	plan, err := accept(e, r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, err = s.insert(scope, m, r); err != nil {
		return nil, err
	}
	if m.Revision == r.ID {
		s.compiled[r.ID] = plan
	}
	return &createStateMachineResponse{m.ARN, server.Time(m.Created), m.Published}, nil
}

// newMachine returns the state machine that a request describes, with its first revision.
func (s *Service) newMachine(scope aws.Scope, in *createStateMachineRequest) (*Machine, *Revision, error) {
	if in.Type == "" {
		in.Type = TypeStandard
	}
	logging, err := configuration.LoggingOf(in.Logging)
	if err != nil {
		return nil, nil, err
	}
	encryption, err := configuration.EncryptionOf(in.Encryption)
	if err != nil {
		return nil, nil, err
	}
	now := s.cfg.Now()
	r := &Revision{
		ID: aws.NewID(), MachineARN: resource.MachineARN(scope, in.Name), Name: in.Name, Type: in.Type, Initial: true,
		Definition: in.Definition,
		RoleARN:    in.RoleARN, Logging: logging, Tracing: configuration.TracingOf(in.Tracing),
		Encryption: encryption, Updated: now,
	}
	m := &Machine{
		ARN: r.MachineARN, Name: in.Name, Type: in.Type, Created: now, Revision: r.ID, Tags: map[string]string{},
		Publish: in.Publish, VersionDescription: in.VersionDescription,
	}
	if err := tags.Set(m.ARN, m.Tags, in.Tags); err != nil {
		return nil, nil, err
	}
	return m, r, nil
}

// insert stores a new state machine. If the machine already exists and was created by the same request, it returns
// the existing one.
func (s *Service) insert(scope aws.Scope, m *Machine, r *Revision) (*Machine, error) {
	at := resource.Machine(scope, m.Name)
	switch old, err := s.machine(scope, at); {
	case err == nil:
		return s.repeated(old, m, r)
	case !apierror.IsMissing(err):
		return nil, err
	}
	if err := s.cfg.Log.Subscribe(scope, r.Logging); err != nil {
		return nil, err
	}
	m.Created = s.created.Next(s.cfg.Now())
	r.Updated = m.Created
	if m.Publish {
		m.Published = m.publish(m.VersionDescription, m.Created).ARN
	}
	if err := s.cfg.Store.PutRevision(r); err != nil {
		return nil, err
	}
	return m, s.cfg.Store.PutMachine(m)
}

func (s *Service) repeated(old, m *Machine, r *Revision) (*Machine, error) {
	if old.Deleting {
		return nil, apierror.MachineDeleting(old.ARN)
	}
	current, err := s.cfg.Store.Revision(old.Revision)
	if err != nil {
		return nil, err
	}
	alike := *r
	alike.RoleARN = current.RoleARN
	if !alike.same(current) || old.Type != m.Type || old.Publish != m.Publish ||
		old.VersionDescription != m.VersionDescription {
		return nil, apierror.MachineExists(old.ARN)
	}
	return old, nil
}
