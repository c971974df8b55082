package stepfunctions

import (
	"context"
	"errors"
	"regexp"

	"stepback/aws"
	"stepback/aws/server"
)

// The types of state machines.
const (
	typeStandard = "STANDARD"
	typeExpress  = "EXPRESS"
)

type createStateMachineRequest struct {
	Name               string      `json:"name"`
	Definition         string      `json:"definition"`
	RoleARN            string      `json:"roleArn"`
	Type               string      `json:"type"`
	Logging            *Logging    `json:"loggingConfiguration"`
	Tracing            *Tracing    `json:"tracingConfiguration"`
	Encryption         *Encryption `json:"encryptionConfiguration"`
	Tags               []tag       `json:"tags"`
	Publish            bool        `json:"publish"`
	VersionDescription string      `json:"versionDescription"`
}

type createStateMachineResponse struct {
	ARN        string      `json:"stateMachineArn"`
	Created    server.Time `json:"creationDate"`
	VersionARN string      `json:"stateMachineVersionArn,omitempty"`
}

func (s *Service) createStateMachine(_ context.Context, scope aws.Scope,
	in *createStateMachineRequest) (*createStateMachineResponse, error) {
	if !validName(in.Name) {
		return nil, invalidName(in.Name)
	}
	if !in.Publish && in.VersionDescription != "" {
		return nil, server.Invalid("Version description can only be set when publish is true")
	}
	if err := checkRole(in.RoleARN); err != nil {
		return nil, err
	}
	m, r, err := s.newMachine(scope, in)
	if err != nil {
		return nil, err
	}
	e, err := s.engine(scope)
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
		in.Type = typeStandard
	}
	logging, err := loggingOf(in.Logging)
	if err != nil {
		return nil, nil, err
	}
	encryption, err := encryptionOf(in.Encryption)
	if err != nil {
		return nil, nil, err
	}
	now := s.cfg.Now()
	r := &Revision{
		ID: aws.NewID(), MachineARN: machineARNOf(scope, in.Name), Name: in.Name, Type: in.Type, Initial: true,
		Definition: in.Definition,
		RoleARN:    in.RoleARN, Logging: logging, Tracing: tracingOf(in.Tracing), Encryption: encryption, Updated: now,
	}
	m := &Machine{
		ARN: r.MachineARN, Name: in.Name, Type: in.Type, Created: now, Revision: r.ID, Tags: map[string]string{},
		Publish: in.Publish, VersionDescription: in.VersionDescription,
	}
	if err := setTags(m.ARN, m.Tags, in.Tags); err != nil {
		return nil, nil, err
	}
	return m, r, nil
}

// insert stores a new state machine. If the machine already exists and was created by the same request, it returns
// the existing one.
func (s *Service) insert(scope aws.Scope, m *Machine, r *Revision) (*Machine, error) {
	at := &resource{text: m.ARN, scope: scope, kind: kindMachine, names: []string{m.Name}}
	switch old, err := s.machine(scope, at); {
	case err == nil:
		return s.repeated(old, m, r)
	case !isMissing(err):
		return nil, err
	}
	if err := s.subscribe(scope, r.Logging); err != nil {
		return nil, err
	}
	m.Created = s.creation()
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
		return nil, machineDeleting(old.ARN)
	}
	current, err := s.cfg.Store.Revision(old.Revision)
	if err != nil {
		return nil, err
	}
	alike := *r
	alike.RoleARN = current.RoleARN
	if !alike.same(current) || old.Type != m.Type || old.Publish != m.Publish ||
		old.VersionDescription != m.VersionDescription {
		return nil, machineExists(old.ARN)
	}
	return old, nil
}

var roleARN = regexp.MustCompile(`^arn:aws[a-zA-Z-]*:iam::\d{12}:role/.+$`)

func checkRole(arn string) error {
	if !roleARN.MatchString(arn) {
		return failure("InvalidArn", "Invalid Role Arn", arn)
	}
	return nil
}

// isMissing reports whether err means that a state machine or an activity does not exist.
func isMissing(err error) bool {
	var e *aws.Error
	return errors.As(err, &e) && (e.Code == codeNoMachine || e.Code == codeNoActivity)
}
