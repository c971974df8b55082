package statemachines

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/configuration"
	"stepback/local/services/stepfunctions/resource"
)

type updateStateMachineRequest struct {
	ARN                string                    `json:"stateMachineArn"`
	Definition         *string                   `json:"definition"`
	RoleARN            *string                   `json:"roleArn"`
	Logging            *configuration.Logging    `json:"loggingConfiguration"`
	Tracing            *configuration.Tracing    `json:"tracingConfiguration"`
	Encryption         *configuration.Encryption `json:"encryptionConfiguration"`
	Publish            bool                      `json:"publish"`
	VersionDescription string                    `json:"versionDescription"`
}

type updateStateMachineResponse struct {
	Updated    server.Time `json:"updateDate"`
	RevisionID string      `json:"revisionId,omitempty"`
	VersionARN string      `json:"stateMachineVersionArn,omitempty"`
}

func (s *Service) updateStateMachine(_ context.Context, scope aws.Scope,
	in *updateStateMachineRequest) (*updateStateMachineResponse, error) {
	at, err := resource.ParseMachine(in.ARN)
	switch {
	case err != nil:
		return nil, err
	case in.Definition == nil && in.RoleARN == nil && in.Logging == nil && in.Tracing == nil && in.Encryption == nil:
		return nil, &aws.Error{Code: "MissingRequiredParameter",
			Message: "Either the definition, the role ARN, the " +
				"LoggingConfiguration, or the TracingConfiguration must be specified"}
	case !in.Publish && in.VersionDescription != "":
		return nil, server.Invalid("Version description can only be set when publish is true")
	case at.Qualified():
		return nil, apierror.NoMachine(in.ARN)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.changeable(scope, at)
	if err != nil {
		return nil, err
	}
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	before := m.Revision
	r, err := s.revise(scope, e, m, in)
	if err != nil {
		return nil, err
	}
	out := &updateStateMachineResponse{Updated: server.Time(s.cfg.Now()), RevisionID: r.shown()}
	if in.Publish {
		out.VersionARN = m.publishDescribed(in.VersionDescription, s.cfg.Now()).ARN
	}
	if err := s.cfg.Store.PutMachine(m); err != nil {
		return nil, err
	}
	return out, s.forget(m, before)
}

// changeable returns a state machine, or an error if it is being deleted. The caller holds the lock.
func (s *Service) changeable(scope aws.Scope, at *resource.ARN) (*Machine, error) {
	m, err := s.machine(scope, at)
	if err == nil && m.Deleting {
		err = apierror.MachineDeleting(m.ARN)
	}
	return m, err
}

// revise updates the machine to the revision that a request describes. If nothing changes, it returns the current
// one.
func (s *Service) revise(scope aws.Scope, e *engine.Engine, m *Machine, in *updateStateMachineRequest) (*Revision,
	error) {
	current, err := s.cfg.Store.Revision(m.Revision)
	if err != nil {
		return nil, err
	}
	r := *current
	if err := r.change(in); err != nil {
		return nil, err
	}
	if r.same(current) {
		return current, nil
	}
	r.ID, r.Initial, r.Used, r.Updated = aws.NewID(), false, false, s.cfg.Now()
	plan, err := accept(e, &r)
	if err != nil {
		return nil, err
	}
	if !r.Logging.Equal(current.Logging) {
		if err := s.cfg.Log.Subscribe(scope, r.Logging); err != nil {
			return nil, err
		}
	}
	s.compiled[r.ID] = plan
	m.Revision = r.ID
	return &r, s.cfg.Store.PutRevision(&r)
}

func (r *Revision) change(in *updateStateMachineRequest) (err error) {
	if in.Definition != nil {
		r.Definition = *in.Definition
	}
	if in.RoleARN != nil {
		if err := resource.CheckRole(*in.RoleARN); err != nil {
			return err
		}
		r.RoleARN = *in.RoleARN
	}
	if in.Logging != nil {
		if r.Logging, err = configuration.LoggingOf(in.Logging); err != nil {
			return err
		}
	}
	if in.Tracing != nil {
		r.Tracing = *in.Tracing
	}
	if in.Encryption != nil {
		r.Encryption, err = configuration.EncryptionOf(in.Encryption)
	}
	return err
}
